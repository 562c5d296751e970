"""Pairs sorted on the disk come back as if sorted in memory."""

import errno
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.collection.sorted_runs import SortedRuns

KEYS = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=300)


@pytest.mark.parametrize("limit", [1, 7, 64, 10_000])
@given(keys=KEYS, size=st.integers(1, 50))
def test_all_pairs_come_back_by_ascending_keys(
    tmp_path_factory: pytest.TempPathFactory, limit: int, keys: list[int], size: int
) -> None:
    runs = SortedRuns(tmp_path_factory.getbasetemp(), pairs_in_memory=limit)
    values = np.arange(len(keys), dtype=np.uint64)
    given = np.array(keys, np.uint64)
    for start in range(0, len(keys), size):
        runs.add(given[start : start + size], values[start : start + size])
    portions = [(found.tolist(), each.tolist()) for found, each in runs.portions()]
    runs.close()
    found = [pair for portion in portions for pair in zip(*portion, strict=True)]
    assert [key for key, _ in found] == sorted(keys)
    assert sorted(found) == sorted(zip(keys, range(len(keys)), strict=True))
    ends = [(portion[0][0], portion[0][-1]) for portion in portions if portion[0]]
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_portions_are_about_as_large_as_memory_takes(tmp_path: Path) -> None:
    runs = SortedRuns(tmp_path, pairs_in_memory=1_000)
    keys = np.random.default_rng(1).integers(0, 2**64, 20_000, np.uint64)
    for part in np.split(keys, 40):
        runs.add(part, part)
    sizes = [len(found) for found, _ in runs.portions()]
    runs.close()
    assert sum(sizes) == 20_000
    assert max(sizes) < 2_000


def test_what_is_on_the_disk_takes_no_memory(tmp_path: Path) -> None:
    runs = SortedRuns(tmp_path, pairs_in_memory=10_000)
    tracemalloc.start()
    for seed in range(50):
        keys = np.random.default_rng(seed).integers(0, 2**64, 10_000, np.uint64)
        runs.add(keys, keys)
    del keys
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    runs.close()
    assert used < 1_000_000


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    runs = SortedRuns(tmp_path, pairs_in_memory=1)
    runs.close()
    monkeypatch.setattr(runs, "_file", Full())
    with pytest.raises(OSError, match=r"set TMPDIR .* the disk is full"):
        runs.add(np.ones(2, np.uint64), np.ones(2, np.uint64))
