from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.fingerprints import simhash, simhash_many, weighted_bit_sums

MASK = 2**64 - 1
CSDN, BLOG = 0b100101, 0b101011

features = st.lists(st.tuples(st.integers(0, MASK), st.integers(0, 1000)), max_size=40)


def as_array(hashes: list[int]) -> np.ndarray:
    return np.array(hashes, dtype=np.uint64)


def splitmix(value: int) -> int:
    """The reference in Python's integers (Vigna's splitmix64.c, one step from state `value`)."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def by_the_book(hashes: list[int], weights: list[float], n_bits: int) -> int:
    """The oracle: one loop over features, one over bits, exact arithmetic."""
    if n_bits == 128:
        hashes = [value << 64 | splitmix(value) for value in hashes]
    fingerprint = 0
    for bit in range(n_bits):
        signs = [1 if value >> bit & 1 else -1 for value in hashes]
        vote = sum(
            sign * round(weight * 65536) for sign, weight in zip(signs, weights, strict=True)
        )
        fingerprint |= (vote > 0) << bit
    return fingerprint


def test_worked_example():
    hashes, weights = as_array([CSDN, BLOG]), np.array([4, 5])
    assert weighted_bit_sums(hashes, weights, n_bits=6).tolist() == [9, -9, 1, -1, 1, 9]
    assert simhash(hashes, weights, n_bits=6) == 0b101011


def test_a_weight_does_not_leak_into_the_next_feature():
    assert simhash(as_array([CSDN, BLOG, BLOG]), np.array([9, 4, 4]), n_bits=6) == CSDN


@pytest.mark.parametrize("n_bits", [1, 6, 63, 64, 128])
@given(features)
@settings(deadline=None, max_examples=40)
def test_agrees_with_the_definition(n_bits, pairs):
    hashes, weights = [one for one, _ in pairs], [weight for _, weight in pairs]
    expected = by_the_book(hashes, weights, n_bits)
    assert simhash(as_array(hashes), np.array(weights, int), n_bits) == expected
    assert simhash(as_array(hashes), np.array(weights, float), n_bits) == expected


@pytest.mark.parametrize("n_bits", [64, 128])
@given(st.lists(features, max_size=12))
@settings(deadline=None, max_examples=40)
def test_batch_agrees_with_single_calls(n_bits, documents):
    pairs = [pair for document in documents for pair in document]
    hashes = as_array([one for one, _ in pairs])
    weights = np.array([weight for _, weight in pairs], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, documents)])
    many = simhash_many(hashes, weights, offsets, n_bits)
    single = [
        simhash(hashes[start:stop], weights[start:stop], n_bits)
        for start, stop in pairwise(offsets)
    ]
    assert many.shape == ((len(documents),) if n_bits == 64 else (len(documents), 2))
    assert [
        int("".join(f"{word:016x}" for word in row), 16)
        for row in many.reshape(len(documents), -1 if documents else 1).tolist()
    ] == single


@given(features, st.randoms())
@settings(deadline=None, max_examples=40)
def test_the_order_of_features_changes_nothing(pairs, random):
    shuffled = random.sample(pairs, len(pairs))
    one, other = (
        simhash(as_array([h for h, _ in some]), np.array([w * 0.1 for _, w in some]))
        for some in (pairs, shuffled)
    )
    assert one == other


def test_float_sums_that_would_tie_differently_in_another_order():
    # 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in float64: here, the vote of bit 0 is a tie.
    hashes = as_array([1, 1, 1, 0])
    weights = np.array([0.1, 0.2, 0.3, 0.6])
    orders = [[0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 0, 1]]
    sums = {float(weighted_bit_sums(hashes[o], weights[o], 1)[0]) for o in orders}
    assert len(sums) == 1
    assert abs(sums.pop()) <= 4 * 2.0**-16


@pytest.mark.parametrize("n_features", [1023, 1024, 1025, 4095, 4096, 4097, 20_000])
def test_documents_larger_than_a_batch(n_features):
    rng = np.random.default_rng(1)
    hashes = rng.integers(0, 2**64, n_features + 10, dtype=np.uint64)
    weights = rng.random(n_features + 10)
    offsets = np.array([0, 5, n_features, n_features + 10])
    expected = [
        simhash(hashes[start:stop], weights[start:stop]) for start, stop in pairwise(offsets)
    ]
    assert simhash_many(hashes, weights, offsets).tolist() == expected


def test_one_feature_gives_its_hash_and_equal_weights_are_the_default():
    assert simhash(as_array([0xDEAD_BEEF_0123_4567])) == 0xDEAD_BEEF_0123_4567
    hashes = as_array([5, 6, 7])
    assert simhash(hashes) == simhash(hashes, np.ones(3)) == 0b111


def test_ties_and_no_features_give_zeros():
    assert simhash(as_array([0b1100, 0b1010])) == 0b1000
    assert simhash(as_array([])) == 0
    assert simhash(as_array([MASK]), np.array([0])) == 0
    assert simhash(as_array([]), np.array([]), n_bits=128) == 0
    assert simhash_many(as_array([]), None, np.array([0])).shape == (0,)
    assert simhash_many(as_array([]), None, np.array([0, 0, 0])).tolist() == [0, 0]


def test_a_feature_may_occur_more_often_than_255_times():
    hashes = as_array([MASK] * 300 + [0] * 299)
    assert simhash(hashes) == MASK


def test_the_second_word_does_not_depend_on_the_width_of_the_first():
    hashes = np.random.default_rng(2).integers(0, 2**64, 30, dtype=np.uint64)
    wide = simhash(hashes, n_bits=128)
    assert wide >> 64 == simhash(hashes)
    assert wide & MASK != wide >> 64


def test_similar_sets_differ_in_few_bits_and_other_sets_in_half():
    hashes = np.random.default_rng(3).integers(0, 2**64, 1_000, dtype=np.uint64)
    assert (simhash(hashes[:500]) ^ simhash(hashes[1:500])).bit_count() <= 4
    # 64 fair coins: mean 32, standard deviation 4; five of them either way.
    assert 12 < (simhash(hashes[:500]) ^ simhash(hashes[500:])).bit_count() < 52


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (np.array([1, -2]), ValueError, "weights must be non-negative numbers, got .*-2"),
        (np.array([1, np.nan]), ValueError, "weights must be non-negative numbers, got .*nan"),
        (np.array([1, np.inf]), ValueError, r"a document's weights must sum to at most 6.87e\+10"),
        (np.array([2**52, 1]), ValueError, r"a document's weights must sum to at most 4.5e\+15"),
        (np.array([1, 1e308]), ValueError, r"a document's weights must sum to at most 6.87e\+10"),
        (np.array([1]), ValueError, "weights must have one value for each of 2 hashes"),
        (np.array(["1", "2"]), TypeError, "weights must be numbers, got dtype"),
    ],
)
def test_rejects_weights(weights, error, message):
    hashes = as_array([1, 2])
    for call in (
        lambda: simhash(hashes, weights),
        lambda: weighted_bit_sums(hashes, weights),
        lambda: simhash_many(hashes, weights, np.array([0, 2])),
    ):
        with pytest.raises(error, match=message):
            call()


def test_the_limit_of_weights_is_for_each_document():
    weights = np.array([2**52, 2**52])
    assert simhash_many(as_array([1, 2]), weights, np.array([0, 1, 2])).tolist() == [1, 2]


@pytest.mark.parametrize("offsets", [[], [0], [0, 1], [1, 2], [0, 2, 1, 2], [0, 3]])
def test_rejects_offsets(offsets):
    with pytest.raises(ValueError, match="offsets must ascend from 0 to the number of hashes, 2"):
        simhash_many(as_array([1, 2]), None, np.array(offsets, int))


@pytest.mark.parametrize("n_bits", [0, 65, 127, 129])
def test_rejects_widths(n_bits):
    with pytest.raises(ValueError, match="n_bits must be 1 to 64, or 128, got"):
        simhash(as_array([1]), n_bits=n_bits)
    with pytest.raises(ValueError, match="n_bits must be 64 or 128, got"):
        simhash_many(as_array([1]), None, np.array([0, 1]), n_bits)


def test_rejects_hashes_of_other_types_and_shapes():
    with pytest.raises(TypeError, match="hashes must be an array of uint64, got dtype int64"):
        simhash(np.array([1, 2]))  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"hashes must be a one-dimensional array, got shape \(1, 2\)"
    ):
        simhash(as_array([[1, 2]]))  # type: ignore[list-item]
