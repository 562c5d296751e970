"""The atoms of a page's own markup: what is never cut, with the boundaries between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dedup.fields.markup_writer import start_tag
from dedup.fields.segments import ends_line
from dedup.pieces.words import Count, words_of, words_of_program
from dedup.sites.outline import INLINE_KIND, KINDS

LISTS = frozenset(["dir", "menu", "ol", "ul"])
_DIVIDED = LISTS | {"blockquote", "dd", "dl", "li", "table"}
"""Elements that are cut only if what is around them cannot be."""

_MAX_BEGUN_AGAIN = 20
"""Elements around a cut, from the innermost one."""

_BEGUN_AGAIN = frozenset(["blockquote", "p"])
"""Blocks that a piece begins with if it is cut inside them, as elements on a line are."""


class Atom(NamedTuple):
    """A sentence of a paragraph, a heading with what follows, a program, or a row of a table.

    Attributes:
        level: of the boundary in front of it: of how many lists, quotations and tables it is an
            inner one, and more within a paragraph. None: a section begins here.
        start: markup that a piece begins with whose first atom this is: of what is around.
        start_text: the text of that.
        markup: up to the next boundary; elements may be left open.
        words: in one form, see `dedup.pieces.words`.
        length: of its text.
        headings: those that it stands under, from the outermost one; its own included.
    """

    level: int | None
    start: str
    start_text: str
    markup: str
    words: str
    length: int
    headings: tuple[str, ...]


class Around(NamedTuple):
    """An element around what comes next.

    Attributes:
        header: of a table of data: the markup of the row that names its columns, "" if none does.
        header_text: the text of that row.
    """

    node: Any
    tag: str
    header: str | None = None
    header_text: str = ""


class _Split(NamedTuple):
    """A boundary in front of the next text, if one comes."""

    depth: int
    level: int
    place: int
    start: str
    start_text: str


@dataclass(slots=True)
class _Draft:
    """An atom that is being written; see `Atom`.

    Attributes:
        prose: text since the last program.
        has_text: is there text, other than headings?
        can_end: is there, and may it be in another atom than what comes next?
    """

    level: int | None = None
    start: str = ""
    start_text: str = ""
    markup: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    length: int = 0
    has_text: bool = False
    can_end: bool = False

    def end_prose(self, count: Count) -> None:
        text = "".join(self.prose)
        self.prose.clear()
        self.words.append(words_of(text))
        self.length += count(text)


class AtomWriter:
    """Takes markup and text in their order, and boundaries between them.

    Of the boundaries between two texts the one in the fewest elements counts.

    Attributes:
        around: the elements around what comes next.
    """

    def __init__(self, count: Count) -> None:
        self.around: list[Around] = []
        self._count = count
        self._atoms: list[Atom] = []
        self._draft = _Draft()
        self._split: _Split | None = None
        self._headings: list[tuple[int, str]] = []
        self._n_items: list[int] = []

    def finished(self) -> list[Atom]:
        self._write(len(self._draft.markup))
        return self._atoms

    def open(self, element: Around) -> None:
        if element.tag == "li" and self._n_items:
            self._n_items[-1] += 1
        if element.tag in LISTS:
            self._n_items.append(0)
        self.around.append(element)
        self._draft.markup.append(start_tag(element.node))

    def close(self) -> Around:
        element = self.around.pop()
        if element.tag in LISTS:
            self._n_items.pop()
        # A piece that begins inside of the element has an end tag only, which ends no line.
        line_end = "<p></p>" if ends_line(element.tag) else ""
        self._draft.markup.append(f"</{element.tag}>{line_end}")
        return element

    def add(self, markup: str, text: str = "", *, is_program: bool = False) -> None:
        """Add markup with its text. If there is no text, it does not begin an atom."""
        is_text = bool(text) and not text.isspace()
        if is_text and self._split is not None:
            self._divide(self._split, self._split.level)
        draft = self._draft
        draft.markup.append(markup)
        if is_program:
            draft.end_prose(self._count)
            draft.words.append(words_of_program(text))
            draft.length += self._count(text)
        else:
            draft.prose.append(text)
        if is_text:
            draft.has_text = draft.can_end = True

    def add_heading(self, markup: str, text: str, level: int) -> None:
        """Add a heading. It begins a section, unless there are only headings in front of it."""
        if self._draft.has_text:
            self._divide(self._split or self._split_here(0), None)
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text))
        self._draft.markup.append(markup)
        self._draft.prose += [" ", text, " "]

    def keep_with_next(self) -> None:
        """Let what is so far and the next text be in one atom."""
        self._draft.can_end, self._split = False, None

    def note_boundary(self, level: int | None = None) -> None:
        """Note that a text before this and one behind may be in two atoms.

        Args:
            level: see `Atom`; None: by the elements around.
        """
        self._draft.prose.append(" ")
        if not self._draft.can_end:
            return
        if level is None:
            level = sum(each.tag in _DIVIDED for each in self.around)
        split = self._split
        if split is None or (len(self.around), level) < (split.depth, split.level):
            self._split = self._split_here(level)

    def _split_here(self, level: int) -> _Split:
        start = "".join(_starts(self.around[-_MAX_BEGUN_AGAIN:], self._n_items))
        start_text = " ".join(each.header_text for each in self.around if each.header_text)
        return _Split(len(self.around), level, len(self._draft.markup), start, start_text)

    def _divide(self, split: _Split, level: int | None) -> None:
        """End the atom at a boundary; the markup behind it belongs to the next one."""
        rest = self._draft.markup[split.place :]
        self._write(split.place)
        self._draft = _Draft(level, split.start, split.start_text, rest)
        self._split = None

    def _write(self, place: int) -> None:
        draft = self._draft
        draft.end_prose(self._count)
        if words := " ".join(filter(None, draft.words)):
            start = draft.level, draft.start, draft.start_text
            headings = tuple(text for _, text in self._headings)
            markup = "".join(draft.markup[:place])
            self._atoms.append(Atom(*start, markup, words, draft.length, headings))


def _starts(around: Sequence[Around], n_items: Sequence[int]) -> Iterator[str]:
    """The beginning of a piece that is cut inside of some elements.

    A list is begun again between two of its items; inside of an item it would be another one.
    """
    in_list = max(
        (n for n, each in enumerate(around) if each.tag in LISTS or each.tag == "li"), default=-1
    )
    for number, (node, tag, header, _) in enumerate(around):
        if header is not None:
            yield f"<table>{header}"
        elif tag == "ol" and number == in_list:
            yield f'<ol start="{_first_number(node) + n_items[-1]}">'
        elif (
            (tag in LISTS and number == in_list)
            or tag in _BEGUN_AGAIN
            or KINDS.get(tag) == INLINE_KIND
        ):
            yield f"<{tag}>"


def _first_number(node: Any) -> int:
    value = (node.attributes.get("start") or "").strip()
    return int(value) if value.isdecimal() and len(value) < 10 else 1
