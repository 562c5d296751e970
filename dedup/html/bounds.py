"""Keeps a parser's time in bounds on pages made of very deep nesting or very large tags.

HTML5 parsers take time quadratic in the depth of nesting (each block element looks for an open
`<p>` through all that is open) and in the number of attributes of one tag. 100,000 nested `<div>`
took lexbor 13 s, resiliparse more than 15 s for the main content and 0.1 s for plain text; one tag
of 100,000 attributes took both more than 15 s. Parsing crashed neither, but lexbor's serialiser
overflows the stack on 100,000 nested `<template>`. lxml, and so trafilatura, drops what is nested
deeper than 256. Browsers flatten such pages too (Blink at a depth of 512).
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser

MAX_DEPTH = 1_000
MAX_TAG_CHARACTERS = 100_000
"""A page that holds a longer tag (an image as `data:`, a script's state) loses that tag."""

_HARMLESS_OPEN_TAGS = 5_000
_HARMLESS_WORK = 250_000_000
"""Pages that can nest no deeper, of which all tags times that is no more, are not looked at: they
parse in half a second. Tags count, too: each `</p>` without a `<p>` looks through all that is open.
"""

_SURROGATE = re.compile("[\ud800-\udfff]")
_NAME_AND_ATTRIBUTES = r"""(?P<name>[a-z][^\s/>]*)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*"""
_TOKEN = re.compile(
    rf"""(?P<opaque><!--.*?(?:-->|$)
                  | <(?P<raw>script|style|textarea|title|iframe)\b.*?(?:</(?P=raw)\b|$))
       | <(?P<end>/?){_NAME_AND_ATTRIBUTES}>?""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

_NOT_NESTING = frozenset(
    # void elements; then those that the next of their kind closes, so that they nest only inside
    # others, which are counted; then formatting, which parsers handle in linear time
    """
    area base br col embed hr img input link meta param source track wbr
    a body button caption colgroup dd dt frame head html li nobr option optgroup p rp rt
    tbody td tfoot th thead tr
    b big code em font i s small strike strong tt u
    """.split()  # noqa: SIM905  # a list of fifty quoted words reads worse
)
_SHALLOW = re.compile(
    rf"""<(?:{"|".join(sorted(_NOT_NESTING))})(?=[\s/>])
       | <(abbr|cite|code|div|em|h[1-6]|kbd|label|pre|samp|span|strong)
         (?:[ ][a-z-]+="[^"<>]*")*>[^<]*</\1>""",
    re.VERBOSE,
)
"""Tags that add nothing to the depth: those that do not nest, and elements that hold only text.
Where a parser takes such an element for something else (a comment, a script), it opens none."""

_KEPT_WHEN_FLAT = frozenset(["a", "area", "base", "body", "frame", "head", "html", "link", "meta"])


@dataclass(frozen=True)
class Bounded:
    """A page that parses in bounded time; `is_flat`: its structure was given up for that."""

    html: str
    is_flat: bool

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The page, parsed once for all who read it; nobody may change it.

        Parsed as a browser with scripts does: otherwise an image in `<noscript>`, as trackers put
        there, ends the head, and what follows it would no longer count as the head's.
        """
        return LexborHTMLParser(self.html, scripting=True)


def bounded(html: str | Bounded) -> Bounded:
    """Return the page itself or, where it would take a parser seconds, what parses fast.

    Lone surrogates become U+FFFD. What is bounded already is returned as it is: who both parses a
    page and extracts its text bounds it once.

    A tag longer than `MAX_TAG_CHARACTERS` is dropped. A page nested deeper than `MAX_DEPTH` becomes
    flat: it keeps its text, links and metadata, with `<br>` for all tags that structure it. Only
    pages that may nest 5,000 elements, or have 100,000 characters, are examined closely, in linear
    time (1 µs a tag).
    """
    if isinstance(html, Bounded):
        return html
    html = _without_surrogates(html)
    if _is_deep(html):
        return Bounded(_TOKEN.sub(_flat, html), is_flat=True)
    if len(html) > MAX_TAG_CHARACTERS and _has_large_tag(html):
        return Bounded(_TOKEN.sub(_without_large, html), is_flat=False)
    return Bounded(html, is_flat=False)


def _without_surrogates(html: str) -> str:
    try:
        html.encode()  # a fifth of the time of the search, and few pages have any
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", html)
    return html


def _is_deep(html: str) -> bool:
    n_tags = html.count("<")
    n_open = n_tags - html.count("</")
    if n_open > _HARMLESS_OPEN_TAGS:
        n_open -= len(_SHALLOW.findall(html))
    if n_open <= _HARMLESS_OPEN_TAGS and n_open * n_tags <= _HARMLESS_WORK:
        return False
    open_names: list[str] = []
    opened: Counter[str] = Counter()
    for token in _TOKEN.finditer(html):
        name = (token["name"] or "").lower()
        if not name or name in _NOT_NESTING:
            continue
        if not token["end"]:
            open_names.append(name)
            opened[name] += 1
            if len(open_names) > MAX_DEPTH:
                return True
        elif opened[name]:
            while (closed := open_names.pop()) != name:
                opened[closed] -= 1
            opened[name] -= 1
    return False


def _has_large_tag(html: str) -> bool:
    pieces = html.split("<")
    return max(map(len, pieces)) > MAX_TAG_CHARACTERS and any(map(_may_be_large_tag, pieces))


def _may_be_large_tag(piece: str) -> bool:
    if len(piece) <= MAX_TAG_CHARACTERS:
        return False
    return piece[0].isalpha() and not piece[:6].lower().startswith(("script", "style"))


def _flat(token: re.Match[str]) -> str:
    if token["opaque"] or token["name"].lower() in _KEPT_WHEN_FLAT:
        return _without_large(token)
    return "<br>"


def _without_large(token: re.Match[str]) -> str:
    is_large = not token["opaque"] and len(token[0]) > MAX_TAG_CHARACTERS
    return "" if is_large else token[0]
