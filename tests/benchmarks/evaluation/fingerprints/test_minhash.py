import numpy as np
import pytest

from benchmarks.evaluation.fingerprints.minhash import (
    band_hashes,
    minhash,
    permutations,
)
from dedup.similarity import resemblance

pytestmark = pytest.mark.slow

MERSENNE_PRIME = 2**61 - 1


def two_sets(seed, share, size=1_000):
    """Two ascending sets of `size` members, about the resemblance of `share`."""
    both = round(size * 2 * share / (1 + share))
    hashes = np.random.default_rng(seed).integers(0, 2**64, 2 * size - both, np.uint64)
    return np.sort(hashes[:size]), np.sort(hashes[-size:])


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.95])
def test_least_values_agree_by_resemblance(share):
    """40 pairs x 128 places: the standard error is at most 0.5 / sqrt(5,120) = 0.007."""
    estimates = []
    for seed in range(40):
        first, second = two_sets(seed, share)
        estimates.append(np.mean(minhash(first, 128) == minhash(second, 128)))
    assert np.mean(estimates) == pytest.approx(resemblance(first, second), abs=0.03)


def test_minhash_is_the_least_value_under_each_permutation():
    members, _ = two_sets(1, 0.5, size=1_300)  # more than a block
    factors, offsets = (part.tolist() for part in permutations(5))
    expected = [
        min((a * x + b) % 2**64 for x in members.tolist())
        for a, b in zip(factors, offsets, strict=True)
    ]
    assert minhash(members, 5).tolist() == expected


def test_each_function_is_a_permutation_as_it_has_an_inverse():
    factors, offsets = permutations(128)
    values = np.random.default_rng(2).integers(0, 2**64, 100, np.uint64)
    for a, b in zip(factors, offsets, strict=True):
        inverse = np.uint64(pow(int(a), -1, 2**64))
        assert np.array_equal((a * values + b - b) * inverse, values)


def test_copied_formula_is_not_a_permutation():
    """(a x + b) mod p in 64 bits wraps around: two values of x fall together, not so in ours."""
    a, b = (int(part[0]) for part in permutations(1))
    inverse = pow(a, -1, 2**64)
    colliding = []
    for result in range(1_000):  # both are `result` modulo p, and differ modulo 2^64
        pair = [(wrapped - b) * inverse % 2**64 for wrapped in (result, result + MERSENNE_PRIME)]
        if max(pair) < MERSENNE_PRIME:
            colliding.append(pair)
    assert len(colliding) > 5  # 1 in 64 is expected
    first, second = np.array(colliding, np.uint64).T
    copied = [
        (np.uint64(a) * x + np.uint64(b)) % np.uint64(MERSENNE_PRIME) for x in (first, second)
    ]
    assert np.array_equal(*copied)
    assert np.all(np.uint64(a) * first + np.uint64(b) != np.uint64(a) * second + np.uint64(b))


def test_bands_are_shared_by_the_power_of_resemblance():
    """100 pairs x 32 bands: 0.8 to the 4th is 0.41, the standard error 0.009 and more by pairs."""
    shares = []
    for seed in range(100):
        first, second = (band_hashes(minhash(part, 128), 32) for part in two_sets(seed, 0.8, 300))
        shares.append(np.mean(first == second))
    assert np.mean(shares) == pytest.approx(0.8**4, abs=0.06)


def test_equal_bands_at_different_places_differ():
    assert len(set(band_hashes(np.full(128, 7, np.uint64), 32).tolist())) == 32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minhash(np.uint64([]), 4), "members must be at least one, got none"),
        (lambda: band_hashes(np.uint64([1, 2, 3]), 2), "n_bands must divide 3, got 2"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
