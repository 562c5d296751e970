"""Pairs of numbers, sorted on the disk."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dedup.collection.writing.outputs import named_error

Numbers = NDArray[np.uint64]

PAIRS_IN_MEMORY = 1 << 20
"""16 MB, and several times as much while they are sorted and looked at."""

_SAMPLES = 256
"""So many keys tell where a portion of all pairs begins and ends."""


class SortedRuns:
    """Takes pairs of 64-bit keys and values, and gives them back by ascending keys.

    Args:
        folder: of the temporary file, which has no name there; 16 bytes a pair.
        pairs_in_memory: at most; a portion may have some more, and has all pairs of a key.

    Raises:
        OSError: the disk is full.
    """

    def __init__(self, folder: Path, *, pairs_in_memory: int = PAIRS_IN_MEMORY) -> None:
        self._folder = folder
        self._limit = pairs_in_memory
        self._step = max(1, pairs_in_memory // _SAMPLES)
        self._file = tempfile.TemporaryFile("w+b", buffering=0, dir=folder)  # noqa: SIM115 -- see close
        self._waiting: list[tuple[Numbers, Numbers]] = []
        self._n_waiting = 0
        self._runs: list[int] = []
        self._samples: list[Numbers] = []

    def __len__(self) -> int:
        return sum(self._runs) + self._n_waiting

    def close(self) -> None:
        self._file.close()

    def add(self, keys: Numbers, values: Numbers) -> None:
        self._waiting.append((keys, values))
        self._n_waiting += len(keys)
        if self._n_waiting >= self._limit:
            self._write()

    def portions(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield all pairs, keys ascending; those of one key in one portion, in any order."""
        if not self._runs:
            yield self._sorted()
            return
        if self._n_waiting:
            self._write()
        starts = np.cumsum([0, *self._runs[:-1]]) * 2
        at = [0] * len(self._runs)
        for bound in self._bounds():
            parts = []
            for run, length in enumerate(self._runs):
                start = int(starts[run])
                stop = length if bound is None else self._stop(run, start, bound)
                place, count = start + at[run], stop - at[run]
                parts.append((self._read(place, count), self._read(place + length, count)))
                at[run] = stop
            keys, values = (np.concatenate(each) for each in zip(*parts, strict=True))
            order = np.argsort(keys, kind="stable")  # merges what is sorted already
            yield keys[order], values[order]

    def _bounds(self) -> Iterator[np.uint64 | None]:
        """Keys between which there are about as many pairs as memory takes; at last, None."""
        sample = np.sort(np.concatenate(self._samples))
        yield from np.unique(sample[_SAMPLES::_SAMPLES])
        yield None

    def _stop(self, run: int, start: int, bound: np.uint64) -> int:
        """How many keys of a run, which starts there in the file, are less than a bound."""
        block = int(np.searchsorted(self._samples[run], bound)) - 1
        first = max(block, 0) * self._step
        count = min(self._step, self._runs[run] - first)
        return first + int(np.searchsorted(self._read(start + first, count), bound))

    def _read(self, start: int, count: int) -> Numbers:
        data = os.pread(self._file.fileno(), 8 * count, 8 * start)
        return np.frombuffer(data, np.uint64)

    def _sorted(self) -> tuple[Numbers, Numbers]:
        none = np.empty(0, np.uint64)
        keys, values = (
            np.concatenate((none, *each)) for each in zip(*self._waiting, (none, none), strict=True)
        )
        order = np.argsort(keys)
        return keys[order], values[order]

    def _write(self) -> None:
        keys, values = self._sorted()
        self._waiting, self._n_waiting = [], 0
        try:
            for part in (keys, values):
                rest = memoryview(part.tobytes())
                while rest:
                    rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise named_error(
                error, f"{self._folder} (set TMPDIR to use another folder)"
            ) from error
        self._runs.append(len(keys))
        self._samples.append(keys[:: self._step].copy())  # not a view, which keeps all
