"""Sketches rule out nothing that is near."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup import Document
from dedup.batch import Batch
from dedup.detectors.sketches import AskedSets, Sketches
from dedup.similarity import resemblance


def hashes(count: int, seed: int) -> np.ndarray:
    return np.unique(np.random.default_rng(seed).integers(0, 2**64, count, np.uint64))


def asked_sets(sets: list[np.ndarray]) -> AskedSets:
    documents = [Document("", "") for _ in sets]
    for document, each in zip(documents, sets, strict=True):
        document.take(shingles=each)
    return AskedSets(Batch(documents))


@given(
    size=st.integers(50, 4_000),
    shared=st.floats(0, 1),
    extra=st.integers(0, 1_000),
    threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_near_texts_are_never_ruled_out(
    size: int, shared: float, extra: int, threshold: float, seed: int
) -> None:
    first = hashes(size, seed)
    kept = np.sort(np.random.default_rng(seed).permutation(first)[: max(int(shared * size), 1)])
    second = np.union1d(kept, hashes(extra, seed + 1))
    sketches = Sketches()
    sketches.add(7, second)
    may = sketches.may_resemble(first, np.array([7]), at_least=threshold)
    assert may[0] or resemblance(first, second) < threshold


@given(
    sizes=st.lists(st.integers(0, 2_000), min_size=1, max_size=6),
    shared=st.floats(0.5, 1),
    threshold=st.sampled_from([0.3, 0.8, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_batch_rules_out_only_what_single_pairs_do(
    sizes: list[int], shared: float, threshold: float, seed: int
) -> None:
    """Numbers that are not kept, too; each set is asked about all."""
    sets = [hashes(size, seed + place) for place, size in enumerate(sizes)]
    sketches = Sketches()
    for place, each in enumerate(sets):
        kept = np.random.default_rng(seed).permutation(each)[: int(shared * len(each))]
        sketches.add(2 * place, np.sort(kept))
    owners, numbers = map(np.ravel, np.indices((len(sets), 2 * len(sets) + 3)))
    may = sketches.may_resemble_many(asked_sets(sets), owners, numbers, at_least=threshold)
    for owner, number, answer in zip(owners, numbers, may, strict=True):
        one = sketches.may_resemble(sets[owner], np.array([number]), at_least=threshold)
        assert answer or not one[0]
    asked = asked_sets(sets)
    firsts, seconds = map(np.ravel, np.indices((len(sets), len(sets))))
    may = asked.may_resemble(firsts, seconds, at_least=threshold)
    for first, second, answer in zip(firsts, seconds, may, strict=True):
        assert answer or resemblance(sets[first], sets[second]) < threshold


@pytest.mark.parametrize("size", [50, 400, 401, 800, 1_600])
def test_unlike_ones_are_ruled_out(size: int) -> None:
    """32% of the bits at most are set: the bound is 1 - 0.68 / 4 of the set, below 0.8."""
    sketches = Sketches()
    for number in range(50):
        sketches.add(number, hashes(size, number))
    asked = hashes(size, 99)
    assert not sketches.may_resemble(asked, np.arange(50), at_least=0.8).any()
    owners = np.zeros(50, np.intp)
    many = asked_sets([asked])
    assert not sketches.may_resemble_many(many, owners, np.arange(50), at_least=0.8).any()


def test_those_not_kept_may_be_near() -> None:
    sketches = Sketches()
    assert sketches.may_resemble(hashes(100, 1), np.array([3]), at_least=0.8).tolist() == [True]
    sketches.add(5, hashes(100, 2))
    sketches.add(8, hashes(100, 3))
    may = sketches.may_resemble(hashes(100, 1), np.array([3, 5, 6, 8, 9_999]), at_least=0.8)
    assert may.tolist() == [True, False, True, False, True]


def test_a_sketch_takes_133_bytes() -> None:
    sketches = Sketches()
    choose = random.Random(1)
    for number in range(5_000):
        sketches.add(number, hashes(choose.choice([60, 3_000]), number))
    assert sketches.size_bytes <= 1.25 * 133 * 5_000
