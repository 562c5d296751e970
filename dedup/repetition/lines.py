"""The lines of texts as arrays: hashes of lines and of neighbours, and how long lines are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from dedup.text.character_kinds import UNSPACED, character_kinds
from dedup.text.codepoints import code_points, hash_pieces, hash_windows, joined, mix

MIN_WORDS = 8
MIN_CHARACTERS = 12
"""A line with fewer words (in scripts without spaces: characters) may be a value or a label."""

_LINE_END = 10

Keys = NDArray[np.uint64]


class Lines(NamedTuple):
    """The lines of some texts, one after the other.

    Attributes:
        keys: one of each line's characters.
        pairs: one of each line with the next one; without meaning at the end of a text.
        words: the number of words of each line; characters in scripts without spaces.
        is_long: has the line `MIN_WORDS`, or as many characters, or some of both?
        first: the number of each text's first line; at the end, that of all lines.
    """

    keys: Keys
    pairs: Keys
    words: NDArray[np.intp]
    is_long: NDArray[np.bool_]
    first: NDArray[np.intp]


def lines_of(texts: Sequence[str], hosts: Sequence[str]) -> Lines:
    r"""Return the lines of texts, each of a host. Keys of different hosts differ.

    >>> found = lines_of(["One, two.\nThree", "三个字"], ["a.example", "b.example"])
    >>> found.words.tolist(), found.first.tolist()
    ([2, 1, 3], [0, 2, 3])
    """
    text, starts = joined(texts)
    codes = code_points(text)
    ends = np.flatnonzero(codes == _LINE_END)
    begins = np.concatenate((np.zeros(min(1, len(ends)), np.intp), ends[:-1] + 1))
    first = np.searchsorted(begins, starts)
    seeds = np.fromiter(map(_seed, hosts), np.uint64, len(hosts))
    keys = mix(hash_pieces(codes, begins, ends) ^ np.repeat(seeds, np.diff(first)))
    pairs = np.zeros(len(keys), np.uint64)
    pairs[:-1] = hash_windows(keys, 2)
    spaced, unspaced = _counts(codes, begins, ends)
    is_long = MIN_CHARACTERS * spaced + MIN_WORDS * unspaced >= MIN_CHARACTERS * MIN_WORDS
    return Lines(keys, pairs, spaced + unspaced, is_long, first)


def _seed(host: str) -> int:
    return xxh3_64_intdigest(host.encode(errors="surrogatepass"))


def _counts(
    codes: NDArray[np.uint32] | NDArray[np.uint8],
    begins: NDArray[np.intp],
    ends: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The words with spaces around them, and the characters without, of each line."""
    kinds = character_kinds(codes)
    is_unspaced = kinds == UNSPACED
    is_spaced = (kinds != 0) & ~is_unspaced
    is_first = is_spaced.copy()
    is_first[1:] &= ~is_spaced[:-1]
    spaced, unspaced = (_sums(each, begins, ends) for each in (is_first, is_unspaced))
    return spaced, unspaced


def _sums(
    values: NDArray[np.bool_], begins: NDArray[np.intp], ends: NDArray[np.intp]
) -> NDArray[np.intp]:
    places = np.flatnonzero(values)
    return np.searchsorted(places, ends) - np.searchsorted(places, begins)


def stand_once(keys: Keys, owners: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which keys their owner has only once."""
    order = np.lexsort((keys, owners))
    differs = np.ones(len(keys) + 1, np.bool_)
    differs[1:-1] = (np.diff(keys[order]) != 0) | (np.diff(owners[order]) != 0)
    found = np.zeros(len(keys), np.bool_)
    found[order] = differs[1:] & differs[:-1]
    return found
