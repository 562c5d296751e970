"""Sketches that travel with the keys of rows, and rule out pairs before texts do."""

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.collection.rules import Rules
from dedup.detectors.sketches import AskedSets, shifts_of

WORDS = 16
"""Of 64 bits, in a sketch."""


def count_sketches(sizes: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    """How many sketches rows of so many shingles have: 0 where they are short, else 1 or 2.

    A sketch is of a part of the shingles, the smaller the more there are. Two rows are compared by
    the part of the larger one: so a row has a second sketch, of the next smaller part, where a row
    in reach may be of that.
    """
    reach = np.ceil(sizes / rules.threshold).astype(np.int64)
    is_long = sizes >= rules.config.short_shingles
    return np.where(is_long, 1 + (shifts_of(reach) > shifts_of(sizes)), 0)


def sketch_many(batch: Batch, rules: Rules) -> list[bytes]:
    """Compute the sketches of each document: so many as `count_sketches` says, one by one."""
    asked = AskedSets(batch)
    counts = count_sketches(asked.lengths, rules)
    found = [
        sketch.tobytes() if count else b""
        for sketch, count in zip(asked.sketches, counts, strict=True)
    ]
    twice = np.flatnonzero(counts == 2)
    shifts = shifts_of(asked.lengths[twice]) + 1
    for shift in np.unique(shifts).tolist():
        places = twice[shifts == shift]
        for place, sketch in zip(places.tolist(), asked.bits(shift, places), strict=True):
            found[place] += sketch.tobytes()
    return found


class RowSketches:
    """The sketches of some rows.

    Args:
        sizes: of the rows, in shingles.
        words: what `sketch_many` gives for them, one after the other; shape (n, WORDS).
        rules: the threshold.
    """

    def __init__(self, sizes: NDArray[np.int64], words: NDArray[np.uint64], rules: Rules) -> None:
        self._sizes, self._words = sizes, words
        self._counts = count_sketches(sizes, rules)
        self._starts = np.cumsum(self._counts) - self._counts
        self._shifts = shifts_of(sizes)
        self._n_bits = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
        # A little less than asked: rounding must not rule out what is just near enough.
        self._at_least = rules.threshold - 1e-9

    def may_resemble(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which pairs may have the resemblance; `first` are the smaller rows.

        For each bit that one row has and the other lacks, a shingle at least is not shared. Nothing
        is known of short rows, nor of two whose sketches are of different parts.
        """
        may = np.ones(len(first), np.bool_)
        step = self._shifts[second] - self._shifts[first]
        known = np.flatnonzero((self._counts[second] > 0) & (step < self._counts[first]))
        first, second, step = first[known], second[known], step[known]
        one, other = self._starts[first] + step, self._starts[second]
        common = np.bitwise_count(self._words[one] & self._words[other]).sum(axis=1, dtype=np.int64)
        sizes = self._sizes[first], self._sizes[second]
        shared = np.minimum(
            sizes[0] - self._n_bits[one] + common, sizes[1] - self._n_bits[other] + common
        )
        may[known] = shared >= self._at_least * (sizes[0] + sizes[1] - shared)
        return may
