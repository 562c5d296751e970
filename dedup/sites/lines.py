"""The lines and boxes of a page as arrays, to be counted over the pages of a site.

A line is identified by its words, and by whether it is mostly links: "Foo" in a menu and "Foo" as a
heading are different lines. All numbers count as the same word, so dates and view counters make no
difference. A box is identified by its *kind*: the path to it from the body, with tags, ids and
classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.ma  # np.unique does at its first call, when no file descriptor may be left
from numpy.typing import NDArray
from xxhash import xxh32_intdigest

from dedup.sites.outline import BODY, Box, Line, Outline, text_of
from dedup.text.character_kinds import UNSPACED, character_kinds
from dedup.text.codepoints import (
    CodePoints,
    code_points,
    from_code_points,
    hash_pieces,
    hash_windows,
    mix,
)

Keys = NDArray[np.uint32]
Numbers = NDArray[np.float64]

MIN_LINES = 3
MIN_WORDS = 20
"""A box with fewer lines and fewer words counts as a part of the box around it."""

_WORDS_A_SHINGLE = 3
_NUMBER = np.uint64(0x2545F4914F6CDD1D)
"""The hash of every word that consists of digits."""
_MAX_CLASSES = 3
_MAX_ID_CHARACTERS = 30
_LINE_END = 10
_END_OF_ASCII = 128
_TO_LOWER = ord("a") - ord("A")


class Words(NamedTuple):
    """The words of some lines.

    Attributes:
        hashes: the hash of each word, in order.
        first: the number of each line's first word; at the end, the number of all words.
    """

    hashes: NDArray[np.uint64]
    first: NDArray[np.intp]

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of words of each line."""
        return np.diff(self.first)

    def line_hashes(self) -> NDArray[np.uint64]:
        """One hash for the words of each line; 0 if it has none."""
        found, has_words = np.zeros(len(self.first) - 1, np.uint64), self.counts > 0
        starts, ends = self.first[:-1][has_words], self.first[1:][has_words]
        found[has_words] = hash_pieces(self.hashes, starts, ends)
        return found

    def shingles(self, line: int) -> NDArray[np.uint64]:
        """The shingles of a line: three words in a row, or all of a shorter line."""
        words = self.hashes[self.first[line] : self.first[line + 1]]
        return hash_windows(words, min(_WORDS_A_SHINGLE, max(1, len(words))))

    def all_shingles(self) -> tuple[Keys, NDArray[np.uint32]]:
        """The shingles of all lines, as `shingles` but shortened, and the line of each."""
        sizes = self.counts
        line_of = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        windows = hash_windows(self.hashes, _WORDS_A_SHINGLE)
        line_of = line_of[: len(windows)]
        fits = np.arange(len(windows)) + _WORDS_A_SHINGLE <= self.first[1:][line_of]
        is_short = (sizes > 0) & (sizes < _WORDS_A_SHINGLE)
        hashes = narrow(np.concatenate((windows[fits], self.line_hashes()[is_short])))
        short = np.flatnonzero(is_short).astype(np.uint32)
        return hashes, np.concatenate((line_of[fits], short))


class PageLines:
    """The lines and boxes of an outline.

    A character of a script without spaces between words is a word.

    Attributes:
        outline: the boxes and lines themselves.
        lines: the outline's lines.
        words: the words of the lines, as hashes.
        keys: the key of each line: a hash of its words, whose last bit says whether the line is
            mostly links.
        sizes: the number of words of each line.
        linked: how many of these are in links.
        outward: how many of these are in links to other sites.
        boxes: the numbers of the boxes with `MIN_LINES` lines or `MIN_WORDS` words; the body is
            always the first.
        kinds: the kind of each of these boxes.
        first, end: the first line of each of these boxes, and the line after its last.
    """

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.lines: Sequence[Line] = outline.lines
        self.words = words_of([line.text for line in self.lines])
        self.sizes: Numbers = self.words.counts.astype(np.float64)
        self.linked: Numbers = self.sizes * _linked_shares(self.lines)
        self.outward: Numbers = self.sizes * _outward_shares(self.lines)
        is_linked = (2 * self.linked > self.sizes).astype(np.uint32)
        hashes = self.words.line_hashes().astype(np.uint32)
        self.keys: Keys = (hashes & np.uint32(0xFFFFFFFE)) | is_linked
        self.boxes, self.kinds, self.first, self.end = _boxes(outline, self.sizes)
        self._last_text: tuple[bytes, str] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    def text_of(self, chosen: NDArray[np.bool_]) -> str:
        """The text of some of the lines; that of the lines chosen last is remembered."""
        choice = chosen.tobytes()
        if self._last_text is None or self._last_text[0] != choice:
            lines = compress(self.lines, chosen.tolist())
            self._last_text = choice, text_of(self.outline.boxes, lines)
        return self._last_text[1]

    def sums(self, values: Numbers) -> Numbers:
        """The sum of the values of the lines in each box."""
        total = np.zeros(len(values) + 1)
        np.cumsum(values, out=total[1:])
        found: Numbers = total[self.end] - total[self.first]
        return found

    @cached_property
    def shingles(self) -> tuple[Keys, NDArray[np.uint32]]:
        """See `Words.all_shingles`."""
        return self.words.all_shingles()

    @cached_property
    def kinds_found(self) -> tuple[Keys, NDArray[np.intp], NDArray[np.intp]]:
        """The different kinds, ascending; for each box the place of its kind; how many have it."""
        return np.unique(self.kinds, return_inverse=True, return_counts=True)

    @cached_property
    def headings(self) -> list[int]:
        """Which lines are in an `<h1>`."""
        return [number for number, line in enumerate(self.lines) if line.block == "h1"]

    def distinct_keys(self) -> Keys:
        """The keys of lines that have words, each once, ascending."""
        return np.unique(self.keys[self.sizes > 0])


def words_of(texts: Sequence[str]) -> Words:
    """Return the words of some lines of text, which contain no line end.

    >>> words_of(["Page 3 of 12", "page 4 of 9"]).line_hashes().tolist().count(0)
    0
    >>> first, second = words_of(["Page 3 of 12", "page 4 of 9"]).line_hashes()
    >>> bool(first == second)
    True
    """
    codes = _lower_code_points("\n".join((*texts, "")))
    kinds = character_kinds(codes)
    is_word, is_alone = kinds != 0, kinds == UNSPACED
    begins, ends = is_word.copy(), is_word.copy()
    inner = is_word[1:] & is_word[:-1] & ~is_alone[1:] & ~is_alone[:-1]
    begins[1:] &= ~inner
    ends[:-1] &= ~inner
    starts, stops = np.flatnonzero(begins), np.flatnonzero(ends) + 1
    hashes = hash_pieces(codes, starts, stops)
    is_digit = (codes >= ord("0")) & (codes <= ord("9"))
    numbers = np.flatnonzero(is_digit[starts])
    others = np.flatnonzero(~is_digit)  # a line end at last
    ends_of_digits = others[np.searchsorted(others, starts[numbers])]
    hashes[numbers[ends_of_digits == stops[numbers]]] = _NUMBER
    line_ends = np.flatnonzero(codes == _LINE_END)
    first = np.zeros(len(texts) + 1, np.intp)
    first[1:] = np.searchsorted(starts, line_ends)
    return Words(hashes, first)


def _lower_code_points(text: str) -> CodePoints:
    """The code points of the text in lower case.

    A few quotation marks make `lower` ten times as slow, although only letters of ASCII change.
    """
    if text.isascii():
        return code_points(text.lower())
    codes = code_points(text)
    others = from_code_points(np.unique(codes[codes >= _END_OF_ASCII]).astype(np.uint32))
    if others.lower() != others:
        return code_points(text.lower())
    is_capital: Any = ((codes >= ord("A")) & (codes <= ord("Z"))).astype(codes.dtype)
    lower: CodePoints = codes + is_capital * _TO_LOWER
    return lower


def narrow(hashes: NDArray[np.uint64]) -> Keys:
    """Shorten hashes from 64 to 32 bits."""
    return mix(hashes.copy()).astype(np.uint32)


def _linked_shares(lines: Sequence[Line]) -> Numbers:
    return np.fromiter(
        (
            0.0 if line.plain is line.text else 1 - len(line.plain) / len(line.text)
            for line in lines
        ),
        np.float64,
        len(lines),
    )


def _outward_shares(lines: Sequence[Line]) -> Numbers:
    shares = (line.n_outward and line.n_outward / len(line.text) for line in lines)
    return np.fromiter(shares, np.float64, len(lines))


def _boxes(
    outline: Outline, sizes: Numbers
) -> tuple[NDArray[np.intp], Keys, NDArray[np.intp], NDArray[np.intp]]:
    """Return the boxes that count: their places in the outline, kinds, first lines, and ends."""
    boxes = outline.boxes
    first, end = [len(outline.lines)] * len(boxes), [0] * len(boxes)
    for number, line in enumerate(outline.lines):
        box = line.box
        if first[box] > number:
            first[box] = number
        end[box] = number + 1
    for number in range(len(boxes) - 1, 0, -1):
        outer = boxes[number].parent
        if first[number] < first[outer]:
            first[outer] = first[number]
        if end[number] > end[outer]:
            end[outer] = end[number]
    words = [0.0, *np.cumsum(sizes).tolist()]
    kinds = {BODY: 0}
    places = [BODY]
    for number in range(1, len(boxes)):
        is_large = end[number] - first[number] >= MIN_LINES
        if is_large or words[end[number]] - words[first[number]] >= MIN_WORDS:
            # So has the one around it.
            kinds[number] = _kind(kinds[boxes[number].parent], boxes[number])
            places.append(number)
    first[BODY], end[BODY] = 0, len(outline.lines)
    chosen = np.array(places, np.intp)
    return (
        chosen,
        np.array([kinds[place] for place in places], np.uint32),
        np.array(first, np.intp)[chosen],
        np.array(end, np.intp)[chosen],
    )


def box_kinds(boxes: Sequence[Box]) -> list[int]:
    """The kind of each box of a page, also of small ones."""
    found = [0]
    for box in boxes[1:]:
        found.append(_kind(found[box.parent], box))
    return found


def outer_kinds(outline: Outline) -> list[str]:
    """Return the tags and classes of the boxes in the outer two levels of the body, each once.

    They differ from design to design. Boxes without a class depend on a page's content.
    """
    outer = {BODY}
    found = set()
    for number, box in enumerate(outline.boxes):
        if box.parent in outer:
            classes = tuple(name for name in box.names if name[0] != "#")
            if (name := _name_of(box.tag, classes)) != box.tag:
                found.add(name)
            if box.parent == BODY:
                outer.add(number)
    return sorted(found)


def _kind(outer: int, box: Box) -> int:
    return _kind_of(outer, box.tag, box.names)


@lru_cache(20_000)  # most pages of a site have the same boxes
def _kind_of(outer: int, tag: str, names: tuple[str, ...]) -> int:
    return xxh32_intdigest(_name_of(tag, names).encode(errors="replace"), outer) or 1


def _name_of(tag: str, names: tuple[str, ...]) -> str:
    """The name of a box on all pages, without names that contain digits: these name one page."""
    kept = [name for name in names if not any(map(str.isdigit, name))]
    ids = [name for name in kept if name[0] == "#" and len(name) <= _MAX_ID_CHARACTERS]
    classes = sorted(name for name in kept if name[0] != "#")[:_MAX_CLASSES]
    return " ".join((tag, *ids, *classes))
