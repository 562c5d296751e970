"""The headings of a page's own text."""

from __future__ import annotations

from typing import Any, TypedDict
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from dedup.fields.addresses import is_permalink
from dedup.sites.outline import outline

_HEADINGS = "h1, h2, h3, h4, h5, h6"


class Heading(TypedDict):
    """A heading; `anchor`: the fragment of the URL that leads to it, or None."""

    level: int
    text: str
    anchor: str | None


def headings(markup: str) -> list[Heading]:
    """Return the headings of a page's own markup in their order, without those that are empty.

    >>> headings("<h2 id=a>One<a href=#a>#</a></h2>")
    [{'level': 2, 'text': 'One', 'anchor': 'a'}]
    """
    tree = LexborHTMLParser(f"<body>{markup}", scripting=True)
    return [found for found in map(_read, tree.css(_HEADINGS)) if found["text"]]


def _read(node: Any) -> Heading:
    links: list[Any] = list(filter(is_permalink, node.css("a")))
    anchor = _anchor(node, links)
    for link in links:
        link.decompose()
    text = " ".join(line.text for line in outline(node, with_links=False).lines)
    return {"level": int(node.tag[1]), "text": text, "anchor": anchor}


def _anchor(node: Any, links: list[Any]) -> str | None:
    """By its own id, that of something in it, its link to itself, or its section's id."""
    if identifier := node.attributes.get("id"):
        return str(identifier)
    if links:
        return unquote(links[0].attributes["href"][1:]) or None
    if (inner := node.css_first("[id], a[name]")) is not None:
        return _name(inner)
    before = _before(node)
    if before is not None:
        return _name(before) if before.tag == "a" else None
    around = node.parent
    return _name(around) if around is not None and around.tag in ("div", "section") else None


def _name(node: Any) -> str | None:
    found = node.attributes.get("id") or node.attributes.get("name")
    return None if found is None else str(found)


def _before(node: Any) -> Any | None:
    """The element in front, with only white space between."""
    node = node.prev
    while node is not None and node.text_content is not None and node.text_content.isspace():
        node = node.prev
    return node
