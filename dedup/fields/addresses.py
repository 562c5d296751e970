"""Links and images of a page's markup: what they lead to, and which of them tell nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dedup.html.page import Resolver
from dedup.urls.parts import trimmed

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

_OTHER_SCHEMES = ("mailto:", "tel:")
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
"""The real image first: until it is scrolled to, `src` is a placeholder."""

_PERMALINK = re.compile(
    r"""(?ix) (?:^|\s) (?:
        [\w-]*anchor[\w-]* | header-?link | heading-?link | hash-?link | perma-?link | deep-?link
        | direct-?link | self-?link | toclink
        ) (?:$|\s)"""
)
_WORD = re.compile(r"\w")


class Addresses:
    """Makes addresses absolute, as the crawler does; unlike there, fragments stay.

    Args:
        base_url: what links are relative to: the page's URL, or that of its `<base>`.
        encoding: of the page's bytes; queries of links go out in it.
    """

    def __init__(self, base_url: str, encoding: str = "utf-8") -> None:
        self._page = base_url.partition("#")[0]
        self._resolve = Resolver(self._page, encoding)

    def of_link(self, node: Any) -> str | None:
        """Where a link leads to; None: nowhere, or to a script."""
        href = trimmed(node.attributes.get("href") or "")
        if href.lower().startswith(_OTHER_SCHEMES):
            return href
        path, hash_sign, fragment = href.partition("#")
        url = self._resolve(path) if path else self._page
        return f"{url}{hash_sign}{fragment}".replace(" ", "%20") if url and href else None

    def of_image(self, node: Any) -> str | None:
        """The address of an image; None: it has none, or contains it."""
        attributes: Mapping[str, str | None] = node.attributes
        for name in _SOURCES:
            source = trimmed(attributes.get(name) or "")
            if source and not source.startswith("data:"):
                return self._resolve(source)
        source = trimmed(attributes.get("srcset") or "").partition(" ")[0].rstrip(",")
        return self._resolve(source) if source and not source.startswith("data:") else None


def is_permalink(link: Any) -> bool:
    """Does a link only lead to the heading that it stands in or behind?"""
    attributes = link.attributes
    if not (attributes.get("href") or "").startswith("#"):
        return False
    text = link.text()
    is_named = _PERMALINK.search(attributes.get("class") or "") is not None
    heading = heading_around(link)
    if heading is None:
        return is_named and (not _WORD.search(text) or _is_behind_heading(link))
    if not _WORD.search(text):
        return True
    return is_named and not (_is_nothing(link.prev) and _is_nothing(link.next))


def heading_around(node: Any) -> Any | None:
    """The heading that an element stands in, a few levels up."""
    for _ in range(4):
        node = node.parent
        if node is None or node.tag in HEADINGS:
            return node
    return None


def _is_behind_heading(link: Any) -> bool:
    node = link.prev
    if node is not None and _is_nothing(node):
        node = node.prev
    return node is not None and node.tag in HEADINGS


def _is_nothing(node: Any | None) -> bool:
    return node is None or (node.text_content is not None and node.text_content.isspace())
