"""A page's own content, as its site's theme marks it: its words, its name and its code."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from xxhash import xxh3_64_intdigest

WORDS = re.compile(r"[a-z0-9_]+|[^\W_a-z0-9]")
"""In text of lower case; each character of Chinese or Japanese is a word."""

_VERSIONS = re.compile(r"\bv?\d+(?:\.\d+)+\w*|\b(?:19|20)\d\d\b")
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_CHARSET_BYTES = 3_000
_MEANT = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252"}  # WHATWG's Encoding
_SHINGLE_WORDS = 3
_LEAST_CODE = 4  # characters of a line of code that is no mere bracket
_INLINE = frozenset(
    """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q ruby s
    samp small span strike strong sub sup time tt u var wbr
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a page.

    Attributes:
        is_missing: the page could not be read again.
        words: None: the page has no such element.
        name: of title and first heading, without numbers of versions and years.
        code: the lines of its `<pre>`, without white space.
    """

    is_missing: bool = False
    words: Sequence[str] | None = None
    name: str = ""
    code: Sequence[str] = field(default=())

    @cached_property
    def shingles(self) -> npt.NDArray[np.uint64]:
        """Hashes of each three consecutive words, in ascending order; of fewer words, one."""
        words = self.words or ()
        starts = range(max(1, len(words) - _SHINGLE_WORDS + 1))
        joined = (" ".join(words[start : start + _SHINGLE_WORDS]).encode() for start in starts)
        return np.unique(np.fromiter(map(xxh3_64_intdigest, joined), np.uint64, len(starts)))


class Container:
    """The element that holds a page's own content.

    Args:
        select: CSS selectors of which the first that matches is taken, with all the outermost
            elements that it matches; `a + b` takes those of both.
        remove: CSS selectors of what is furniture inside it.

    Raises:
        ValueError: they are no CSS.
    """

    def __init__(self, select: str, remove: str = "") -> None:
        self._choices = [", ".join(map(str.strip, css.split("+"))) for css in select.split(",")]
        self._furniture = ", ".join(filter(None, ["script, style, noscript", remove]))
        for name, css in (*(("select", css) for css in self._choices), ("remove", self._furniture)):
            try:
                LexborHTMLParser("").css(css)
            except SelectolaxError:
                raise ValueError(f"{name} must be CSS selectors, got {css!r}") from None

    def read(self, body: bytes) -> Content:
        """The content of the page that is made of these bytes; none: the page is missing."""
        if not body:
            return Content(is_missing=True)
        tree = LexborHTMLParser(decoded(body))
        title = tree.css_first("title")
        for node in tree.css(self._furniture):
            node.decompose()
        boxes = self._boxes(tree)
        heading = next((found for box in boxes if (found := box.css_first("h1, h2"))), None)
        name = " | ".join(_name(node) for node in (title, heading) if node is not None)
        if not boxes:
            return Content(name=name)
        text = "\n".join(map(text_of, boxes)).lower()
        return Content(
            words=list(map(sys.intern, WORDS.findall(text))),
            name=name,
            code=[line for box in boxes for pre in box.css("pre") for line in _code_lines(pre)],
        )

    def boxes(self, body: bytes) -> list[LexborNode]:
        """The elements themselves, without furniture; scripts that contain formulae stay."""
        tree = LexborHTMLParser(decoded(body))
        for node in tree.css(self._furniture):
            if not (node.attributes.get("type") or "").startswith("math/"):
                node.decompose()
        return self._boxes(tree)

    def _boxes(self, tree: LexborHTMLParser) -> list[LexborNode]:
        found = (tree.css(css) for css in self._choices)
        return _outermost(next(filter(None, found), []))


def text_of(node: LexborNode) -> str:
    """The text as a browser shows it: block elements end words and lines, inline ones do not."""
    return "".join(_pieces(node))


def decoded(body: bytes) -> str:
    """By the encoding that the page declares, else as UTF-8, else by what may be Chinese."""
    found = _CHARSET.search(body[:_CHARSET_BYTES])
    label = found[1].decode().lower() if found else "utf-8"
    for encoding in (_MEANT.get(label, label), "utf-8" if found else "gb18030"):
        try:
            return body.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("utf-8", "replace")


def _pieces(node: LexborNode) -> Iterator[str]:
    """Texts and line ends, without recursion: real pages are nested a thousand levels deep."""
    waiting: list[LexborNode | str] = [*reversed([*_children(node)])]
    while waiting:
        if isinstance(each := waiting.pop(), str):
            yield each
        elif each.tag == "-text":
            yield each.text() or ""
        elif each.tag and not each.tag.startswith(("-", "!")):  # no comment, no doctype
            edge = "" if each.tag in _INLINE else "\n"
            yield edge
            waiting += [edge, *reversed([*_children(each)])]


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _outermost(nodes: Sequence[LexborNode]) -> list[LexborNode]:
    """Without those inside of others; in document order an element comes before what is in it."""
    found: list[LexborNode] = []
    known: set[int] = set()
    for node in nodes:
        around = node.parent
        while around is not None and around.mem_id not in known:
            around = around.parent
        if around is None:
            found.append(node)
            known.add(node.mem_id)
    return found


def _name(node: LexborNode) -> str:
    return " ".join(WORDS.findall(_VERSIONS.sub("", text_of(node).lower())))


def _code_lines(pre: LexborNode) -> Iterator[str]:
    lines = ("".join(line.split()) for line in pre.text().splitlines())
    return (line for line in lines if len(line) >= _LEAST_CODE)
