"""The markup of a page as events, and the text between the edges of its blocks as segments.

The lines are those of `dedup.sites.outline`, of which a page's stored text consists. Here each of
them is known together with the markup that it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from selectolax.lexbor import LexborNode

from dedup.sites.outline import (
    APART_KIND,
    BOX_KIND,
    BREAK_KIND,
    FLAT,
    INLINE_KIND,
    INPUT_KIND,
    KINDS,
    UNSEEN_KIND,
    Box,
    Line,
    Outline,
    cleaned,
    input_value,
    kind_of_unknown,
    line_number_boxes,
    names_of,
)

OPEN, CLOSE, TEXT, VOID = range(4)

_BESIDE = frozenset(["aside", "dialog", "footer", "menu", "nav"])
"""Elements whose lines are less likely than others to be the page's own."""

_FORMULA = "math/"
"""The type of a script that contains a formula begins so."""


class Event(NamedTuple):
    """The beginning or the end of an element, a text, or an element that has no content.

    Attributes:
        node: the element; of a text, None.
        segment: the first segment that ends behind the event: of a text, its own.
        text: of a text, and of a formula's script.
        is_inside: is there text of this segment before the event?
    """

    kind: int
    node: Any
    segment: int
    text: str = ""
    is_inside: bool = False


class Segment(NamedTuple):
    """The text between two edges of blocks: one line, or all lines of a `<pre>`.

    Attributes:
        first, end: its first line, and the line after its last.
        is_beside: is it in a menu, an `<aside>` or the like?
    """

    first: int
    end: int
    is_beside: bool


@dataclass
class Segmented:
    """A page's events and segments, both in document order, and the segments' lines.

    Attributes:
        gutters: boxes that contain only the line numbers of a program.
    """

    outline: Outline
    events: list[Event] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    gutters: set[int] = field(default_factory=set)

    def lines_of(self, segment: Segment) -> Iterator[Line]:
        """The lines of a segment, without line numbers of programs."""
        for number in range(segment.first, segment.end):
            line = self.outline.lines[number]
            if line.box not in self.gutters:
                yield line


def segmented(root: LexborNode) -> Segmented:
    """Return the events and segments of an element, in one pass and linear time at any depth."""
    found = Segmented(Outline([Box(-1, root.tag or "", names_of(root))]))
    _Walk(found).run(root)
    found.gutters = line_number_boxes(found.outline)
    return found


class _Around(NamedTuple):
    """What is to be restored behind an element."""

    node: Any
    kind: int
    box: int
    block: str
    is_beside: bool


def _is_inline(around: list[_Around]) -> bool:
    return bool(around) and around[-1].kind == INLINE_KIND


class _Walk:
    """Walks through a tree as `outline` does, and remembers where each line comes from."""

    def __init__(self, found: Segmented) -> None:
        self._found = found
        self._boxes, self._lines = found.outline.boxes, found.outline.lines
        self._pieces: list[str] = []
        self._box, self._block, self._is_beside = 0, "", False

    def run(self, root: LexborNode) -> None:
        around: list[_Around] = []
        node: Any = root.first_child
        while node is not None or around:
            if node is None:
                last = around.pop()
                self._leave(last)
                node = last.node.next
            elif self._enter(node, around):
                node = node.first_child
            else:
                node = node.next
        self._end_segment()

    def _enter(self, node: Any, around: list[_Around]) -> bool:
        """Is the node an element that is to be left again?"""
        if (text := node.text_content) is not None:
            is_all = node.next is None and node.prev is None
            self._add_text(text, is_inline=is_all and _is_inline(around))
            return False
        tag = node.tag or "-"
        kind = KINDS.get(tag)
        if kind is None:
            kind = kind_of_unknown(tag)
        if kind >= UNSEEN_KIND:
            self._add_void(node, tag, kind)
            return False
        if kind == APART_KIND:
            self._add_space()
        elif kind != INLINE_KIND:
            self._end_segment()
        if node.first_child is None and (kind != BOX_KIND or tag in ("td", "th")):
            self._add_event(VOID, node)
            if kind == BOX_KIND and self._block not in FLAT:
                self._boxes.append(Box(self._box, tag, names_of(node)))
            return False
        around.append(_Around(node, kind, self._box, self._block, self._is_beside))
        self._add_event(OPEN, node)
        if kind not in (INLINE_KIND, APART_KIND) and self._block not in FLAT:
            self._begin_block(node, tag, is_box=kind == BOX_KIND)
        return True

    def _begin_block(self, node: Any, tag: str, *, is_box: bool) -> None:
        if not is_box:
            self._block = tag
            return
        self._boxes.append(Box(self._box, tag, names_of(node)))
        self._box, self._block = len(self._boxes) - 1, ""
        self._is_beside |= tag in _BESIDE or node.attributes.get("role") == "navigation"

    def _leave(self, last: _Around) -> None:
        if last.kind == APART_KIND:
            self._add_space()
        elif last.kind != INLINE_KIND:
            self._end_segment()
        self._add_event(CLOSE, last.node)
        self._box, self._block, self._is_beside = last.box, last.block, last.is_beside

    def _add_text(self, text: str, *, is_inline: bool = False) -> None:
        """Add a text; `is_inline`: it is all the text of an element on a line."""
        is_seen = bool(self._pieces) or is_inline or not text.isspace()
        if is_seen or self._block == "pre":  # spaces may indent a program
            self._add_event(TEXT, None, text)
        if is_seen:
            self._pieces.append(text)

    def _add_space(self) -> None:
        if self._pieces:
            self._pieces.append(" ")

    def _add_void(self, node: Any, tag: str, kind: int) -> None:
        if kind == BREAK_KIND:
            self._end_segment()
            self._add_event(VOID, node)
        elif kind == INPUT_KIND and (value := input_value(node)):
            self._add_text(f" {value} ")
        elif kind == INPUT_KIND and node.attributes.get("type") == "checkbox":
            self._add_event(VOID, node)
        elif tag == "script" and (node.attributes.get("type") or "").startswith(_FORMULA):
            self._add_event(VOID, node, node.text())

    def _add_event(self, kind: int, node: Any, text: str = "") -> None:
        number = len(self._found.segments)
        self._found.events.append(Event(kind, node, number, text, bool(self._pieces)))

    def _end_segment(self) -> None:
        if not self._pieces:
            return
        whole = "".join(self._pieces)
        self._pieces.clear()
        first = len(self._lines)
        if self._block == "pre":
            texts = [line.rstrip() for line in whole.splitlines()]
        else:
            texts = [" ".join(whole.split())]
        for text in map(cleaned, texts):
            if text.strip():
                self._lines.append(Line(self._box, text, text, self._block))
        if len(self._lines) > first:
            self._found.segments.append(Segment(first, len(self._lines), self._is_beside))


def ends_line(tag: str) -> bool:
    """Does an element end the line before and after it?"""
    kind = KINDS.get(tag)
    return (kind_of_unknown(tag) if kind is None else kind) not in (INLINE_KIND, APART_KIND)
