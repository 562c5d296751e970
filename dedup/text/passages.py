r"""Passages: runs of `width` units or more that stand in several places of some texts.

The units of a text are its words, runs of `\w` of the normal text, or in scripts without spaces
its `\w` characters, as in its shingles. A *window* is `width` consecutive units. Each window has
a *place*, a number that also tells its text: windows that begin one unit apart in one text have
numbers one apart. Of equal windows the one of the lowest number is the *first*; the others repeat
it. Repeated windows side by side whose firsts stand side by side, too, are a `Stretch`.

That way passages are found without comparing texts with each other: windows are sorted by their
hashes, in any number of portions, and nothing else needs to be held in memory. Hashes only propose;
the words of a stretch and of its source are compared (`Units`) before it counts. Of different
windows that share a hash, by chance one pair in 2**64, those that are not the first stay uncut.

Source: Lee and others, Deduplicating training data makes language models better, ACL 2022, who cut
runs of 50 tokens found by a suffix array. Here an occurrence that overlaps the first one is none,
so that of a text that says one thing again and again one whole passage stays.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_digest

from dedup.text.alignment import Spans, aligned
from dedup.text.character_kinds import character_kinds
from dedup.text.codepoints import code_points, hash_pieces
from dedup.text.joined_texts import JoinedTexts, portions_of
from dedup.text.normal import are_unspaced, is_unspaced, normalise, normalise_many, words

_PORTION_CHARACTERS = 1 << 16
_TEXT_BITS = 27
_UNIT_MASK = (1 << _TEXT_BITS) - 1
"""Of a place, the unit in the text. What a text has beyond 134 million units is not looked at."""

_AFTER = re.compile(r"[^\w\s]*\s*")
"""What goes with a passage: the marks that close it, and the space up to the next word."""

_WORD = re.compile(r"\w")

Places = NDArray[np.uint64]


def place_of(text: int, unit: int = 0) -> int:
    """The place of the window that begins at this unit of a text."""
    return text << _TEXT_BITS | unit


def text_at(place: int) -> int:
    """The number of a place's text."""
    return place >> _TEXT_BITS


def texts_at(places: Places) -> Places:
    """The same of many places."""
    return places >> np.uint64(_TEXT_BITS)


def joined_by_kind(texts: Sequence[str]) -> Iterator[tuple[list[int], JoinedTexts]]:
    """Normalise texts, and join those of one kind of script in portions; each with its places."""
    for part in portions_of(range(len(texts)), texts, _PORTION_CHARACTERS):
        normal = normalise_many([texts[at] for at in part])
        kinds = are_unspaced(normal)
        for kind in (False, True):
            chosen = [at for at, unspaced in enumerate(kinds) if unspaced == kind]
            if chosen:
                yield (
                    [part[at] for at in chosen],
                    JoinedTexts([normal[at] for at in chosen], unspaced=kind),
                )


def windows(texts: JoinedTexts, width: int) -> tuple[Places, NDArray[np.intp], NDArray[np.intp]]:
    """Hash each window.

    Returns:
        The hashes, which of the texts each is of, and at which of its units each begins.
    """
    counts = np.maximum(np.diff(texts.bounds) - width + 1, 0)
    owners = np.repeat(np.arange(len(texts)), counts)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = texts.bounds[owners] + within
    return hash_pieces(texts.units, starts, starts + width), owners, within


def placed_windows(
    numbers: Sequence[int], texts: Sequence[str], width: int
) -> Iterator[tuple[Places, Places]]:
    """Hash the windows of texts, and give each its place by the number of its text."""
    for at, joined in joined_by_kind(texts):
        hashes, owners, within = windows(joined, width)
        owned = np.array([numbers[each] for each in at], np.uint64) << np.uint64(_TEXT_BITS)
        has_place = within < _UNIT_MASK
        yield hashes[has_place], (owned[owners] + within.astype(np.uint64))[has_place]


def repeated(hashes: Places, places: Places, width: int) -> tuple[Places, Places]:
    """Return the windows that repeat an earlier one, and the first of each.

    Args:
        hashes: ascending.
        places: of the windows with these hashes.
        width: an occurrence that overlaps the first one does not count.
    """
    is_first = np.ones(len(hashes), np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:])
    bounds = np.flatnonzero(is_first)
    sizes = np.diff(np.append(bounds, len(hashes)))
    several = np.repeat(sizes > 1, sizes)
    places, bounds = places[several], np.cumsum(sizes[sizes > 1]) - sizes[sizes > 1]
    if not len(places):
        return places, places
    firsts = np.repeat(np.minimum.reduceat(places, bounds), sizes[sizes > 1])
    is_repeat = places - firsts >= np.uint64(width)
    return places[is_repeat], firsts[is_repeat]


class Stretch(NamedTuple):
    """Windows side by side that repeat windows side by side.

    Attributes:
        start: the place of the first window.
        n_windows: the number of windows.
        source: the place of the first window that they repeat.
    """

    start: int
    n_windows: int
    source: int


def stretches(places: Places, firsts: Places) -> Iterator[tuple[int, list[Stretch]]]:
    """Join repeated windows, and yield those of each text after its number; places ascend."""
    is_next = (np.diff(places) == 1) & (np.diff(firsts) == 1)
    starts = np.flatnonzero(np.concatenate(([True], ~is_next))[: len(places)])
    counts = np.diff(np.append(starts, len(places)))
    columns = (places[starts].tolist(), counts.tolist(), firsts[starts].tolist())
    found = map(Stretch._make, zip(*columns, strict=True))
    for text, each in groupby(found, key=lambda stretch: text_at(stretch.start)):
        yield text, list(each)


class Units:
    """The units of a text, one by one."""

    def __init__(self, text: str) -> None:
        normal = normalise(text)
        self._units = _WORD.findall(normal) if is_unspaced(normal) else words(normal)

    def __len__(self) -> int:
        return len(self._units)

    def at(self, place: int, count: int) -> list[str]:
        """Some units from that on which the place names."""
        start = place & _UNIT_MASK
        return self._units[start : start + count]

    def digest(self, place: int, count: int) -> bytes:
        """128 bits that stand for these units."""
        return xxh3_128_digest("\0".join(self.at(place, count)).encode(errors="surrogatepass"))


class Passage(NamedTuple):
    """A run of units that stands in an earlier place, too.

    Attributes:
        start, end: in the characters of its text, from its first word to the end of its last.
        source: the number of the text that has it first.
    """

    start: int
    end: int
    source: int


class Passages(NamedTuple):
    """The passages of a text.

    Attributes:
        listed: all of them, in their order; those of different sources may overlap.
        rest: the text without them; None: no word is left.
        main: the source of the longest one, of several the first.
    """

    listed: list[Passage]
    rest: str | None
    main: int


def passages_of(text: str, found: Iterable[Stretch], width: int) -> Passages:
    """Find in a text what stretches of its windows cover, and cut it out.

    A passage goes with the marks that close it and the space after it. What else stands between
    two words stays.
    """
    starts, ends = _spans(text)
    chosen = [(each.start & _UNIT_MASK, each) for each in found]
    listed = [
        Passage(
            int(starts[first]), int(ends[first + width + each.n_windows - 2]), text_at(each.source)
        )
        for first, each in chosen
    ]
    is_covered = np.zeros(len(starts), np.bool_)
    for first, each in chosen:
        is_covered[first : first + width + each.n_windows - 1] = True
    longest = max(chosen, key=lambda pair: pair[1].n_windows)[1]
    rest = None if is_covered.all() else _without(text, listed)
    return Passages(listed, rest, text_at(longest.source))


def _spans(text: str) -> tuple[Spans, Spans]:
    """Where each unit of a text begins and ends in it."""
    alignment = aligned(text)
    is_word = np.zeros(len(alignment.normal) + 2, np.bool_)
    is_word[1:-1] = character_kinds(code_points(alignment.normal)) != 0
    if is_unspaced(alignment.normal):
        starts = np.flatnonzero(is_word[1:-1])
        return alignment.spans(starts, starts + 1)
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])
    return alignment.spans(edges[::2], edges[1::2])


def _without(text: str, passages: Iterable[Passage]) -> str:
    pieces, done = [""], 0
    for start, end, _ in sorted(passages):
        if start < end:
            pieces.append(text[done:start])
            end = _AFTER.match(text, end).end()  # type: ignore[union-attr]  # matches nothing, too
            done = max(done, end)
    if done == len(text):
        pieces[-1] = pieces[-1].rstrip()
    return "".join((*pieces, text[done:]))
