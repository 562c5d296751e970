"""The lines of a paged document: which of them are running heads, and which make a paragraph."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

_EDGE_LINES = 2
"""Heads and feet have up to two lines."""

_NUMBER = re.compile(r"\d{1,6}")
_ROMAN = re.compile(r"[ivxlcdm]+", re.IGNORECASE)
_ENOUGH_PAGES = 3
_BODY_SIZE = 1.05

_HYPHENS = ("\ufffe", "\xad", "-", "\u2010")
_SOFT = ("\ufffe", "\xad")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_PART = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\ufffe\xad\u2010]$")
_MAX_PART = 50
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_ITEM = re.compile(r"(?:[•◦▪‣·*○●■–—-]|\(?\w{1,3}[.)])\s")
_WIDE = (
    "\u2e80-\u303f\u3041-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
)
_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])[ \u3000](?=[{_WIDE}])")
_IS_WIDE = re.compile(f"[{_WIDE}]")

_LEADER = re.compile(r"\s*(?:[.·․…]\s?){5,}\s*(?P<page>\d{1,6}|[ivxlc]{0,9})$")
"""Dots that lead to the number of a page in a table of contents, or to a price."""

_LEAST_CONTENTS = 3
_ASCENDING = 0.9

_COLUMN_POINTS = 24.0
"""Lines of one column begin within this distance."""

_SAME_SIZE = 0.08
_INDENT = 0.6
_BLANK = 0.1
_MOST_LEADING = 1.25
_SPARE_LETTERS = 2
"""For the blank, and because letters differ in width."""


class Line(NamedTuple):
    """A line of a page.

    Attributes:
        left, right, bottom: in points, from the left lower corner of the page.
        size: the height of its first letter's font.
    """

    text: str
    left: float
    right: float
    bottom: float
    size: float

    def is_beside(self, other: Line) -> bool:
        """Does it go on in the line of the other, to its right?"""
        is_level = abs(self.middle - other.middle) < 0.5 * other.size
        return is_level and -0.5 * other.size < self.left - other.right < other.size

    def joined(self, other: Line) -> Line:
        """This and another one to its right."""
        blank = " " if other.left - self.right > _BLANK * self.size else ""
        return self._replace(text=f"{self.text}{blank}{other.text}", right=other.right)

    @property
    def middle(self) -> float:
        return self.bottom + self.size / 2


def without_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The pages without the lines at their edges that repeat, up to the pages' numbers."""
    body = body_size(pages)
    edges = [_edges(page, number, body) for number, page in enumerate(pages)]
    counts = Counter(form for page in edges for form in set().union(*page.values()))
    enough = max(2, min(_ENOUGH_PAGES, len(pages) // 2))
    return [
        [
            line
            for place, line in enumerate(page)
            if all(counts[form] < enough for form in edge.get(place, ()))
        ]
        for page, edge in zip(pages, edges, strict=True)
    ]


def body_size(pages: Iterable[Iterable[Line]]) -> float:
    """The size of most letters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _edges(page: Sequence[Line], number: int, body: float) -> dict[int, set[str]]:
    """The lines that may be running heads, by their places, and the forms of each."""
    heights = sorted({round(line.bottom / 2) for line in page})
    outer = {*heights[:_EDGE_LINES], *heights[-_EDGE_LINES:]}
    return {
        place: set(_forms(line.text, number))
        for place, line in enumerate(page)
        if round(line.bottom / 2) in outer and line.size <= _BODY_SIZE * body
    }


def _forms(text: str, page: int) -> Iterator[str]:
    """A line as it is, and with a number in it as the distance to the number of the page.

    So the numbers of tables and figures are not taken for those of pages.
    """
    yield "roman" if _ROMAN.fullmatch(text) else text
    found = list(_NUMBER.finditer(text))
    for each in (*found[:1], *found[1:][-1:]):
        yield f"{text[: each.start()]}\0{int(each[0]) - page}\0{text[each.end() :]}"


def paragraphs(pages: Sequence[Sequence[Line]]) -> list[str]:
    """The paragraphs of which these are the lines."""
    lines = [line for page in pages for line in page]
    rights = [right for page in pages for right in _rights(page)]
    hyphens, leading = _Hyphens(lines), _leading(lines)
    led_to = _led_to(lines)
    found: list[str] = []
    for place, line in enumerate(lines):
        before = lines[place - 1] if place else None
        if before is not None and _goes_on(before, line, rights[place - 1], leading):
            found[-1] = _joined(found[-1], line.text, hyphens)
        else:
            found.append(line.text)
    return [_cleaned(_LEADER.sub(led_to, each)) for each in found]


def _led_to(lines: Sequence[Line]) -> str:
    """What stays of a leader and its number: nothing if it leads to pages, whose numbers ascend."""
    found = (_LEADER.search(line.text) for line in lines)
    numbers = [int(each["page"]) for each in found if each and each["page"].isdecimal()]
    n_ascending = sum(one <= other for one, other in pairwise(numbers))
    is_contents = len(numbers) >= _LEAST_CONTENTS and n_ascending >= _ASCENDING * (len(numbers) - 1)
    return "" if is_contents else r" \g<page>"


def _rights(page: Sequence[Line]) -> list[float]:
    """For each line, where its column ends: the furthest end of the lines beside and below it."""
    furthest: dict[tuple[int, int], float] = {}
    keys = [(round(line.left / _COLUMN_POINTS), round(line.size)) for line in page]
    for key, line in zip(keys, page, strict=True):
        furthest[key] = max(line.right, furthest.get(key, 0.0))
    near = [[(column + step, size) for step in (-1, 0, 1)] for column, size in keys]
    return [max(furthest.get(key, 0.0) for key in each) for each in near]


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance of two lines, in sizes of their letters."""
    gaps = [_gap(one, other) for one, other in pairwise(lines)]
    usual = [gap for gap in gaps if 0.5 < gap < 3]
    return median(usual) if usual else 1.2


def _gap(before: Line, line: Line) -> float:
    return (before.bottom - line.bottom) / max(before.size, 1e-6)


def _goes_on(before: Line, line: Line, right: float, leading: float) -> bool:
    """Is a line in the paragraph of the line before, whose column ends at `right`?"""
    if before.text.endswith(_SOFT):
        return True
    if abs(line.size - before.size) > _SAME_SIZE * before.size:
        return False
    if _ITEM.match(line.text) or _LEADER.search(before.text):
        return False
    gap = _gap(before, line)
    is_below = gap > 0  # otherwise it is in another column, or on another page
    if is_below and gap > _MOST_LEADING * leading:
        return False
    is_indented = line.left > before.left + _INDENT * before.size
    if is_below and is_indented and not _ITEM.match(before.text):
        return False
    return _is_full(before, line, right)


def _is_full(before: Line, line: Line, right: float) -> bool:
    """Does the first word of a line not fit into the line before?"""
    letter = (line.right - line.left) / max(len(line.text), 1)
    first = 1 if _IS_WIDE.match(line.text) else len(line.text.split(" ", 1)[0])
    return before.right + (first + _SPARE_LETTERS) * letter > right


class _Hyphens:
    """Tells the hyphens that divide words at the ends of lines from those of compounds.

    By the other words of the document; where these do not tell, it is as most that they tell.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self._words = {word.lower() for line in lines for word in _WORD.findall(line.text)}
        told = [self._is_divided(one.text, other.text) for one, other in pairwise(lines)]
        self._are_most_divided = told.count(True) > told.count(False)

    def joined(self, before: str, line: str) -> str:
        """Two parts of a paragraph, of which the first ends with a hyphen."""
        is_divided = self._is_divided(before, line)
        if _parts_of_word(before, line) is None:
            is_divided = False
        elif is_divided is None:
            is_divided = self._are_most_divided
        return before[:-1] + ("" if is_divided else "-") + line

    def _is_divided(self, before: str, line: str) -> bool | None:
        parts = _parts_of_word(before, line)
        if parts is None:
            return None
        is_one, is_compound = "".join(parts) in self._words, "-".join(parts) in self._words
        return None if is_one == is_compound else is_one


def _parts_of_word(before: str, line: str) -> tuple[str, str] | None:
    """The parts of a word at the end of one line and the begin of the next; None: it is not one."""
    last, first = _LAST_PART.search(before[-_MAX_PART:]), _FIRST_WORD.match(line)
    if last is None or first is None or not first[0][0].islower():
        return None
    return last[1].lower(), first[0].lower()


def _joined(before: str, line: str, hyphens: _Hyphens) -> str:
    if before.endswith(_HYPHENS):
        return hyphens.joined(before, line)
    is_wide = _IS_WIDE.match(before[-1:]) or _IS_WIDE.match(line)
    return before + line if is_wide else f"{before} {line}"


def _cleaned(text: str) -> str:
    """Without blanks between Chinese characters, which come from wide setting."""
    for soft in _SOFT:
        text = text.replace(soft, "-" if soft == "\ufffe" else "")
    return _BETWEEN_WIDE.sub("", text)
