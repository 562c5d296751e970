"""A single lookup, where every call of numpy counts."""

import sys
from collections.abc import Sequence

import numpy as np

from dedup.index.runs import Run, Tail
from dedup.index.sorted_table import Digests
from dedup.index.words import digest

_LIMITS = [np.array(limit, np.uint8) for limit in range(32)]
"""Distances as numpy compares them fastest, made once."""

_NO_HIT = sys.maxsize

Source = tuple[Run | Tail, Sequence[int], int, int]
"""Where a part of the candidates comes from: places `start` to `stop` of a table or the tail."""


def near(parts: list[Digests], fingerprint: int, limit: int) -> list[int]:
    """Where in the concatenated `parts` digests are within `limit`, ascending."""
    if not parts:
        return []
    # One array for all tables of all runs: a call of numpy costs as much as 1,000 candidates.
    # Operands as arrays without dimension: numpy takes those in half the time of a scalar.
    differing = np.concatenate(parts)
    np.bitwise_xor(differing, np.array(digest(fingerprint), np.uint32), differing)
    is_near = np.less_equal(np.bitwise_count(differing), _LIMITS[limit])
    hits: list[int] = is_near.nonzero()[0].tolist()
    return hits


def matches(
    hits: list[int], sources: list[Source], fingerprint: int, limit: int
) -> list[tuple[int, int]]:
    """The answer of `find`, from the `hits` in the concatenated parts, ascending."""
    found = []
    remaining = iter(hits)
    hit = next(remaining)
    end = 0
    owner: Run | Tail | None = None
    seen: set[int] = set()
    for source, row_at, start, stop in sources:
        end += stop - start
        if hit >= end:
            continue
        if source is not owner:
            owner, seen = source, set()
        offset = stop - end
        while hit < end:
            row = row_at[hit + offset]
            if row not in seen:  # another table had it
                seen.add(row)
                if source.n_words == 1:
                    distance = (source.word_at[row] ^ fingerprint).bit_count()
                else:
                    distance = (source.fingerprint(row) ^ fingerprint).bit_count()
                if distance <= limit:
                    found.append((distance, source.number_at[row]))
            hit = next(remaining, _NO_HIT)
    if len(found) > 1:
        found.sort()
    return [(number, distance) for distance, number in found]
