"""The markup of a page's own text: its body without everything that the stored text does not say.

The stored text decides, wherever it comes from. Mostly its lines are lines of the page; the texts
of other extractors are compared word by word where they end lines elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dedup.fields.alignment import align, align_rest, gaps
from dedup.fields.markup_writer import Left, paragraph, written
from dedup.fields.segments import Segmented, segmented
from dedup.html.bounds import Bounded
from dedup.html.unfolding import unfolded

_WORD = re.compile(r"[A-Za-z0-9_]+|[^\W_A-Za-z0-9]")
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

_HALF = 0.5
_FEW_WORDS = 3
_FEW_CHARACTERS = 8


def own_markup(page: Bounded, text: str) -> str:
    """Return the markup of a page's own text.

    It has every word of the text, and hardly any other: the elements that contain some of the
    text, with the attributes that say what they are, and the images and formulae among it. Words
    of the text that the page does not have are in paragraphs of their own. Lines that the page
    repeats are those that stand closest to the rest of the text. It takes nearly linear time.

    Args:
        page: a page of bounded depth.
        text: its stored text.
    """
    body = unfolded(page).body
    if not text or body is None:
        return "".join(map(paragraph, text.splitlines()))
    found = segmented(body)
    own, left = _own_segments(found, text)
    return written(found, own, left)


class _Tokens(NamedTuple):
    """The parts of lines between tabs, and where each of them belongs."""

    keys: list[str]
    segments: list[int]

    def are_beside(self, found: Segmented) -> list[bool]:
        return [found.segments[number].is_beside for number in self.segments]


def _parts(line: str) -> Iterator[str]:
    for part in line.split("\t"):
        if key := " ".join(part.split()):
            yield key


def _tokens(found: Segmented) -> _Tokens:
    keys, segments = [], []
    for number, segment in enumerate(found.segments):
        for line in found.lines_of(segment):
            for key in _parts(line.text):
                keys.append(key)
                segments.append(number)
    return _Tokens(keys, segments)


def _own_segments(found: Segmented, text: str) -> tuple[list[bool], list[Left]]:
    """Which segments are the page's own, and what of the text is in none of them."""
    there = _tokens(found)
    wanted = [key for line in text.splitlines() for key in _parts(line)]
    places = _places(found, wanted, there)
    shares = [0] * len(found.segments)
    for place in places:
        if place >= 0:
            shares[there.segments[place]] += 1
    sizes = [0] * len(found.segments)
    for number in there.segments:
        sizes[number] += 1
    own = [2 * share >= size > 0 for share, size in zip(shares, sizes, strict=True)]
    left = list(_by_words(own, wanted, there, places))
    return own, left


def _places(found: Segmented, wanted: Sequence[str], there: _Tokens) -> list[int]:
    """The place of each line of the text among the page's; -1: it has none.

    Lines in menus count only if no others are equal.
    """

    def is_heading(place: int) -> bool:
        line = found.outline.lines[found.segments[there.segments[place]].first]
        return line.block in _HEADINGS

    inner = [number for number, beside in enumerate(there.are_beside(found)) if not beside]
    first = align(
        wanted,
        [there.keys[number] for number in inner],
        is_better=lambda place: is_heading(inner[place]),
    )
    places = [inner[place] if place >= 0 else -1 for place in first]
    if -1 not in places or len(inner) == len(there.keys):
        return places
    return align_rest(places, wanted, there.keys, is_better=is_heading)


class _Word(NamedTuple):
    """A word of a line, and where the text between the words around it begins and ends."""

    text: str
    line: int
    first: int
    end: int


def _words(lines: Sequence[str]) -> Iterator[_Word]:
    for number, line in enumerate(lines):
        found = list(_WORD.finditer(line))
        firsts = [0, *(word.end() for word in found)]
        ends = [*(word.start() for word in found[1:]), len(line)]
        for word, first, end in zip(found, firsts, ends, strict=False):
            yield _Word(word[0], number, first, end)


def _by_words(
    own: list[bool], wanted: Sequence[str], there: _Tokens, places: Sequence[int]
) -> Iterator[Left]:
    """Look for the rest of the text word by word; mark segments, and return what is left."""
    for part in gaps(places, len(there.keys)):
        lines = wanted[part.first : part.end]
        words = list(_words(lines))
        others = [
            (there.segments[place], word)
            for place in range(part.other_first, part.other_end)
            for word in _WORD.findall(there.keys[place])
        ]
        aligned = align([word.text for word in words], [word for _, word in others])
        _drop_lone(aligned, words)
        _mark(own, others, aligned)
        at = there.segments[part.other_first - 1] if part.other_first else -1
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        for word, place in zip(words, aligned, strict=True):
            if place >= 0 and own[others[place][0]]:
                at = others[place][0]
            else:
                first, _ = spans.get((at, word.line), (word.first, 0))
                spans[at, word.line] = first, word.end
        for (at, number), (first, end) in spans.items():
            yield Left(at, lines[number][first:end].strip())


def _drop_lone(aligned: list[int], words: Sequence[_Word]) -> None:
    """Drop runs of few words or characters: in a menu any word may occur."""
    first = 0
    for number in range(1, len(aligned) + 1):
        if number < len(aligned) and aligned[number] == aligned[number - 1] + 1:
            continue
        n_characters = sum(len(word.text) for word in words[first:number])
        is_few = number - first < _FEW_WORDS or n_characters < _FEW_CHARACTERS
        if is_few and number - first < len(aligned):
            aligned[first:number] = [-1] * (number - first)
        first = number


def _mark(own: list[bool], others: Sequence[tuple[int, str]], aligned: Iterable[int]) -> None:
    sizes: dict[int, int] = {}
    shares: dict[int, int] = {}
    for segment, _ in others:
        sizes[segment] = sizes.get(segment, 0) + 1
    for place in aligned:
        if place >= 0:
            segment = others[place][0]
            shares[segment] = shares.get(segment, 0) + 1
    for segment, share in shares.items():
        own[segment] |= share >= _HALF * sizes[segment]
