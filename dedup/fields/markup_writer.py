"""Writes the part of a page's markup that belongs to its own text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

from dedup.fields.segments import CLOSE, OPEN, TEXT, VOID, Event, Segmented, ends_line
from dedup.sites.outline import without_icons

_CELLS = frozenset(["td", "th"])
_WHOLE = frozenset(["math", "pre"])
"""Elements that are kept whole or not at all: no character of a program may be missing."""

_MEDIA = frozenset(["img", "script"])
"""An image; a formula, see `segments`."""

_MEDIA_AROUND = 20
_ONLY_TEXT = frozenset(["button", "svg", "textarea"])
_APART, _INSIDE = "apart", "inside"
"""In place of tags, for these elements and those in them: with and without spaces around."""

_VOID = frozenset(["br", "hr", "img", "input"])
_ROOM = frozenset(["article", "body", "center", "div", "main", "section"])
"""Elements that may contain any paragraph."""

_ATTRIBUTES = frozenset(
    """
    align alt alttext checked class colspan data-lang data-language data-line-number data-original
    data-src datetime display encoding href id lang name open reversed role rowspan src srcset start
    title type
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_HALF = 0.5


class Left(NamedTuple):
    """Text that the page does not have; it belongs after a segment."""

    segment: int
    text: str


def written(found: Segmented, own: Sequence[bool], left: Sequence[Left]) -> str:
    """Return the markup of the segments that are a page's own, with the text that it lacks."""
    return "".join(_Writer(found, own, left).pieces())


def paragraph(text: str) -> str:
    return f"<p>{escape(text, quote=False)}</p>"


class _Element(NamedTuple):
    """An element around an event; `is_written`: its tags are, too."""

    tag: str
    is_written: bool


class _Writer:
    def __init__(self, found: Segmented, own: Sequence[bool], left: Sequence[Left]) -> None:
        self._events = events = found.events
        self._own = [*own, False]
        self._left = sorted(left, key=lambda each: each.segment)[::-1]  # taken from its end
        self._ends = _ends(events)
        self._whole = self._find_whole()
        are_texts = [event.kind == TEXT and not event.text.isspace() for event in events]
        are_own = [
            is_text and self._own[event.segment]
            for is_text, event in zip(are_texts, events, strict=True)
        ]
        self._n_texts = [0, *accumulate(are_texts)]
        self._n_own = [0, *accumulate(are_own)]
        self._media = self._find_media()
        self._is_line_over = self._has_text = False
        kept = (is_own or number in self._media for number, is_own in enumerate(are_own))
        self._n_kept = [0, *accumulate(kept)]

    def _find_whole(self) -> dict[int, int]:
        """The outermost elements that are kept whole, and their ends; marks what is in them."""
        found: dict[int, int] = {}
        last = -1
        for begin, end in self._ends.items():
            if begin < last or self._events[begin].node.tag not in _WHOLE:
                continue
            last = end
            first = self._events[begin].segment
            stop = self._events[end].segment + self._events[end].is_inside
            n_own = sum(self._own[first:stop])
            if n_own and n_own >= _HALF * (stop - first):
                self._own[first:stop] = [True] * (stop - first)
                found[begin] = end
        return found

    def _find_media(self) -> set[int]:
        """The images and formulae among the page's own text."""
        found = set()
        around: list[int] = []
        for number, event in enumerate(self._events):
            if event.kind == OPEN:
                around.append(number)
            elif event.kind == CLOSE:
                around.pop()
            elif event.kind == VOID and event.node.tag in _MEDIA and self._is_among(event, around):
                found.add(number)
        return found

    def _is_among(self, event: Event, around: Sequence[int]) -> bool:
        """Is it on a line of the page's own, between two of them, or in an element of these?"""
        after = self._own[event.segment]
        if event.is_inside or (after and self._is_own_before(event)):
            return after
        for begin in reversed(around[-_MEDIA_AROUND:]):
            if n_texts := self._within(begin, self._n_texts):
                return n_texts == self._within(begin, self._n_own)
        return False

    def _is_own_before(self, event: Event) -> bool:
        return event.segment > 0 and self._own[event.segment - 1]

    def _within(self, begin: int, sums: Sequence[int]) -> int:
        return sums[self._ends[begin]] - sums[begin]

    def pieces(self) -> Iterator[str]:
        around: list[_Element] = []
        number = whole_end = -1
        while (number := number + 1) < len(self._events):
            event = self._events[number]
            is_whole = number <= whole_end
            if event.kind == OPEN:
                whole_end = max(whole_end, self._whole.get(number, -1))
                yield from self._left_before(event.segment, around)
                element = self._element(number, around, is_whole=number <= whole_end)
                self._note_line(event.node.tag, is_written=element.is_written)
                if element.is_written:
                    yield self._start(number)
                elif not self._within(number, self._n_kept):
                    number = self._ends[number]  # nothing is in it but perhaps a space
                    yield " " if event.is_inside else ""
                    continue
                else:
                    yield " " if element.tag == _APART else ""
                around.append(element)
            elif event.kind == CLOSE:
                self._note_line(event.node.tag, is_written=around[-1].is_written)
                yield _end_tag(around.pop())
            elif is_whole or self._is_kept(number, event, around):
                yield from self._content(event, is_whole=is_whole)
            elif event.kind == VOID:
                self._note_line(event.node.tag, is_written=False)
        yield from self._left_before(len(self._own), [])

    def _note_line(self, tag: str, *, is_written: bool) -> None:
        """Remember a line's end whose element is left out: the next text begins a line."""
        if ends_line(tag):
            self._is_line_over = not is_written

    def _content(self, event: Event, *, is_whole: bool) -> Iterator[str]:
        if event.kind == VOID:
            self._note_line(event.node.tag, is_written=True)
            yield _void(event)
            return
        if self._is_line_over and not is_whole and not event.text.isspace():
            self._is_line_over = False
            yield "<br>" if self._has_text else ""
        self._has_text |= not event.text.isspace()
        yield escape(event.text if is_whole else without_icons(event.text), quote=False)

    def _start(self, number: int) -> str:
        event, after = self._events[number : number + 2]
        # A parser drops the first line end.
        is_eaten = event.node.tag == "pre" and after.kind == TEXT and after.text.startswith("\n")
        return start_tag(event.node) + ("\n" if is_eaten else "")

    def _element(self, number: int, around: Sequence[_Element], *, is_whole: bool) -> _Element:
        tag = self._events[number].node.tag
        is_inside = bool(around) and around[-1].tag in (_APART, _INSIDE)
        if tag in _ONLY_TEXT or is_inside:
            is_apart = not is_inside or ends_line(tag)
            return _Element(_APART if is_apart else _INSIDE, is_written=False)
        is_kept = is_whole or self._within(number, self._n_kept) > 0
        return _Element(tag, is_kept or self._is_empty_cell(number, tag, around))

    def _is_empty_cell(self, number: int, tag: str, around: Sequence[_Element]) -> bool:
        """Without empty cells the others would change their columns; menus are longer."""
        is_in_row = tag in _CELLS and bool(around) and around[-1] == ("tr", True)
        return is_in_row and self._within(number, self._n_texts) <= 1

    def _is_kept(self, number: int, event: Event, around: Sequence[_Element]) -> bool:
        is_own = self._own[event.segment]
        if event.kind == TEXT:
            return is_own
        tag = event.node.tag
        if tag in _MEDIA:
            return number in self._media
        if tag in _CELLS:
            return bool(around) and around[-1] == ("tr", True)
        if tag in ("br", "hr"):
            return is_own and self._is_own_before(event)
        return is_own and (tag == "input" or bool(event.node.attributes.keys() & {"id", "name"}))

    def _left_before(self, segment: int, around: Sequence[_Element]) -> Iterator[str]:
        """The text that the page lacks, as soon as a paragraph may stand here."""
        if not self._left or self._left[-1].segment >= segment:
            return
        if any(each.is_written and each.tag not in _ROOM for each in around):
            return
        while self._left and self._left[-1].segment < segment:
            yield paragraph(self._left.pop().text)


def _ends(events: Sequence[Event]) -> dict[int, int]:
    """The end of each element, by its beginning, in document order."""
    found: dict[int, int] = {}
    around: list[int] = []
    for number, event in enumerate(events):
        if event.kind == OPEN:
            found[number] = number
            around.append(number)
        elif event.kind == CLOSE:
            found[around.pop()] = number
    return found


def start_tag(node: Any) -> str:
    """The tag that begins an element, with the attributes that say what it is."""
    attributes = "".join(
        f' {name}="{escape(value or "")}"'
        for name, value in node.attributes.items()
        if name in _ATTRIBUTES
    )
    return f"<{node.tag}{attributes}>"


def _void(event: Event) -> str:
    """The markup of an element without content; a formula's script has its text."""
    end = "" if event.node.tag in _VOID else f"{event.text}</{event.node.tag}>"
    return start_tag(event.node) + end


def _end_tag(element: _Element) -> str:
    if element.is_written:
        return f"</{element.tag}>"
    return " " if element.tag == _APART else ""
