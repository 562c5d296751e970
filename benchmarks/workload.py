"""Fingerprints to index and to look up, and the right answers by linear scan."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Fingerprints = NDArray[np.uint64]


@dataclass(frozen=True)
class Workload:
    """Documents' fingerprints, shape (n, n_bits / 64), numbered from 0, and lookups.

    Attributes:
        new: lookups of fingerprints that are not there, nor anything near them, if random.
        known: lookups of indexed fingerprints.
        checked: lookups whose answers are compared with a linear scan: copies of some
            fingerprints with 0 to `max_distance` + 1 bits flipped, and some of `new`.
    """

    fingerprints: Fingerprints
    new: Fingerprints
    known: Fingerprints
    checked: Fingerprints
    max_distance: int

    @cached_property
    def distances(self) -> list[tuple[NDArray[np.intp], NDArray[np.uint8]]]:
        """For each of `checked` the numbers within `max_distance`, and how far they are."""
        return [scan(self.fingerprints, query, self.max_distance) for query in self.checked]

    def truth(self, limit: int) -> set[tuple[int, int]]:
        """All (index in `checked`, number) within `limit`."""
        return {
            (index, int(number))
            for index, (numbers, bits) in enumerate(self.distances)
            for number in numbers[bits <= limit]
        }


def random_workload(
    n_documents: int, max_distance: int, seed: int, *, n_bits: int = 64, n_lookups: int
) -> Workload:
    """Random fingerprints; each checked lookup is near one of them."""
    rng = np.random.default_rng(seed)
    n_words = n_bits // 64
    fingerprints = rng.integers(0, 2**64, (n_documents, n_words), dtype=np.uint64)
    new = rng.integers(0, 2**64, (n_lookups, n_words), dtype=np.uint64)
    return _workload(fingerprints, new, max_distance, rng)


def real_workload(fingerprints: Fingerprints, max_distance: int, seed: int) -> Workload:
    """The fingerprints of a collection; every fifth is looked up and not indexed."""
    is_new = np.arange(len(fingerprints)) % 5 == 4
    rng = np.random.default_rng(seed)
    return _workload(fingerprints[~is_new], fingerprints[is_new], max_distance, rng)


def _workload(
    fingerprints: Fingerprints, new: Fingerprints, max_distance: int, rng: np.random.Generator
) -> Workload:
    known = fingerprints[rng.integers(0, len(fingerprints), len(new))]
    planted = fingerprints[rng.integers(0, len(fingerprints), 200)]
    n_bits = 64 * fingerprints.shape[1]
    for row in range(len(planted)):
        for bit in rng.choice(n_bits, row % (max_distance + 2), replace=False).tolist():
            planted[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    checked = np.concatenate((planted, new[:50]))
    return Workload(fingerprints, new, known, checked, max_distance)


def scan(
    fingerprints: Fingerprints, query: Fingerprints, limit: int
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Compare one fingerprint with all."""
    bits = np.bitwise_count(fingerprints[:, 0] ^ query[0])
    for word in range(1, fingerprints.shape[1]):
        bits = bits + np.bitwise_count(fingerprints[:, word] ^ query[word])
    near = np.flatnonzero(bits <= limit)
    return near, bits[near]


def as_ints(fingerprints: Fingerprints) -> list[int]:
    """The fingerprints as Python's own integers."""
    if fingerprints.shape[1] == 1:
        whole: list[int] = fingerprints[:, 0].tolist()
        return whole
    return [high << 64 | low for high, low in fingerprints.tolist()]


def as_column(fingerprints: Fingerprints) -> Fingerprints:
    """The form that `PermutedTables` takes: one dimension for 64 bits."""
    return fingerprints[:, 0] if fingerprints.shape[1] == 1 else fingerprints
