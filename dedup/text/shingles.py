"""The set of shingles of a text: what resemblance is computed on."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dedup.text.character_kinds import character_kinds
from dedup.text.codepoints import code_points, hash_windows, hash_words

WORDS_A_SHINGLE = 3
CHARACTERS_A_SHINGLE = 5


def shingle_hashes(normal_text: str, *, unspaced: bool) -> NDArray[np.uint64]:
    r"""Return the hashes of the distinct shingles of `normal_text`, ascending.

    A shingle is 3 consecutive words (runs of `\w`), or 5 consecutive `\w` characters of an
    `unspaced` text, where what stands between them does not count. A text with fewer words, or
    characters, has none. Two different shingles share a hash with probability 2**-64.

    >>> len(shingle_hashes("a rose is a rose is a rose", unspaced=False))
    3
    """
    if unspaced:
        hashes = hash_windows(word_characters(normal_text), CHARACTERS_A_SHINGLE)
    else:
        hashes = hash_windows(word_hashes(normal_text), WORDS_A_SHINGLE)
    return count_distinct(hashes)[0]


@lru_cache(maxsize=1)  # shingles and features of a document follow each other
def word_hashes(normal_text: str) -> NDArray[np.uint64]:
    r"""Return the hash of each word, a run of `\w`, in their order."""
    codes = code_points(normal_text)
    return hash_words(codes, character_kinds(codes) != 0)


@lru_cache(maxsize=1)
def word_characters(normal_text: str) -> NDArray[np.uint64]:
    r"""Return the code points of the `\w` characters in their order."""
    codes = code_points(normal_text)
    characters: NDArray[np.uint64] = codes[character_kinds(codes) != 0].astype(np.uint64)
    return characters


def count_distinct(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and how often each occurs.

    The same as `numpy.unique_counts`, in a third of its time or less.
    """
    values = _sorted(values)
    is_first = np.ones(len(values) + 1, np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:-1])
    places = np.flatnonzero(is_first)  # and, at last, the length
    return values[places[:-1]], places[1:] - places[:-1]


def _sorted(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort hashes, which differ in their upper 16 bits mostly.

    numpy sorts 16-bit keys by radix; what is left to the stable sort is in order already but for a
    few neighbours. For 6,000 hashes 36 µs, where one sort takes 128.
    """
    if len(values) > _RADIX_FROM:
        order = np.argsort((values >> np.uint64(48)).astype(np.uint16), kind="stable")
        values = values[order]
    return np.sort(values, kind="stable")


_RADIX_FROM = 512
"""Below it one sort is as fast."""
