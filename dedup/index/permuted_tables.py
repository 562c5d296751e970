"""An index of fingerprints that finds all within a few differing bits, exactly."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import UNBOUNDED, Arrays
from dedup.index.layouts import Layout
from dedup.index.lookup import Source, matches, near
from dedup.index.merge import Merge
from dedup.index.runs import Distances, Numbers, Run, Tail, require
from dedup.index.sorted_table import Digests, Indices
from dedup.index.words import Words, as_numbers, as_words, digest, split

TAIL_CAPACITY = 2048
"""Documents that lookups compare one by one: more slow lookups down, fewer slow inserts down."""

YOUNG_ROWS = 1 << 16
"""While the last run has at most this many rows, a full tail is merged with it at once, in
milliseconds."""

GROWTH = 16
"""Once merged, a run has at least this many times the rows of all later runs."""

MERGE_ROWS = 64
"""Rows that a merge copies, in each table, for each document added: it needs some 16 to 40."""

_QUERIES_AT_ONCE = 1 << 15
"""What a batch looks up at a time: so little that the temporary arrays stay in the cache."""

_QUERIES_OF_FILES = 1 << 9
"""The same where runs are in files: the system maps 16 pages at a time, so up to 32 MB a table."""

GREATEST_NUMBER = 2**32 - 1
"""Of a document: numbers are kept in 4 bytes."""

_MANY_HITS = 2048
"""With more candidates with near digests than this, array operations are faster than loops."""

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
    block are then adjacent, and a directory of all 2^16 values of the block has their places:

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
    2,048, which every lookup reads completely. A full tail becomes a run: tables of its own,
    never changed again. As long as the last run is young, at most 65,536 rows, it is made anew with
    each full tail. A run less than 16 times as long as all that follow it is merged with them:

        ██████████████████████████████████████████████████  ███  ▌  ░   <- tail
        10,000,000 rows                                     600,000  40,000

    So there are few runs (up to 1 million documents 2, up to 16 million 3, and one more while they
    are being merged), and a document is rewritten a few dozen times, a microsecond or so in all.
    Longer runs are merged bit by bit, some 10 milliseconds at each full tail, and searched until
    that is done: no single insert waits for a rebuild (the worst took 25 to 60 ms, at 1 million
    as at 50).

    **Lookups** change nothing and keep nothing.

    Many equal fingerprints (pages made from one template) are no special case: a lookup's time
    grows with the candidates of its buckets, in array operations, and with its answer.

    Numbers are the caller's, 0 to 2^32 - 1; a number may be given to several fingerprints, and the
    same pair added twice is found twice. Not thread-safe.

    Args:
        n_bits: 64 or 128.
        max_distance: the greatest distance that can be asked for: 0 to 9 (64 bits), 20 (128).
        layout: a `Layout`, or the name of a standard one, the number of its tables: for k = 3
            "4", "10", "16" and "20"; None: chosen by itself.
        expected_documents: what that choice is made for.
        arrays: makes the runs, in memory or in files; may be replaced, for those made later.

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
        arrays: Arrays = UNBOUNDED,
    ) -> None:
        if layout is None:
            layout = Layout.automatic(n_bits, max_distance, expected_documents)
        elif isinstance(layout, str):
            layout = Layout.named(layout, n_bits, max_distance)
        elif (layout.n_bits, layout.max_distance) != (n_bits, max_distance):
            raise ValueError(
                f"layout must be for {n_bits} bits and distance {max_distance}, got one for"
                f" {layout.n_bits} and {layout.max_distance}"
            )
        self.layout = layout
        self.n_bits = n_bits
        self.max_distance = max_distance
        self._n_words = n_bits // 64
        self.arrays = arrays
        self._runs: list[Run] = []
        self._tail = Tail(TAIL_CAPACITY, self._n_words)
        self._sorted_tail: Run | None = None
        self._merge: Merge | None = None

    def __len__(self) -> int:
        return len(self._tail) + sum(map(len, self._runs))

    @property
    def size_bytes(self) -> int:
        """Of all arrays, in memory and in files. While runs are merged, theirs counts twice."""
        merge_bytes = self._merge.size_bytes if self._merge else 0
        return self._tail.size_bytes + merge_bytes + sum(run.size_bytes for run in self._runs)

    def add(self, fingerprint: int, number: int) -> None:
        """Make `number` findable under `fingerprint`. Amortised O(log n), see the class."""
        fingerprint, number = self._checked(fingerprint), _checked_number(number)
        self._sorted_tail = None
        self._tail.append(split(fingerprint, self._n_words), digest(fingerprint), number)
        if self._tail.is_full:
            self._flush()

    def add_many(self, fingerprints: NDArray[np.uint64], numbers: NDArray[Any]) -> None:
        """The same as `add` for each pair. The more at once, the faster.

        `fingerprints` has shape (n,) for 64 bits and (n, 2) for 128, the high word first.
        """
        words = as_words(fingerprints, self.n_bits)
        checked = as_numbers(numbers, len(words), GREATEST_NUMBER)
        self._sorted_tail = None
        if len(words) < self._tail.space:
            self._tail.extend(words, checked)
        else:
            self._flush((words, checked))

    def find(self, fingerprint: int, max_distance: int | None = None) -> list[tuple[int, int]]:
        """All (number, distance) within `max_distance`, nearest first, then by number.

        Raises:
            ValueError: `max_distance` is greater than the index was made for, or the fingerprint
                has too many bits.
        """
        fingerprint, limit = self._checked(fingerprint), self._limit(max_distance)
        if self.arrays.has_files:
            self.arrays.note_lookups(1)
        keys = self.layout.keys(fingerprint)
        parts: list[Digests] = []
        sources: list[Source] = []
        if len(self._tail):
            parts.append(self._tail.digests)
            sources.append((self._tail, _SAME_ROWS, 0, len(self._tail)))
        for run in self._runs:
            # As many as there are tables; to check that with `strict` costs time.
            for key, (shift, starts, digests, row_at) in zip(keys, run.lookups):  # noqa: B905 -- see above
                bucket = key >> shift
                start = starts[bucket]
                stop = starts[bucket + 1]
                if start < stop:
                    parts.append(digests[start:stop])
                    sources.append((run, row_at, start, stop))
        hits = near(parts, fingerprint, limit)
        if not hits:
            return []
        if len(hits) > _MANY_HITS:
            return self._find_many_matches(fingerprint, limit)
        return matches(hits, sources, fingerprint, limit)

    def _find_many_matches(self, fingerprint: int, limit: int) -> list[tuple[int, int]]:
        """The answer of `find` by array operations, for thousands of pages from one template."""
        query = np.array([split(fingerprint, self._n_words)], dtype=np.uint64)
        _, numbers, bits = self._batch(query, 0, limit, self._searchable())
        return list(zip(numbers.tolist(), bits.tolist(), strict=True))

    def find_many(
        self, fingerprints: NDArray[np.uint64], max_distance: int | None = None
    ) -> tuple[Indices, Numbers, Distances]:
        """The answers of `find` for many fingerprints; for 10,000 and more, 10 times as fast.

        Half a millisecond goes into sorting the tail, if it has grown since the last call: then
        `find` is faster for less than 50.

        Returns three arrays of equal length: indices into `fingerprints`, numbers and distances,
        sorted by index, distance, number.
        """
        queries, limit = as_words(fingerprints, self.n_bits), self._limit(max_distance)
        runs = self._searchable()
        at_once = _QUERIES_OF_FILES if self.arrays.has_files else _QUERIES_AT_ONCE
        return _columns(
            self._batch(queries[start : start + at_once], start, limit, runs)
            for start in range(0, max(1, len(queries)), at_once)
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
            self.arrays.trim()
        matches = np.sort(np.concatenate(packed))
        indices = (matches >> np.uint64(40)).astype(np.intp) + start
        return indices, matches.astype(np.uint32), (matches >> np.uint64(32)).astype(np.uint8)

    def _searchable(self) -> list[Run]:
        """The runs, and the tail as one more: for a batch, sorting it pays."""
        if not len(self._tail):
            return self._runs
        if self._sorted_tail is None:
            words, numbers = self._tail.words.copy(), self._tail.numbers.copy()
            self._sorted_tail = Run.build(self.layout, words, numbers)
        return [*self._runs, self._sorted_tail]

    def _flush(self, *more: tuple[Words, Numbers]) -> None:
        """Make a run of the tail and more documents, or make the last run longer by them.

        Nothing changes until all is computed, so running out of memory costs no document.
        """
        parts = [(self._tail.words, self._tail.numbers), *more]
        n_rows = sum(len(numbers) for _, numbers in parts)
        keep = len(self._runs)
        is_young = keep and len(self._runs[-1]) + n_rows <= YOUNG_ROWS
        if is_young and not (self._merge and self._runs[-1] in self._merge.runs):
            keep -= 1
            parts.insert(0, (self._runs[keep].words, self._runs[keep].numbers))
        self._runs = [*self._runs[:keep], self._built(parts)]
        self._tail.clear()
        self._advance_merge(n_rows * MERGE_ROWS * self.layout.n_tables)

    def _built(self, parts: Sequence[tuple[Words, Numbers]]) -> Run:
        """One run of all these documents."""
        n_rows = sum(len(numbers) for _, numbers in parts)
        words = self.arrays.empty((n_rows, self._n_words), np.uint64)
        numbers = self.arrays.empty(n_rows, np.uint32)
        np.concatenate([each for each, _ in parts], out=words)
        np.concatenate([each for _, each in parts], out=numbers)
        return Run.build(self.layout, words, numbers, self.arrays)

    def _advance_merge(self, n_rows: int) -> None:
        """Continue the merge, if one is needed, by `n_rows` rows of a table."""
        self._begin_merge()
        if self._merge is None:
            return
        merge, self._merge = self._merge, None  # one that fails is begun anew
        if not merge.advance(n_rows):
            self._merge = merge
            return
        place = self._runs.index(merge.runs[0])
        self._runs[place : place + len(merge.runs)] = [merge.run]
        self._begin_merge()

    def _begin_merge(self) -> None:
        if self._merge is None and (runs := self._to_merge()):
            self._merge = Merge(self.layout, runs, self.arrays)

    def _to_merge(self) -> list[Run]:
        """The runs that are full grown, from the first that is too short for what follows it."""
        grown = self._runs[:]
        if grown and len(grown[-1]) <= YOUNG_ROWS:
            grown.pop()
        following = sum(map(len, grown))
        for place, run in enumerate(grown[:-1]):
            following -= len(run)
            if len(run) < GROWTH * following:
                return grown[place:]
        return []

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
            self._merge is not None or not self._to_merge(),
            f"grown runs have {GROWTH} times the rows of all that follow",
        )
        merging = [] if self._merge is None else self._merge.runs
        require(all(run in self._runs for run in merging), "what is being merged is searched")


def _checked_number(number: int) -> int:
    number = operator.index(number)
    if not 0 <= number <= GREATEST_NUMBER:
        raise ValueError(f"number must be 0 to {GREATEST_NUMBER}, got {number!r}")
    return number


def _columns(parts: Iterable[tuple[Any, Numbers, Distances]]) -> tuple[Any, Numbers, Distances]:
    """Three long arrays from many short ones."""
    first, second, third = map(np.concatenate, zip(*parts, strict=True))
    return first, second, third
