"""The set of shingles of a text: what resemblance is computed on."""

import numpy as np
from numpy.typing import NDArray

from dedup.text.joined_texts import JoinedTexts


def shingle_hashes(normal_text: str, *, unspaced: bool) -> NDArray[np.uint64]:
    r"""Return the hashes of the distinct shingles of `normal_text`, ascending.

    A shingle is 3 consecutive words (runs of `\w`), or 5 consecutive `\w` characters of an
    `unspaced` text, where what stands between them does not count. A text with fewer words, or
    characters, has none. Two different shingles share a hash with probability 2**-64.

    >>> len(shingle_hashes("a rose is a rose is a rose", unspaced=False))
    3
    """
    return JoinedTexts([normal_text], unspaced=unspaced).shingles


def count_distinct(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and how often each occurs.

    The same as `numpy.unique_counts`, in a third of its time or less.
    """
    values = np.sort(values)
    is_first = np.ones(len(values) + 1, np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:-1])
    places = np.flatnonzero(is_first)  # and, at last, the length
    return values[places[:-1]], places[1:] - places[:-1]
