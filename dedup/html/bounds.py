"""Bounds a parser's time on pages with very deep nesting or very large tags.

HTML5 parsers take time quadratic in the depth of nesting (each block element searches all open
elements for a `<p>`), in the number of attributes of one tag, of options in a `<select>`, of
formatting elements left open (all are reopened in each block), and of repeated `<body>` tags
(attributes are merged). 100,000 nested `<div>` took lexbor 13 s, resiliparse more than 15 s for the
main content and 0.1 s for plain text; one tag of 100,000 attributes took both more than 15 s.
Parsing crashed neither, but lexbor's serialiser overflows the stack on 100,000 nested `<template>`.
lxml, and so trafilatura, drops what is nested deeper than 256. Browsers flatten such pages too
(Blink at a depth of 512). 11,000 `<option>` took lexbor and resiliparse 0.6 s each, 50 tags of
10,000 attributes 20 s together.

Pages that are heavy although their time is linear (10 MB of `<p>` take 16 s) are bounded by the
process that reads them: see `dedup.scrapy.reading`.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser

MAX_DEPTH = 1_000
MAX_TAG_CHARACTERS = 100_000
"""A longer tag (an image as `data:`, a script's state) is dropped."""

MAX_ATTRIBUTES = 256
"""Later attributes of a tag are dropped."""

_MAX_OPTIONS = 5_000
_MAX_OPEN_FORMATTING = 1_000
_MAX_ROOTS = 100  # tags of <html> and <body>; a page has two
_HARMLESS_CHARACTERS = 16_384  # no tag in them has attributes for more than 0.1 s

_HARMLESS_OPEN_TAGS = 5_000
_HARMLESS_WORK = 250_000_000
"""Pages up to these bounds are not examined: they parse in half a second. The work is the number of
all tags times that of open ones, since each `</p>` without a `<p>` searches all open elements."""

_GROWING = {"&nGt;": "\u226b\u20d2", "&nLt;": "\u226a\u20d2"}
"""The references whose characters have more bytes in UTF-8 than their names: lexbor writes the
characters of 10,000 of them beyond the end of its memory."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_NAME_AND_ATTRIBUTES = r"""(?P<name>[a-z][^\s/>]*)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*"""
_TOKEN = re.compile(
    rf"""(?P<opaque><!--.*?(?:-->|$)
                  | <(?P<raw>script|style|textarea|title|iframe)\b.*?(?:</(?P=raw)\b|$))
       | <(?P<end>/?){_NAME_AND_ATTRIBUTES}>?""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

_ATTRIBUTE = re.compile(r"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"']*+))?|=""")
_LONG_PIECE = re.compile(rf"<[^<]{{{2 * MAX_ATTRIBUTES + 1},}}+")
_OPTIONS = frozenset(["option", "optgroup"])
_ROOTS = frozenset(["html", "body"])
_FORMATTING = frozenset(
    """
    b big code em font i nobr s small strike strong tt u
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)

_ENTANGLING = re.compile(
    r"<(?=[bcefhinostuBCEFHINOSTU])"  # by which most tags are done with at once
    rf"(?ai:{'|'.join(sorted(_OPTIONS | _ROOTS | _FORMATTING))})[\s/>]"
)
_END_OF_FORMATTING = re.compile(rf"</(?ai:{'|'.join(sorted(_FORMATTING))})[\s/>]")

_NOT_NESTING = frozenset(
    # void elements; then those that the next of their kind closes, so that they nest only inside
    # others, which are counted; then formatting, which parsers handle in linear time
    """
    area base br col embed hr img input link meta param source track wbr
    a body button caption colgroup dd dt frame head html li nobr option optgroup p rp rt
    tbody td tfoot th thead tr
    b big code em font i s small strike strong tt u
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_SHALLOW = re.compile(
    rf"""<(?!/)(?:(?:{"|".join(sorted(_NOT_NESTING))})[\s/>]
       | (s(?:pan|trong|amp)|c(?:ode|ite)|div|em|abbr|h[1-6]|kbd|label|pre)
         (?:[ ][a-z-]++="[^"<>]*+")*+>[^<]*+</\1>)""",
    re.VERBOSE,
)
"""Tags that do not add to the depth: those that do not nest, and elements that contain only text.
If a parser takes such an element for something else (a comment, a script), it opens none."""

_KEPT_WHEN_FLAT = frozenset(["a", "area", "base", "frame", "link", "meta"])
_KEPT_ONCE = frozenset(["body", "head", "html"])


@dataclass(frozen=True)
class Bounded:
    """A page that parses in bounded time; `is_flat`: its structure was dropped for that."""

    html: str
    is_flat: bool

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The parsed page, which is shared and must not be changed.

        It is parsed as by a browser with scripts: otherwise an image in `<noscript>`, where
        trackers put it, would end the head, and what follows would not belong to the head.
        """
        return LexborHTMLParser(self.html, scripting=True)


def bounded(html: str | Bounded) -> Bounded:
    """Return the page, changed if it would take a parser seconds.

    Lone surrogates become U+FFFD, and references that grow become their characters. A bounded page
    is returned unchanged, so that a caller who parses it and extracts its text bounds it once.

    A tag longer than `MAX_TAG_CHARACTERS` is dropped, and a tag's attributes beyond
    `MAX_ATTRIBUTES`. A page nested deeper than `MAX_DEPTH`, or of thousands of options or of
    formatting elements left open, becomes flat: it keeps its text, links and metadata, with `<br>`
    for all tags that structure it. Only pages that may nest 5,000 elements, or have a tag of over
    256 attributes, are examined closely, in linear time (1 µs a tag).
    """
    if isinstance(html, Bounded):
        return html
    html = _without_surrogates(html)
    n_tags = html.count("<")
    is_flat = n_tags > _HARMLESS_OPEN_TAGS and (_is_deep(html, n_tags) or _is_entangled(html))
    if is_flat:
        html = _TOKEN.sub(_Flattener(), html)
    elif len(html) > _HARMLESS_CHARACTERS and _has_large_tag(html):
        html = _TOKEN.sub(_without_large, html)
    for name, characters in _GROWING.items():
        html = html.replace(name, characters)
    return Bounded(html, is_flat)


def _without_surrogates(html: str) -> str:
    try:
        html.encode()  # a fifth of the time of the search, and few pages have any
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", html)
    return html


def _is_deep(html: str, n_tags: int) -> bool:
    """Do the tags nest deeper than parsers can bear? The page has more tags than are harmless."""
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


def _is_entangled(html: str) -> bool:
    """Has the page too many tags of a kind that takes parsers quadratic time at any depth?"""
    began = _by_name(_ENTANGLING, html)
    if sum(began[name] for name in _OPTIONS) > _MAX_OPTIONS:
        return True
    if sum(began[name] for name in _ROOTS) > _MAX_ROOTS:
        return True
    opened = Counter({name: began[name] for name in _FORMATTING})
    if opened.total() <= _MAX_OPEN_FORMATTING:
        return False
    return (opened - _by_name(_END_OF_FORMATTING, html)).total() > _MAX_OPEN_FORMATTING


def _by_name(tags: re.Pattern[str], html: str) -> Counter[str]:
    """How many tags there are of each name."""
    found: Counter[str] = Counter()
    for tag, number in Counter(tags.findall(html)).items():
        found[tag[:-1].strip("</").lower()] += number
    return found


def _has_large_tag(html: str) -> bool:
    return any(_may_be_large_tag(found[0][1:]) for found in _LONG_PIECE.finditer(html))


def _may_be_large_tag(piece: str) -> bool:
    # A tag may have ">" in a value; what comes behind "<" in a value belongs to the tag, too.
    is_script = piece[:6].lower().startswith(("script", "style"))
    tag = piece.partition(">")[0] if is_script else piece.rpartition(">")[0] or piece
    if len(tag) <= 2 * MAX_ATTRIBUTES:
        return False
    if len(tag) > MAX_TAG_CHARACTERS and piece[0].isalpha() and not is_script:
        return True
    return max(tag.count("="), len(tag.split()), tag.count("/")) > MAX_ATTRIBUTES


class _Flattener:
    """Replaces the tokens of one page."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def __call__(self, token: re.Match[str]) -> str:
        if token["opaque"]:
            return token[0]
        name = token["name"].lower()
        if name in _KEPT_ONCE and name not in self._kept and not token["end"]:
            self._kept.add(name)
            return _without_large(token)
        return _without_large(token) if name in _KEPT_WHEN_FLAT else "<br>"


def _without_large(token: re.Match[str]) -> str:
    if token["opaque"] or len(token[0]) <= 2 * MAX_ATTRIBUTES:
        return token[0]
    if len(token[0]) > MAX_TAG_CHARACTERS:
        return ""
    start = token.end("name") - token.start()
    for number, attribute in enumerate(_ATTRIBUTE.finditer(token[0], start), start=1):
        if number == MAX_ATTRIBUTES:
            return token[0][: attribute.end()] + ">"
    return token[0]
