"""Merging runs bit by bit, so that no single insert has to wait for all of it."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import Arrays
from dedup.index.layouts import Layout, directory_bits
from dedup.index.runs import Run
from dedup.index.sorted_table import Table

_ROWS_AT_ONCE = 1 << 17
"""Fingerprints copied at a time: a megabyte."""


class Merge:
    """A run in the making, of the rows of several; those stay as they are, and searchable."""

    def __init__(self, layout: Layout, runs: Sequence[Run], arrays: Arrays) -> None:
        self.runs = tuple(runs)
        n_rows = sum(map(len, runs))
        words = arrays.empty((n_rows, runs[0].n_words), np.uint64)
        numbers = arrays.empty(n_rows, np.uint32)
        tables = [
            Table(n_rows, directory_bits(bits, n_rows), bits, arrays) for bits in layout.key_bits
        ]
        self.run = Run(layout, words, numbers, tables)
        self._arrays = arrays
        self._steps = self._copy()

    @property
    def size_bytes(self) -> int:
        return self.run.size_bytes

    def advance(self, n_rows: int) -> bool:
        """Copy some `n_rows` more rows of a table; tell whether the run is complete."""
        for copied in self._steps:
            n_rows -= copied
            self._arrays.trim()
            if n_rows <= 0:
                return False
        return True

    def _copy(self) -> Iterator[int]:
        first = 0
        for run in self.runs:
            for start in range(0, len(run), _ROWS_AT_ONCE):
                source = slice(start, min(start + _ROWS_AT_ONCE, len(run)))
                target = slice(first + source.start, first + source.stop)
                self.run.words[target] = run.words[source]
                self.run.numbers[target] = run.numbers[source]
                yield (source.stop - source.start) // 8
            first += len(run)
        for number, table in enumerate(self.run.tables):
            parts = [run.tables[number] for run in self.runs]
            yield from table.merge(parts, partial(self._keys, number))

    def _keys(self, table: int, rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return self.run.layout.key_column(self.run.words.take(rows, axis=0), table)
