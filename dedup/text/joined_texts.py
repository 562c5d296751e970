"""Texts of one kind of script, joined, with their words and shingles as arrays.

A numpy call on the 400 words of one page costs as much as on 10,000 words. So texts are joined, in
portions that stay in the cache, and cut apart again at the end. What comes out is bit for bit what
each text has alone.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dedup.text.character_kinds import character_kinds
from dedup.text.codepoints import code_points, hash_pieces, hash_windows, joined

WORDS_A_SHINGLE = 3
CHARACTERS_A_SHINGLE = 5


class JoinedTexts:
    r"""The words of normal texts, or their characters, and their sets of shingles.

    Args:
        normal_texts: see `normalise`.
        unspaced: are all of them in scripts without spaces between words? Then the units are `\w`
            characters, else words, runs of `\w`.

    Attributes:
        text: all of them, with a line end after each.
        codes: its code points.
        starts: where each begins in it; at last, the length.
        units: hashes of words, or the code points of characters.
        bounds: where those of each text begin; at last, the length.
    """

    def __init__(self, normal_texts: Sequence[str], *, unspaced: bool) -> None:
        self.unspaced = unspaced
        self.text, self.starts = joined(normal_texts)
        self.codes = code_points(self.text)
        is_word = np.zeros(len(self.codes) + 1, np.bool_)
        np.not_equal(character_kinds(self.codes), 0, out=is_word[1:])  # each text ends with none
        if unspaced:
            places = np.flatnonzero(is_word[1:])
            self.units = self.codes[places].astype(np.uint64)
        else:
            edges = np.flatnonzero(is_word[1:] != is_word[:-1])
            places = edges[::2]
            self.units = hash_pieces(self.codes, places, edges[1::2])
        self.bounds = np.searchsorted(places, self.starts)

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.starts) - 1

    @property
    def width(self) -> int:
        """The number of units of a shingle."""
        return CHARACTERS_A_SHINGLE if self.unspaced else WORDS_A_SHINGLE

    @cached_property
    def _sets(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        width = self.width
        hashes = hash_windows(self.units, width)
        is_inside = np.ones(len(self.units), np.bool_)
        for back in range(1, width):  # windows that begin in one text and end in another
            crossing = self.bounds[1:] - back
            is_inside[crossing[crossing >= self.bounds[:-1]]] = False
        hashes = hashes[is_inside[: len(hashes)]]
        bounds = np.zeros_like(self.bounds)
        np.cumsum(np.maximum(np.diff(self.bounds) - width + 1, 0), out=bounds[1:])
        for start, stop in pairwise(bounds.tolist()):
            hashes[start:stop].sort()
        is_first = np.ones(len(hashes) + 1, np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:-1])
        is_first[bounds] = True
        places = np.flatnonzero(is_first)  # and, at last, the length
        return hashes[places[:-1]], np.searchsorted(places, bounds)

    @property
    def shingles(self) -> NDArray[np.uint64]:
        """The set of shingles of each text, ascending, one text after the other."""
        return self._sets[0]

    @property
    def shingle_bounds(self) -> NDArray[np.intp]:
        """Where the shingles of each text begin; at last, how many there are."""
        return self._sets[1]

    def sets(self) -> Iterator[NDArray[np.uint64]]:
        """Yield the shingles of each text."""
        for start, stop in pairwise(self.shingle_bounds.tolist()):
            yield self.shingles[start:stop]


def portions_of(places: Sequence[int], texts: Sequence[str], limit: int) -> Iterator[list[int]]:
    """Cut a list of places into portions whose texts, joined, have at most `limit` characters.

    A longer text is a portion by itself.
    """
    part: list[int] = []
    size = 0
    for place in places:
        length = len(texts[place]) + 1
        if part and size + length > limit:
            yield part
            part, size = [], 0
        part.append(place)
        size += length
    if part:
        yield part
