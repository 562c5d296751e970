"""The two things an index consists of: runs, which never grow, and a tail, which only grows."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import UNBOUNDED, Arrays
from dedup.index.layouts import Layout
from dedup.index.sorted_table import Digests, Indices, Table, elements
from dedup.index.words import Words, digests, distances

Numbers = NDArray[np.uint32]
Distances = NDArray[np.uint8]


class Run:
    """Documents that were sorted together, in every table of a layout.

    Row `i` is the document `numbers[i]` with the fingerprint `words[i]`. Nothing in a run
    changes.
    """

    __slots__ = (
        "layout",
        "lookups",
        "n_words",
        "number_at",
        "numbers",
        "tables",
        "word_at",
        "words",
    )

    def __init__(self, layout: Layout, words: Words, numbers: Numbers, tables: list[Table]) -> None:
        self.layout = layout
        self.words = words
        self.numbers = numbers
        self.tables = tables
        self.lookups = [table.lookup for table in self.tables]
        self.number_at = elements(numbers)
        self.word_at = elements(words.reshape(-1))
        self.n_words = words.shape[1]

    @classmethod
    def build(
        cls, layout: Layout, words: Words, numbers: Numbers, arrays: Arrays = UNBOUNDED
    ) -> "Run":
        row_digests = digests(words)
        tables = [
            Table.build(layout.key_column(words, table), key_bits, row_digests, arrays)
            for table, key_bits in enumerate(layout.key_bits)
        ]
        return cls(layout, words, numbers, tables)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size_bytes(self) -> int:
        own = self.words.nbytes + self.numbers.nbytes
        return own + sum(table.size_bytes for table in self.tables)

    def search(
        self, queries: Words, max_distance: int
    ) -> Iterator[tuple[Indices, Indices, Distances]]:
        """Yield query indices, rows and distances, each pair within `max_distance` once.

        In no order. Fastest for some 30,000 queries at a time.
        """
        query_digests = digests(queries)
        for number, table in enumerate(self.tables):
            keys = self.layout.key_column(queries, number)
            for indices, places in table.near(keys, query_digests, max_distance):
                rows = table.rows[places]
                differing = queries.take(indices, axis=0) ^ self.words.take(rows, axis=0)
                bits = distances(differing)
                keep = (bits <= max_distance) & self._is_first(differing, number)
                if keep.any():
                    yield indices[keep], rows[keep].astype(np.intp), bits[keep]

    def fingerprint(self, row: int) -> int:
        return _fingerprint(self.word_at, self.n_words, row)

    def check(self) -> None:
        """Raise `AssertionError` where an invariant does not hold."""
        row_digests = digests(self.words)
        for number, (table, bits) in enumerate(zip(self.tables, self.layout.key_bits, strict=True)):
            keys = self.layout.key_column(self.words, number)[table.rows]
            buckets = keys >> np.uint32(table.shift)
            n_buckets = 1 << (bits - table.shift)
            order = np.lexsort((table.rows, buckets))
            require(np.array_equal(np.sort(table.rows), np.arange(len(self))), "each row once")
            require(np.array_equal(order, np.arange(len(self))), "sorted by bucket, then by row")
            require(
                np.array_equal(table.directory, np.searchsorted(buckets, np.arange(n_buckets + 1))),
                "the directory has the bounds of each bucket",
            )
            require(
                np.array_equal(table.digests, row_digests[table.rows]), "digests are the rows' own"
            )

    def _is_first(self, differing: Words, table: int) -> NDArray[np.bool_]:
        """Is `table` the first whose equal bits are equal? Then the pair is reported there."""
        first = _is_zero(differing & self.layout.masks[table])
        for earlier in self.layout.masks[:table]:
            first &= ~_is_zero(differing & earlier)
        return first


def require(condition: bool, invariant: str) -> None:
    """An assertion that `python -O` does not take away."""
    if not condition:
        raise AssertionError(f"broken invariant: {invariant}")


def _fingerprint(word_at: Sequence[int], n_words: int, row: int) -> int:
    if n_words == 1:
        return word_at[row]
    return word_at[2 * row] << 64 | word_at[2 * row + 1]


def _is_zero(words: Words) -> NDArray[np.bool_]:
    zero: NDArray[np.bool_] = words[:, 0] == 0
    for place in range(1, words.shape[1]):
        zero &= words[:, place] == 0
    return zero


class Tail:
    """The documents added last, in the order of adding; read as a whole by every lookup."""

    def __init__(self, capacity: int, n_words: int) -> None:
        self._words = np.empty((capacity, n_words), dtype=np.uint64)
        self._digests = np.empty(capacity, dtype=np.uint32)
        self._numbers = np.empty(capacity, dtype=np.uint32)
        self._count = 0
        self.number_at = elements(self._numbers)
        self.word_at = elements(self._words.reshape(-1))
        self.n_words = n_words

    def __len__(self) -> int:
        return self._count

    @property
    def is_full(self) -> bool:
        return self._count == len(self._numbers)

    @property
    def space(self) -> int:
        return len(self._numbers) - self._count

    @property
    def words(self) -> Words:
        return self._words[: self._count]

    @property
    def digests(self) -> Digests:
        return self._digests[: self._count]

    @property
    def numbers(self) -> Numbers:
        return self._numbers[: self._count]

    @property
    def size_bytes(self) -> int:
        return self._words.nbytes + self._digests.nbytes + self._numbers.nbytes

    def append(self, words: Sequence[int], digest: int, number: int) -> None:
        row = self._count
        self._words[row] = words
        self._digests[row] = digest
        self._numbers[row] = number
        self._count = row + 1

    def extend(self, words: Words, numbers: Numbers) -> None:
        rows = slice(self._count, self._count + len(numbers))
        self._words[rows] = words
        self._digests[rows] = digests(words)
        self._numbers[rows] = numbers
        self._count += len(numbers)

    def fingerprint(self, row: int) -> int:
        return _fingerprint(self.word_at, self.n_words, row)

    def clear(self) -> None:
        self._count = 0
