import importlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.evaluation.fingerprints.file_simhash import (
    TAGS,
    linear_keys,
    sum_table,
    sum_table_distances,
)

pytestmark = pytest.mark.slow

MODULE = importlib.import_module("benchmarks.evaluation.fingerprints.file_simhash")


def slow_table(data):
    """Bit strings and windows."""
    bits = "".join(f"{byte:08b}" for byte in data)
    windows = [bits[place : place + 8] for place in range(len(bits) - 7)]
    return [windows.count(f"{tag:08b}") for tag in TAGS]


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=40))
def test_sum_table_counts_windows_at_every_bit(data):
    assert sum_table(data).tolist() == slow_table(data)


def test_blocks_do_not_show(monkeypatch):
    data = random.Random(1).randbytes(1_000)
    whole = sum_table(data).tolist()
    for block in (1, 7, 999, 1_000):
        monkeypatch.setattr(MODULE, "_BLOCK_BYTES", block)
        assert sum_table(data).tolist() == whole


def test_sixteen_tags_none_of_which_overlaps_itself():
    assert len(set(TAGS)) == 16
    for tag in TAGS:
        bits = f"{tag:08b}"
        assert not any(bits.startswith(bits[start:]) for start in range(1, 8))


def test_an_insertion_of_some_bits_changes_little():
    """Nine bits put in: all that follows is shifted by more than a byte."""
    data = random.Random(2).randbytes(10_000)
    number, n_bits = int.from_bytes(data), 8 * len(data)
    high, low = number >> n_bits // 2, number & (1 << n_bits // 2) - 1
    longer = ((high << 9 | 0b101010101) << n_bits // 2 | low) << 7
    edited = sum_table(longer.to_bytes(len(data) + 2))
    assert sum_table_distances(sum_table(data), edited[np.newaxis])[0] < 0.001
    assert sum_table_distances(sum_table(data), sum_table(bytes(10_000))[np.newaxis])[0] == 1.0


def test_key_is_linear():
    first, second = (sum_table(random.Random(seed).randbytes(500)) for seed in (1, 2))
    both = np.array([first, second])
    assert linear_keys(first + second) == linear_keys(both).sum()
    assert linear_keys(np.eye(16, dtype=np.int64)).tolist() == pytest.approx(
        [1, 8, 15, 6, 13, 4, 11, 2, 9, 16, 7, 14, 5, 12, 3, 10]
    )


def test_empty_tables_are_alike_nothing():
    empty = sum_table(b"")
    assert sum_table_distances(empty, empty[np.newaxis]).tolist() == [1.0]
