"""Rows sorted on the disk."""

from __future__ import annotations

import heapq
import marshal
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from dedup.collection.writing.outputs import named_error

Row = tuple[Any, ...]
"""Texts, numbers and tuples of these. The first values have to tell rows apart."""

_RUN_BYTES = 64 << 20
_RUNS = 128
"""Files that are merged, and open, at a time."""


class SortedRows:
    """Takes rows in any order, and gives them back in theirs. What memory does not hold is on disk.

    Args:
        folder: of the temporary files, which have no names there.
        run_bytes: of rows in memory, about.
    """

    def __init__(self, folder: Path, *, run_bytes: int = _RUN_BYTES) -> None:
        self._folder = folder
        self._run_bytes = run_bytes
        self._rows: list[Row] = []
        self._size = 0
        self._runs: list[IO[bytes]] = []

    def add(self, row: Row) -> None:
        """Add a row.

        Raises:
            OSError: the disk is full.
        """
        self._rows.append(row)
        self._size += 200 + sum(len(value) for value in row if isinstance(value, str))
        if self._size >= self._run_bytes:
            self._write(self._sorted())

    def __iter__(self) -> Iterator[Row]:
        """The rows, ascending; only once."""
        return heapq.merge(*map(_read, self._runs), self._sorted())

    def close(self) -> None:
        for run in self._runs:
            run.close()

    def _sorted(self) -> Iterator[Row]:
        rows, self._rows, self._size = sorted(self._rows), [], 0
        return iter(rows)

    def _write(self, rows: Iterator[Row]) -> None:
        try:
            run = tempfile.TemporaryFile("w+b", dir=self._folder)  # noqa: SIM115 -- see close
            for row in rows:
                run.write(marshal.dumps(row))
            run.seek(0)
        except OSError as error:
            where = f"{self._folder} (set TMPDIR to use another folder)"
            raise named_error(error, where) from error
        self._runs.append(run)
        if len(self._runs) == _RUNS:
            merged, self._runs = self._runs, []
            self._write(heapq.merge(*map(_read, merged)))
            for each in merged:
                each.close()


def _read(run: IO[bytes]) -> Iterator[Row]:
    size = os.fstat(run.fileno()).st_size
    while run.tell() < size:
        yield marshal.load(run)  # noqa: S302 -- our own
