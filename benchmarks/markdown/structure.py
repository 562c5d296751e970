"""What a reader of a page can tell apart from its plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborNode

from benchmarks.sites.container import WORDS, text_of

KINDS = ("headings", "code", "cells", "items", "links", "formulas")

Structure = dict[str, Counter[Hashable]]

_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_LISTS = frozenset(["ul", "ol", "menu"])
_FORMULAS = ".katex, math:not(.katex math)"
_DOLLARS = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$([^$\n]+)\$", re.DOTALL)
_MARKS = " #¶§🔗"


def structure_of(roots: Sequence[LexborNode], base_url: str) -> Structure:
    """Count what is in some elements, by `KINDS`; links are made absolute."""
    found: Structure = {}
    readers: dict[str, Callable[[LexborNode], Iterator[Hashable]]] = {
        "headings": _headings,
        "code": _code,
        "cells": _cells,
        "items": _items,
        "links": lambda root: _links(root, base_url),
        "formulas": _formulas,
    }
    for kind, read in readers.items():
        found[kind] = Counter(each for root in roots for each in read(root))
    return found


def words_of(node: LexborNode) -> tuple[str, ...]:
    return tuple(WORDS.findall(text_of(node).lower()))


def _headings(root: LexborNode) -> Iterator[Hashable]:
    """The level of each heading, and its words."""
    for node in root.css(", ".join(sorted(_HEADINGS))):
        if words := words_of(node):
            yield node.tag, words


def _code(root: LexborNode) -> Iterator[Hashable]:
    """The lines of programs, as they are."""
    for pre in root.css("pre:not(pre pre)"):
        yield from (line for line in text_of(pre).split("\n") if line.strip())


def _cells(root: LexborNode) -> Iterator[Hashable]:
    """The words of each cell; without tables that contain tables or programs: mostly layout."""
    for table in root.css("table"):
        if table.css_first("table table, pre") is None and _n_columns(table) > 1:
            yield from (words for cell in table.css("td, th") if (words := words_of(cell)))


def _n_columns(table: LexborNode) -> int:
    return max((len(row.css("td, th")) for row in table.css("tr")), default=0)


def _items(root: LexborNode) -> Iterator[Hashable]:
    """The depth of each item of a list, and its words without those of lists inside."""
    for node in root.css("li"):
        own = _words_outside(node)
        if own and not _is_inside(node, "table"):
            yield _depth(node), own


def _words_outside(item: LexborNode) -> tuple[str, ...]:
    copy = item.clone()
    for inner in copy.css("ul, ol, menu, pre, table"):
        inner.decompose()
    return words_of(copy)


def _depth(node: LexborNode) -> int:
    depth, around = 0, node.parent
    while around is not None:
        depth += around.tag in _LISTS
        around = around.parent
    return depth


def _is_inside(node: LexborNode, tag: str) -> bool:
    around = node.parent
    while around is not None and around.tag != tag:
        around = around.parent
    return around is not None


def _links(root: LexborNode, base_url: str) -> Iterator[Hashable]:
    """The URL of each link, and its words; without headings' links to themselves."""
    for node in root.css("a[href]"):
        href = node.attributes.get("href") or ""
        text = text_of(node).strip(_MARKS + " \n\t")
        if not text or (href.startswith("#") and any(_is_inside(node, tag) for tag in _HEADINGS)):
            continue
        if (url := _absolute(href, base_url)) is not None:
            yield url, words_of(node)


def _formulas(root: LexborNode) -> Iterator[Hashable]:
    """The TeX of formulae, where the page has it."""
    for node in root.css("annotation[encoding*=tex], script[type^='math/tex']"):
        yield "".join(node.text().split())


def show_tex(root: LexborNode) -> None:
    """Have TeX instead of what a browser shows of it, and shows in several ways."""
    for node in root.css(_FORMULAS):
        tex = node.css_first("annotation[encoding*=tex]")
        if tex is not None:
            node.replace_with(f" ${tex.text()}$ ")


def formulas_in(markdown: str) -> Counter[Hashable]:
    """The formulae between dollar signs, which CommonMark does not know."""
    return Counter("".join((a or b).split()) for a, b in _DOLLARS.findall(markdown))


def _absolute(href: str, base_url: str) -> str | None:
    try:
        url = urljoin(base_url, href.strip())
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # no URL to a browser, either
        return None
    return unquote(url).rstrip("/") if is_web else None
