from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.index.arrays import Arrays
from dedup.index.multimap import Multimap
from tests.dedup.index.in_files import small_parts

key_lists = st.lists(st.sets(st.integers(0, 5) | st.integers(2**32 - 3, 2**32 - 1), max_size=4))


def uint32(values):
    return np.array(sorted(values), np.uint32)


def expected(documents, keys, at_most):
    """The answer by dictionary: number and shared keys, most shared first, then by number."""
    numbers = defaultdict(list)
    for number, own in documents:
        for key in own:
            numbers[key].append(number)
    shared = Counter(number for key in keys for number in sorted(numbers[key])[:at_most])
    return sorted(shared.items(), key=lambda item: (-item[1], item[0]))


def found(index, keys, at_most):
    numbers, counts = index.find(uint32(keys), at_most=at_most)
    return list(zip(numbers.tolist(), counts.tolist(), strict=True))


@settings(deadline=None, max_examples=100)
@given(key_lists, st.sets(st.integers(0, 5), min_size=1), st.integers(1, 4), st.integers(1, 400))
def test_find_agrees_with_a_dictionary(key_sets, query, at_most, repeat):
    documents = list(enumerate(key_sets * (repeat if len(key_sets) < 9 else 1)))
    index = Multimap()
    for number, keys in documents:
        index.add(uint32(keys), number)
    index._check()
    assert found(index, query, at_most) == expected(documents, query, at_most)
    queries = [query, {0}, set(), {2, 2**32 - 1}]
    owners = np.repeat([3, 5, 6, 7], list(map(len, queries)))
    keys = np.concatenate(list(map(uint32, queries)))
    pairs = np.transpose(index.find_many(keys, owners, at_most=at_most)).tolist()
    assert pairs == [
        [owner, number]
        for owner, each in zip([3, 5, 6, 7], queries, strict=True)
        for number, _ in sorted(expected(documents, each, at_most))
    ]


@pytest.mark.parametrize("batch", [1, 7, 511, 512, 513, 3_000])
def test_batches_give_the_same_answers(batch):
    random = np.random.default_rng(5)
    keys = random.integers(0, 300, (3_000, 2), np.uint32)
    index = Multimap()
    for start in range(0, 3_000, batch):
        index.add_many(keys[start : start + batch], np.arange(start, min(start + batch, 3_000)))
    index._check()
    documents = [(number, set(row)) for number, row in enumerate(keys.tolist())]
    repeated = [number for number, row in enumerate(keys.tolist()) if row[0] == row[1]]
    assert len(index) == 6_000
    for query in ({1}, {2, 3}, {7, 8, 299, 300}):
        answer = found(index, query, 1 << 10)
        want = expected(documents, query, 1 << 10)
        assert {n for n, _ in answer} == {n for n, _ in want}
        assert [pair for pair in answer if pair[0] not in repeated] == [
            pair for pair in want if pair[0] not in repeated
        ]


def test_what_is_added_between_batches_is_found():
    index = Multimap()
    for number in range(3):  # all in the tail, which is kept sorted between lookups
        index.add(uint32([7]), number)
        owners, numbers = index.find_many(uint32([7]), np.array([0]))
        assert (owners.tolist(), numbers.tolist()) == ([0] * (number + 1), [*range(number + 1)])
        assert index.contains(uint32([7, 8])).tolist() == [True, False]


def test_an_entry_takes_eight_bytes():
    index = Multimap()
    index.add_many(np.arange(100_000, dtype=np.uint32), np.arange(100_000))
    assert index.size_bytes == pytest.approx(8 * len(index), rel=0.01)


def test_an_empty_map_finds_nothing():
    assert found(Multimap(), {1, 2}, 10) == []
    assert found(Multimap(), set(), 10) == []


@pytest.mark.parametrize("number", [-1, 2**32])
def test_numbers_have_32_bits(number):
    with pytest.raises(ValueError, match="number must be 0 to 4294967295, got"):
        Multimap().add(uint32({1}), number)
    with pytest.raises(ValueError, match="numbers must ascend from 0 to 4294967295, got"):
        Multimap().add_many(uint32({1}), np.array([number]))


batches = st.lists(
    st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 700), st.sampled_from([1, 2, 40, 2**32])),
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(batches, st.integers(0, 60_000))
def test_answers_are_the_same_where_runs_are_in_files(batches, bound):
    with small_parts():
        bounded, unbounded, first = Multimap(Arrays(bound)), Multimap(), 0
        for seed, count, n_keys in batches:
            keys = np.random.default_rng(seed).integers(0, n_keys, (count, 3)).astype(np.uint32)
            keys[: count // 2] ^= np.uint32(2**32 - 1)  # the greatest keys as well
            for index in (bounded, unbounded):
                index.add_many(keys, np.arange(first, first + count))
            first += count
            bounded._check()
            asked = np.unique(np.concatenate((keys.ravel(), uint32({0, 7, 50, 2**32 - 1}))))
            few = asked[:: len(asked) // 5 + 1]
            owners = np.arange(len(asked))
            for answers in (
                [index.contains(asked) for index in (bounded, unbounded)],
                [index.find(few, at_most=5) for index in (bounded, unbounded)],
                [index.find_many(asked, owners, at_most=30) for index in (bounded, unbounded)],
            ):
                np.testing.assert_array_equal(*answers)


def test_long_merges_copy_a_portion_at_a_time():
    with small_parts():
        index = Multimap(Arrays(0))
        for start in range(0, 9_000, 600):
            keys = np.full(600, 5, np.uint32) if start == 3_000 else np.arange(600, dtype=np.uint32)
            index.add_many(keys, np.arange(start, start + 600))
        index._check()
        numbers, _ = index.find(uint32({5}), at_most=10_000)
    assert numbers.tolist() == [
        *range(5, 3_000, 600),
        *range(3_000, 3_600),
        *range(3_605, 9_000, 600),
    ]


def test_an_entry_of_a_file_takes_no_memory_but_its_share_of_the_first_ones():
    arrays = Arrays(0)
    index = Multimap(arrays)
    index.add_many(np.arange(400_000, dtype=np.uint32), np.arange(400_000))
    assert arrays.file_bytes == pytest.approx(8 * len(index), rel=0.01)
    assert index.size_bytes == pytest.approx(8 * len(index), rel=0.01)
    assert arrays.memory_bytes == 0
