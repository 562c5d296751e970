"""The objects that a page describes in JSON-LD, by the names of schema.org."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from dedup.fields.names import cut

Node = Mapping[str, Any]

_MAX_SCRIPTS = 50
_MAX_SCRIPT_CHARACTERS = 1_000_000
_MAX_DEPTH = 8
_MAX_NODES = 200
_MAX_ITEMS = 20
_KEPT = frozenset(["@id", "@type", "contentUrl", "headline", "name", "url"])
"""Of objects within others."""

_ARTICLES = ("Article", "Posting", "Report", "Recipe", "QAPage", "Question", "Review")
_THINGS = ("Product", "Event", "Course", "SoftwareApplication", "Book", "Movie", "VideoObject")


def nodes_of(tree: Any) -> Iterator[Node]:
    """The objects that describe the page or what is on it; long texts are cut."""
    left = _MAX_NODES
    for script in tree.css('script[type="application/ld+json" i]')[:_MAX_SCRIPTS]:
        text = script.text()
        if len(text) > _MAX_SCRIPT_CHARACTERS:
            continue
        for node in _flat(_loaded(text)):
            left -= 1
            if left < 0:
                return
            yield {str(name): _bounded(value) for name, value in node.items()}


def main_nodes(nodes: Sequence[Node], url: str, title: str) -> list[Node]:
    """The objects that are the page's subject; []: there are none, or it is not clear which.

    Of several articles, those with the page's URL, or else those whose headline is in its title.
    """
    for kinds in (_ARTICLES, _THINGS, ("Page", "WebSite")):
        found = [node for node in nodes if any(each.endswith(kinds) for each in types(node))]
        if not found:
            continue
        if len(found) > 1:
            same = [node for node in found if _path(url) in map(_path, _urls(node))]
            titled = [node for node in found if _is_in_title(node, title)]
            found = same or titled or found
        return found
    return []


def types(node: Node) -> list[str]:
    """The types of an object, without the address of their vocabulary."""
    value = node.get("@type")
    found = value if isinstance(value, list) else [value]
    return [each.rpartition("/")[2] for each in found if isinstance(each, str)]


def names_in(nodes: Iterable[Node]) -> Iterator[str]:
    """All names that may be those of authors."""
    for node in nodes:
        if isinstance(name := node.get("name"), str):
            yield name
        for each in ("author", "creator"):
            yield from names(node.get(each))


def names(value: Any, nodes: Sequence[Node] = ()) -> Iterator[str]:
    """The names of people: given as texts, as objects, or by their place among the `nodes`."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            found = each.get("name")
            if found is None and each.get("@id"):
                found = next((n.get("name") for n in nodes if n.get("@id") == each["@id"]), None)
            for name in found if isinstance(found, list) else [found]:
                if isinstance(name, str):
                    yield name


def _loaded(text: str) -> Any:
    try:
        return json.loads(text.strip().removesuffix(";"), strict=False)
    except (ValueError, RecursionError):
        return None


def _flat(value: Any, depth: int = 0) -> Iterator[Node]:
    """The objects at the top, in lists and graphs, and those that are a page's main subject."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for each in value:
            yield from _flat(each, depth + 1)
    elif isinstance(value, dict):
        yield value
        for name in ("@graph", "mainEntity"):
            yield from _flat(value.get(name), depth + 1)


def _bounded(value: Any, depth: int = 0) -> Any:
    """A value without long texts and deep parts, which say nothing about the page as a whole."""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, list):
        return [_bounded(each, depth + 1) for each in value[:_MAX_ITEMS]] if depth < 3 else []
    if isinstance(value, dict):
        return {name: _bounded(each, depth + 1) for name, each in value.items() if name in _KEPT}
    return value


def _urls(node: Node) -> Iterator[str]:
    for name in ("url", "@id", "mainEntityOfPage"):
        value = node.get(name)
        if isinstance(value, dict):
            value = value.get("@id") or value.get("url")
        if isinstance(value, str):
            yield value


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.rstrip("/")
    except ValueError:
        return url


def _is_in_title(node: Node, title: str) -> bool:
    headline = node.get("headline") or node.get("name")
    return isinstance(headline, str) and bool(headline) and headline.lower() in title.lower()
