"""The links in a page's own text."""

from __future__ import annotations

from typing import Any, TypedDict

from selectolax.lexbor import LexborHTMLParser

from dedup.fields.addresses import Addresses, is_permalink


class Link(TypedDict):
    """A link; `text`: what it shows, or of an image, what stands for it."""

    url: str
    text: str


def links(markup: str, base_url: str, *, encoding: str = "utf-8") -> list[Link]:
    """Return the links of a page's own markup, in their order; URLs are absolute.

    Without links of headings to themselves, and those that do not lead to a web page.

    Args:
        markup: see `own_markup`.
        base_url: what links are relative to, see `HtmlPage.base_url`.
        encoding: of the page's bytes, for the queries of links.

    >>> links("<p>See <a href='../b#c'>this  page</a>.", "http://example.com/a/")
    [{'url': 'http://example.com/b#c', 'text': 'this page'}]
    """
    addresses = Addresses(base_url, encoding)
    tree = LexborHTMLParser(f"<body>{markup}", scripting=True)
    found: list[Link] = []
    for node in tree.css("a[href]"):
        url = None if is_permalink(node) else addresses.of_link(node)
        if url and url.startswith(("http:", "https:")):
            found.append({"url": url, "text": _text(node)})
    return found


def _text(node: Any) -> str:
    text = " ".join(node.text().split())
    if text:
        return text
    return " ".join((image.attributes.get("alt") or "") for image in node.css("img")).strip()
