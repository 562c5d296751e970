"""The visible text of a page, line by line, and the elements around each line.

The *boxes* of a page are the elements that structure it: divisions, sections, lists, tables and
their cells. A *line* is text that a browser shows between the edges of blocks. Repetitions of a
site are counted over outlines, and a page's own text consists of some of its lines.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from selectolax.lexbor import LexborNode

BODY = 0
"""The number of the box that contains all others."""

_BOXES = frozenset(
    # what themes build pages from; a custom element (its name has a hyphen) is one, too
    """
    article aside body center details dialog dir div dl fieldset figure footer font form frameset
    header hgroup main menu nav ol section table tbody td tfoot th thead tr ul
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_INLINE = frozenset(
    """
    a abbr acronym b bdi bdo big cite code data del dfn em i ins kbd label map mark nobr output q rp
    rt ruby s samp small span strike strong sub sup time tt u var wbr
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
"""Elements that do not separate the words before and after them."""

_APART = frozenset(
    """
    button img math mfrac mi mn mo mover mroot mrow msqrt msub msubsup msup mtext munder munderover
    picture select source svg textarea
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
"""Elements that separate words, but stay on the same line."""

FLAT = frozenset(["caption", "h1", "h2", "h3", "h4", "h5", "h6", "legend", "option", "p", "pre"])
"""Elements inside which boxes count only as blocks."""

_UNSEEN = frozenset(
    """
    audio canvas embed head iframe noscript object script style template title video
    """.split()  # noqa: SIM905 -- a list of quoted words reads worse
)
_VALUED_INPUTS = frozenset(["", "email", "number", "search", "tel", "text", "url"])

(
    INLINE_KIND,
    APART_KIND,
    BLOCK_KIND,
    FLAT_KIND,
    BOX_KIND,
    UNSEEN_KIND,
    BREAK_KIND,
    INPUT_KIND,
) = range(8)
KINDS: dict[str, int] = {
    **dict.fromkeys(_BOXES, BOX_KIND),
    **dict.fromkeys(_INLINE, INLINE_KIND),
    **dict.fromkeys(_APART, APART_KIND),
    **dict.fromkeys(FLAT, FLAT_KIND),
    **dict.fromkeys(_UNSEEN, UNSEEN_KIND),
    "br": BREAK_KIND,
    "hr": BREAK_KIND,
    "input": INPUT_KIND,
}

_ICON = re.compile("[\ue000-\uf8ff]+")
"""Characters of private use: icon fonts."""


_MAX_BOXES = 600
_NO_LINK, _LINK, _OUTWARD = range(3)
_MAX_DIGITS = 7


class Line(NamedTuple):
    """A line of text.

    Attributes:
        box: the innermost box around it.
        text: with white space folded, except for the indentation in `<pre>`.
        plain: the text without the words in links; the text itself if it has no links, or links
            were not asked for.
        block: the block around it, such as `p`, `h1`, `li` or `pre`; "" for the box itself.
        n_outward: how many characters of the text are in links to other sites.
    """

    box: int
    text: str
    plain: str
    block: str
    n_outward: int = 0


class Box(NamedTuple):
    """An element that structures a page.

    Attributes:
        parent: the box around it; -1 for the first box.
        names: its id, with a leading "#", and its classes, as in the page.
    """

    parent: int
    tag: str
    names: tuple[str, ...]


class Size(NamedTuple):
    """The numbers of lines, and of characters in them."""

    n_lines: int
    n_characters: int


@dataclass
class Outline:
    """Boxes and lines, both in document order; a box comes after the box around it.

    An outline from another process is decoded when its boxes or lines are read: most are only
    stored. Its size is known without that.
    """

    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def __reduce__(self) -> tuple[Callable[[str, Size], Outline], tuple[str, Size]]:
        return _encoded, (self.to_json(), self.size)

    def __getattr__(self, name: str) -> list[Box] | list[Line]:
        if name not in ("boxes", "lines") or _JSON not in vars(self):
            raise AttributeError(name)
        self.boxes, self.lines = _decoded(vars(self)[_JSON])
        return self.boxes if name == "boxes" else self.lines

    @property
    def size(self) -> Size:
        """How large the outline is."""
        if _SIZE not in vars(self):
            characters = sum(len(line.text) for line in self.lines)
            vars(self)[_SIZE] = Size(len(self.lines), characters)
        found: Size = vars(self)[_SIZE]
        return found

    def without_inner_boxes(self) -> Outline:
        """The same lines in fewer boxes: if there are very many, inner ones join outer ones."""
        if len(self.boxes) <= _MAX_BOXES:
            return self
        children: dict[int, list[int]] = {}
        for number, box in enumerate(self.boxes):
            children.setdefault(box.parent, []).append(number)
        kept = [BODY]
        for number in kept:
            kept += children.get(number, [])[: _MAX_BOXES - len(kept)]
        kept.sort()
        places: dict[int, int] = {number: place for place, number in enumerate(kept)}
        for number, box in enumerate(self.boxes):
            places.setdefault(number, places.get(box.parent, BODY))
        boxes = [self.boxes[number] for number in kept]
        return Outline(
            [box._replace(parent=places.get(box.parent, -1)) for box in boxes],
            [line._replace(box=places[line.box]) for line in self.lines],
        )

    def to_json(self) -> str:
        if (text := vars(self).get(_JSON)) is not None:
            return str(text)
        lines = [
            [line.box, line.text, line.block]
            + ([line.plain] if line.plain is not line.text and line.plain != line.text else [])
            + ([line.n_outward] if line.n_outward else [])
            for line in self.lines
        ]
        return json.dumps([self.boxes, lines], ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Outline:
        """Return the outline that `to_json` has written.

        Raises:
            ValueError: the text is not an outline.
        """
        try:
            boxes, lines = _decoded(text)
            parents, places = [box.parent for box in boxes], [line.box for line in lines]
            _ = [box.tag + "".join(box.names) for box in boxes]
            _ += [line.text + line.plain + line.block for line in lines]
            _ += [str(line.n_outward + 0) for line in lines]
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"invalid page outline: {error}") from error
        if not all(-1 <= parent < place for place, parent in enumerate(parents)) or not all(
            0 <= place < len(boxes) for place in places
        ):
            raise ValueError("invalid page outline: a box or a line is out of place")
        return cls(boxes, lines)


_JSON, _SIZE = "json", "counted_size"
"""The attributes of an outline from another process; the size is also kept once it was counted."""


def _encoded(text: str, size: Size) -> Outline:
    found = Outline.__new__(Outline)
    vars(found).update({_JSON: text, _SIZE: size})
    return found


def _decoded(text: str) -> tuple[list[Box], list[Line]]:
    boxes, lines = json.loads(text)
    return (
        [Box(parent, tag, tuple(names)) for parent, tag, names in boxes],
        [
            Line(box, line, rest[0] if rest else line, block, *rest[1:])
            for box, line, block, *rest in lines
        ],
    )


def outline(
    root: LexborNode, *, with_links: bool = True, leads_out: Callable[[str], bool] | None = None
) -> Outline:
    """Return the boxes and lines of an element, which is the first box.

    It takes one pass, in linear time at any depth. Scripts, styles, templates, and what browsers
    show only without scripts are left out; elements that are hidden until somebody clicks are kept.
    If only the text is needed, lines do not record which words are in links (`with_links`).

    `leads_out`: does a link with this `href` lead to another site? None: that is not recorded.
    """
    found = Outline([Box(-1, root.tag or "", names_of(root))])
    _Walk(found, with_links=with_links, leads_out=leads_out).run(root)
    _drop_line_numbers(found)
    return found


def _drop_line_numbers(found: Outline) -> None:
    if gutters := line_number_boxes(found):
        found.lines = [line for line in found.lines if line.box not in gutters]


def line_number_boxes(found: Outline) -> set[int]:
    """The boxes that contain only the line numbers of a program."""
    numbers: dict[int, list[str]] = {}
    for line in found.lines:
        if line.block == "pre" and line.text.isdecimal():
            numbers.setdefault(line.box, []).append(line.text)
    if not numbers:
        return set()
    n_lines = Counter(line.box for line in found.lines)
    parents = {box.parent for box in found.boxes}
    return {
        box
        for box, texts in numbers.items()
        if box not in parents and len(texts) == n_lines[box] and _are_line_numbers(texts)
    }


def _are_line_numbers(texts: list[str]) -> bool:
    first = int(texts[0]) if len(texts[0]) < _MAX_DIGITS else 0
    wanted = range(first, first + len(texts))
    return (
        first > 0
        and len(texts) > 1
        and all(text == str(n) for text, n in zip(texts, wanted, strict=True))
    )


def count_characters(root: LexborNode | None) -> int:
    """The length of all lines of an element; 0: there is no element."""
    if root is None:
        return 0
    return sum(len(line.text) for line in outline(root, with_links=False).lines)


def text_of(boxes: Sequence[Box], lines: Iterable[Line]) -> str:
    """Return the text of some lines of an outline, with the cells of a row on one line.

    Tabs separate cells. If the cells of a row have several lines, as in tables used for layout,
    each of these stays a line.
    """
    chosen = list(lines)
    rows_of = {box: _row_of(boxes, box) for box in {line.box for line in chosen}}
    if max(rows_of.values(), default=-1) < 0:
        return "\n".join([line.text for line in chosen])
    rows = [rows_of[line.box] for line in chosen]
    n_lines, n_cells = Counter(rows), {row: set[int]() for row in rows}
    for row, line in zip(rows, chosen, strict=True):
        n_cells[row].add(line.box)
    pieces: list[str] = []
    for place, (row, line) in enumerate(zip(rows, chosen, strict=True)):
        if place:
            is_row = row >= 0 and row == rows[place - 1] and n_lines[row] == len(n_cells[row])
            pieces.append("\t" if is_row else "\n")
        pieces.append(line.text)
    return "".join(pieces)


def _row_of(boxes: Sequence[Box], box: int) -> int:
    """The row of a table cell; -1: the box is not a cell in a row."""
    is_cell = boxes[box].tag in ("td", "th")
    return boxes[box].parent if is_cell and boxes[boxes[box].parent].tag == "tr" else -1


def names_of(node: LexborNode) -> tuple[str, ...]:
    """The element's id, with a leading "#", and its classes."""
    attributes = node.attributes
    if not attributes:
        return ()
    identifier, classes = attributes.get("id"), attributes.get("class")
    names = classes.split() if classes else []
    if identifier and (stripped := identifier.strip()):
        names.insert(0, f"#{stripped}")
    return tuple(names)


def kind_of_unknown(tag: str) -> int:
    if tag[0] in "-!#":
        return UNSEEN_KIND
    return BOX_KIND if "-" in tag else BLOCK_KIND


class _Walk:
    """Collects the text up to the next edge of a block."""

    def __init__(
        self, found: Outline, *, with_links: bool, leads_out: Callable[[str], bool] | None
    ) -> None:
        self._found = found
        self._leads_out = leads_out
        self._link_tag = "a" if with_links else ""
        self._pieces: list[str] = []
        self._linked: list[int] = []
        """Which of the pieces are in links."""
        self._outward: list[int] = []
        """Which of these lead to other sites."""

    def run(self, root: LexborNode) -> None:
        boxes = self._found.boxes
        pieces, linked, end_line, kinds = self._pieces, self._linked, self._end_line, KINDS
        link_tag, outward = self._link_tag, self._outward
        # Of each element around: what follows it, its box, its link, its block, its kind.
        around: list[tuple[Any, int, int, str, int]] = []
        box, in_link, block = 0, _NO_LINK, ""
        node: Any = root.first_child
        while True:
            if node is None:
                if not around:
                    break
                node, outer_box, in_link, outer_block, ended = around.pop()
                if ended > INLINE_KIND and pieces:
                    if ended == APART_KIND:
                        pieces.append(" ")
                    else:
                        end_line(box, block)
                box, block = outer_box, outer_block
                continue
            text = node.text_content
            if text is not None:  # else it is an element
                if pieces or not text.isspace():
                    if in_link:
                        linked.append(len(pieces))
                        if in_link == _OUTWARD:
                            outward.append(len(pieces))
                    pieces.append(text)
                node = node.next
                continue
            tag = node.tag or "-"  # a processing instruction, such as `<?php … ?>`, has none
            kind = kinds.get(tag)
            if kind is None:
                kind = kind_of_unknown(tag)
            if kind >= UNSEEN_KIND:
                if kind == BREAK_KIND:
                    if pieces:
                        end_line(box, block)
                elif kind == INPUT_KIND:
                    self._add_value(node)
                node = node.next
                continue
            child = node.first_child
            if kind <= APART_KIND:
                if kind == APART_KIND and pieces:
                    pieces.append(" ")
                if child is None:
                    node = node.next
                    continue
                link = self._link(node) if tag == link_tag else in_link
                text = child.text_content
                if kind == INLINE_KIND and text is not None and child.next is None:
                    if link:
                        linked.append(len(pieces))
                        if link == _OUTWARD:
                            outward.append(len(pieces))
                    pieces.append(text)
                    node = node.next
                    continue
                around.append((node.next, box, in_link, block, kind))
                in_link = link
            else:
                if pieces:
                    end_line(box, block)
                if child is None and kind != BOX_KIND:
                    node = node.next
                    continue
                around.append((node.next, box, in_link, block, kind))
                if block not in FLAT:
                    if kind == BOX_KIND:
                        boxes.append(Box(box, tag, names_of(node)))
                        box, block = len(boxes) - 1, ""
                    else:
                        block = tag
            node = child
        end_line(box, block)

    def _link(self, node: Any) -> int:
        if self._leads_out is None or not (href := node.attrs.get("href")):
            return _LINK
        return _OUTWARD if self._leads_out(href) else _LINK

    def _end_line(self, box: int, block: str) -> None:
        pieces, linked, outward = self._pieces, self._linked, self._outward
        whole = "".join(pieces)
        if block == "pre":
            if not whole.isspace():
                for line in whole.splitlines():
                    self._add(box, line.rstrip(), None, block, 0)
        elif text := " ".join(whole.split()):
            plain, n_outward = None, 0
            if linked:
                n_outward = sum(len(" ".join(pieces[place].split())) for place in outward)
                for place in linked:
                    pieces[place] = " "
                plain = " ".join("".join(pieces).split())
            self._add(box, text, plain, block, n_outward)
        pieces.clear()
        linked.clear()
        outward.clear()

    def _add(self, box: int, text: str, plain: str | None, block: str, n_outward: int) -> None:
        if not text.isascii():
            text = cleaned(text)
        if text:
            if n_outward:  # a link may consist of what was cleaned
                n_outward = max(0, min(n_outward, len(text) - len(plain or "")))
            line = (box, text, text if plain is None else plain, block, n_outward)
            self._found.lines.append(tuple.__new__(Line, line))  # a third of the time of `Line(…)`

    def _add_value(self, node: LexborNode) -> None:
        if value := input_value(node):
            self._pieces.append(f" {value} ")


def cleaned(text: str) -> str:
    """A line without icons, a heading's link to itself, and white space at its end."""
    return without_icons(text).removesuffix("¶").rstrip()


def without_icons(text: str) -> str:
    """The text without characters of icon fonts."""
    return _ICON.sub("", text)


def input_value(node: LexborNode) -> str:
    """The text that an `<input>` shows; "" if it shows none."""
    attributes = node.attributes
    is_shown = (attributes.get("type") or "").lower() in _VALUED_INPUTS
    return (attributes.get("value") or "") if is_shown else ""
