"""An index of fingerprints that finds all within a few differing bits, exactly."""

import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.index.layouts import Layout
from dedup.index.runs import (
    REMOVED,
    Digests,
    Distances,
    Indices,
    Numbers,
    Run,
    Tail,
    require,
)
from dedup.index.words import Words, as_numbers, as_words, digest, split

TAIL_CAPACITY = 2048
"""Documents that lookups compare one by one: more slow lookups down, fewer slow inserts down."""

GROWTH = 8
"""A run has at least so many times the rows of the next, so a million documents make 4 at most."""

_QUERIES_AT_ONCE = 1 << 15
"""What a batch looks up at a time: so little that the temporary arrays stay in the cache."""

_MANY_HITS = 2048
"""From so many candidates with near digests on, array operations are faster than loops."""

_SAME_ROWS = range(TAIL_CAPACITY)
"""The rows of the tail, which has no order but its own."""


class PermutedTables:
    """Documents by fingerprint; finds those whose fingerprints differ in at most k bits.

    Nothing within the distance is missed and nothing else returned, whatever the layout.

    **Tables.** Two 64-bit fingerprints that differ in at most 3 bits agree in at least one of their
    four blocks of 16 bits, since 3 bits cannot spoil 4 blocks:

        query  0110100111010110 1011000111110010 0000111101011100 1101001001101011
        other  0110101111010110 1011000111110010 0000111101001100 1101001001101001
                     ^                                      ^                   ^
                                equal

    So there is a table for each block. In it, the block is moved to the front of every fingerprint
    (the permutation), and the documents are sorted by it. Those that agree with the query in the
    block then stand side by side, and a directory of all 2^16 values of the block tells where:

        block 2           | other blocks                         directory
        10110001 11110001  …                                      …
        10110001 11110010  0110101111010110 …   <- candidates     10110001 11110010: 81 to 83
        10110001 11110010  1110000101101000 …   <-                10110001 11110011: 83 to 90
        10110001 11110011  …                                      …

    With a million random fingerprints each of the 4 tables gives 15 candidates on average. They are
    compared with the query, 32-bit digests first (see `words.py`), the full fingerprints of the few
    that are left after that. A table holds 4 bytes of digest and 4 bytes of row number for each
    document; the fingerprint, 8 or 16 bytes, and the document's number, 4 bytes, are kept once. So
    4 tables take 44 bytes a document. `Layout` has other cuts: more tables, fewer candidates. The
    default is the one of least memory that is at most twice as slow as the fastest for
    `expected_documents`; it may be far off, that costs time or memory and no answer changes.

    **Runs.** Sorted tables cannot be inserted into cheaply. So documents are collected in a tail of
    2,048, which every lookup reads from end to end. A full tail becomes a run: tables of its own,
    never changed again. Runs at the end less than 8 times as long as what follows them are merged:

        ██████████████████████████████████████████████████  ██████  ▌  ░   <- tail
        901,120 rows                                        88,064  4,096

    So there are few runs, and a document is rewritten a few dozen times, a microsecond or so each.
    The worst single insert rebuilds everything.

    **Removing** marks a row, which goes when its run is merged, and at the latest when half of all
    rows are marked. **Lookups** change nothing and keep nothing.

    Many equal fingerprints (pages made from one template) are no special case: a lookup's time
    grows with the candidates of its buckets, in array operations, and with its answer.

    Numbers are the caller's, 0 to 2^32 - 2; a number may be given to several fingerprints, and the
    same pair added twice is found twice. Not thread-safe.

    Args:
        n_bits: 64 or 128.
        max_distance: the greatest distance that can be asked for: 0 to 9 (64 bits), 20 (128).
        layout: a `Layout`, or the name of a standard one, the number of its tables: for k = 3
            "4", "10", "16" and "20"; None: chosen by itself.
        expected_documents: what that choice is made for.

    Raises:
        ValueError: one of the arguments is out of its range, or the layout does not fit the others.

    Source: Manku, Jain and Das Sarma, Detecting near-duplicates for web crawling, WWW 2007,
    sections 3 and 4. Deviations: a directory instead of interpolation search; sorted only as far
    as the directory goes; runs, because the paper's tables are built once and for all.

    >>> index = PermutedTables()
    >>> index.add(0b0000, 1)
    >>> index.add(0b0111, 2)
    >>> index.add(0b1111, 3)
    >>> index.find(0b0011)
    [(2, 1), (1, 2), (3, 2)]
    >>> index.find(0b0011, max_distance=1)
    [(2, 1)]
    """

    def __init__(
        self,
        n_bits: int = 64,
        max_distance: int = 3,
        *,
        layout: Layout | str | None = None,
        expected_documents: int = 1_000_000,
    ) -> None:
        if layout is None:
            layout = Layout.automatic(n_bits, max_distance, expected_documents)
        elif isinstance(layout, str):
            layout = Layout.named(layout, n_bits, max_distance)
        elif (layout.n_bits, layout.max_distance) != (n_bits, max_distance):
            raise ValueError(
                f"layout must be one for {n_bits} bits and distance {max_distance}, "
                f"got one for {layout.n_bits} and {layout.max_distance}"
            )
        self.layout = layout
        self.n_bits = n_bits
        self.max_distance = max_distance
        self._n_words = n_bits // 64
        self._runs: list[Run] = []
        self._tail = Tail(TAIL_CAPACITY, self._n_words)
        self._removed = 0

    def __len__(self) -> int:
        return self._n_rows() - self._removed

    @property
    def size_bytes(self) -> int:
        """Memory of all arrays. While runs are merged, it takes up to as much again."""
        return self._tail.size_bytes + sum(run.size_bytes for run in self._runs)

    def add(self, fingerprint: int, number: int) -> None:
        """Make `number` findable under `fingerprint`. Amortised O(log n), see the class."""
        fingerprint, number = self._checked(fingerprint), _checked_number(number)
        self._tail.append(split(fingerprint, self._n_words), digest(fingerprint), number)
        if self._tail.is_full:
            self._merge(self._tail.words, self._tail.numbers)

    def add_many(self, fingerprints: NDArray[np.uint64], numbers: NDArray[Any]) -> None:
        """The same as `add` for each pair. The more at once, the faster.

        `fingerprints` has shape (n,) for 64 bits and (n, 2) for 128, the high word first.
        """
        words = as_words(fingerprints, self.n_bits)
        checked = as_numbers(numbers, len(words), REMOVED - 1)
        if len(words) < self._tail.space:
            self._tail.extend(words, checked)
        else:
            self._merge(
                np.concatenate((self._tail.words, words)),
                np.concatenate((self._tail.numbers, checked)),
            )

    def remove(self, fingerprint: int, number: int) -> bool:
        """Forget one entry of `number` under `fingerprint`; False if there is none."""
        fingerprint, number = self._checked(fingerprint), _checked_number(number)
        words = split(fingerprint, self._n_words)
        keys = self.layout.keys(fingerprint)
        if not (
            self._tail.remove(words, number)
            or any(run.remove(keys[0], words, number) for run in self._runs)
        ):
            return False
        self._removed += 1
        if self._removed > max(TAIL_CAPACITY, self._n_rows() // 2):
            self._merge(self._tail.words, self._tail.numbers, keep_runs=0)
        return True

    def find(self, fingerprint: int, max_distance: int | None = None) -> list[tuple[int, int]]:
        """All (number, distance) within `max_distance`, nearest first, then by number.

        Raises:
            ValueError: `max_distance` is greater than the index was made for, or the fingerprint
                has too many bits.
        """
        fingerprint, limit = self._checked(fingerprint), self._limit(max_distance)
        keys = self.layout.keys(fingerprint)
        parts: list[Digests] = []
        sources: list[tuple[Run | Tail, Sequence[int], int]] = []
        if len(self._tail):
            parts.append(self._tail.digests)
            sources.append((self._tail, _SAME_ROWS, 0))
        for run in self._runs:
            for key, (shift, starts, table_digests, row_at) in zip(keys, run.lookups, strict=True):
                bucket = key >> shift
                start = starts[bucket]
                stop = starts[bucket + 1]
                if start < stop:
                    parts.append(table_digests[start:stop])
                    sources.append((run, row_at, start))
        hits = _near(parts, fingerprint, limit)
        if len(hits) > _MANY_HITS:
            return self._find_many_matches(fingerprint, limit)
        return _matches(hits, parts, sources, fingerprint, limit) if hits else []

    def _find_many_matches(self, fingerprint: int, limit: int) -> list[tuple[int, int]]:
        """The answer of `find` by array operations, for thousands of pages from one template."""
        query = np.array([split(fingerprint, self._n_words)], dtype=np.uint64)
        _, numbers, bits = self._batch(query, 0, limit, self._searchable())
        return list(zip(numbers.tolist(), bits.tolist(), strict=True))

    def find_many(
        self, fingerprints: NDArray[np.uint64], max_distance: int | None = None
    ) -> tuple[Indices, Numbers, Distances]:
        """The answers of `find` for many fingerprints; for 10,000 and more, 10 times as fast.

        Half a millisecond goes into sorting the tail, so for less than 50 `find` is faster.

        Returns three arrays of equal length: indices into `fingerprints`, numbers and distances,
        sorted by index, distance, number.
        """
        queries, limit = as_words(fingerprints, self.n_bits), self._limit(max_distance)
        runs = self._searchable()
        return _columns(
            self._batch(queries[start : start + _QUERIES_AT_ONCE], start, limit, runs)
            for start in range(0, max(1, len(queries)), _QUERIES_AT_ONCE)
        )

    def _batch(
        self, queries: Words, start: int, limit: int, runs: list[Run]
    ) -> tuple[Indices, Numbers, Distances]:
        """The matches of some queries, sorted; `start` is the index of the first of them."""
        # One integer for each match (index, distance, number) sorts faster than three columns.
        packed = [np.empty(0, dtype=np.uint64)]
        for run in runs:
            for indices, rows, bits in run.search(queries, limit):
                high = indices.astype(np.uint64) << np.uint64(8) | bits
                packed.append(high << np.uint64(32) | run.numbers[rows])
        matches = np.sort(np.concatenate(packed))
        indices = (matches >> np.uint64(40)).astype(np.intp) + start
        return indices, matches.astype(np.uint32), (matches >> np.uint64(32)).astype(np.uint8)

    def pairs(self, max_distance: int | None = None) -> tuple[Numbers, Numbers, Distances]:
        """Each pair of entries within `max_distance` once: smaller number, greater one, distance.

        Sorted by the numbers. Takes the time of looking up every document with `find_many`; but
        n equal fingerprints are n (n - 1) / 2 pairs.
        """
        none = np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8)
        found = self._later_entries(self._limit(max_distance))
        firsts, seconds, bits = _columns(chain([none], found))
        smaller, greater = np.minimum(firsts, seconds), np.maximum(firsts, seconds)
        order = np.lexsort((bits, greater, smaller))
        return smaller[order], greater[order], bits[order]

    def _later_entries(self, limit: int) -> Iterator[tuple[Numbers, Numbers, Distances]]:
        """For each entry those within `limit` that come later, by run and row."""
        runs = self._searchable()
        for place, run in enumerate(runs):
            for start in range(0, len(run), _QUERIES_AT_ONCE):
                words = run.words[start : start + _QUERIES_AT_ONCE]
                for other in runs[place:]:
                    for indices, rows, bits in other.search(words, limit):
                        firsts = run.numbers[indices + start]
                        keep = firsts != REMOVED
                        if other is run:
                            keep &= rows > indices + start
                        yield firsts[keep], other.numbers[rows[keep]], bits[keep]

    def _searchable(self) -> list[Run]:
        """The runs, and the tail as one more: for a batch, sorting it pays."""
        if not len(self._tail):
            return self._runs
        return [*self._runs, Run(self.layout, self._tail.words.copy(), self._tail.numbers.copy())]

    def _merge(self, words: Words, numbers: Numbers, *, keep_runs: int | None = None) -> None:
        """Make a run of `words` and `numbers`, and of the last runs unless they are long enough.

        Nothing changes until all is computed, so running out of memory costs no document.
        """
        if keep_runs is None:
            keep_runs, size = len(self._runs), len(numbers)
            while keep_runs and len(self._runs[keep_runs - 1]) < GROWTH * size:
                keep_runs -= 1
                size += len(self._runs[keep_runs])
        merged = self._runs[keep_runs:]
        words = np.concatenate([*(run.words for run in merged), words])
        numbers = np.concatenate([*(run.numbers for run in merged), numbers])
        stays = numbers != REMOVED
        n_removed = len(numbers) - int(np.count_nonzero(stays))
        if n_removed:
            words, numbers = words[stays], numbers[stays]
        new = [Run(self.layout, words, numbers)] if len(numbers) else []
        self._runs = self._runs[:keep_runs] + new
        self._tail.clear()
        self._removed -= n_removed

    def _n_rows(self) -> int:
        return len(self._tail) + sum(map(len, self._runs))

    def _limit(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if not 0 <= max_distance <= self.max_distance:
            raise ValueError(
                f"max_distance must be 0 to {self.max_distance}, for which the index was made, "
                f"got {max_distance!r}"
            )
        return max_distance

    def _checked(self, fingerprint: int) -> int:
        fingerprint = operator.index(fingerprint)
        if fingerprint >> self.n_bits:
            raise ValueError(f"fingerprint must be 0 to 2**{self.n_bits} - 1, got {fingerprint!r}")
        return fingerprint

    def _check(self) -> None:
        """Raise `AssertionError` where an invariant does not hold."""
        for run in self._runs:
            run.check()
        require(not self._tail.is_full, "a full tail has become a run")
        sizes = [len(run) for run in self._runs]
        require(all(sizes), "no run is empty")
        require(
            all(before >= GROWTH * after for before, after in pairwise(sizes)),
            f"each run has {GROWTH} times the rows of the next",
        )
        marked = [np.count_nonzero(run.numbers == REMOVED) for run in self._runs]
        removed = sum(marked) + np.count_nonzero(self._tail.numbers == REMOVED)
        require(bool(removed == self._removed), "marked rows are counted")
        require(self._removed <= max(TAIL_CAPACITY, self._n_rows() // 2), "few rows are marked")


def _checked_number(number: int) -> int:
    number = operator.index(number)
    if not 0 <= number < REMOVED:
        raise ValueError(f"number must be 0 to {REMOVED - 1}, got {number!r}")
    return number


def _near(parts: list[Digests], fingerprint: int, limit: int) -> list[int]:
    """Where in the concatenated `parts` digests are within `limit`, ascending."""
    if not parts:
        return []
    # One array for all tables of all runs: a call of numpy costs as much as 1,000 candidates.
    # Operands as arrays without dimension: numpy takes those in half the time of a scalar.
    differing = np.concatenate(parts)
    np.bitwise_xor(differing, np.array(digest(fingerprint), np.uint32), differing)
    is_near = np.bitwise_count(differing) <= np.array(limit, np.uint8)
    hits: list[int] = is_near.nonzero()[0].tolist()
    return hits


def _matches(
    hits: list[int],
    parts: list[Digests],
    sources: list[tuple[Run | Tail, Sequence[int], int]],
    fingerprint: int,
    limit: int,
) -> list[tuple[int, int]]:
    """The answer of `find`, from the `hits` in the concatenated `parts`, ascending."""
    begins = list(accumulate(map(len, parts), initial=0))
    seen: set[tuple[Run | Tail, int]] = set()
    matches = []
    for hit in hits:
        part = bisect_right(begins, hit) - 1
        owner, row_at, start = sources[part]
        row = row_at[start + hit - begins[part]]
        if (owner, row) in seen:  # another table had it
            continue
        seen.add((owner, row))
        distance = (owner.fingerprint(row) ^ fingerprint).bit_count()
        number = owner.number_at[row]
        if distance <= limit and number != REMOVED:
            matches.append((distance, number))
    matches.sort()
    return [(number, distance) for distance, number in matches]


def _columns(parts: Iterable[tuple[Any, Numbers, Distances]]) -> tuple[Any, Numbers, Distances]:
    """Three long arrays from many short ones."""
    first, second, third = map(np.concatenate, zip(*parts, strict=True))
    return first, second, third
