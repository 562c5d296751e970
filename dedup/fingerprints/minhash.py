"""MinHash: samples of sets that agree as often as the sets have members in common.

With k hash functions, the sample is the least value under each: two sets agree in each place with
the probability of their resemblance (Jaccard). With one function, it is the set's k least values:
of the k least of the union, the share that both samples have estimates the resemblance.

Members are 64-bit hashes, well mixed, as `Document.shingles` gives them.

Source: Broder, SEQUENCES 1997; Broder, Charikar, Frieze, Mitzenmacher, Min-wise independent
permutations, STOC 1998; bands: Leskovec, Rajaraman, Ullman, Mining of massive datasets, 3.4.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dedup.text.codepoints import mix

_BLOCK_MEMBERS = 1 << 9
"""Members that go through all functions at a time, so that the values stay in the cache."""


def minhash(members: NDArray[np.uint64], n_hashes: int) -> NDArray[np.uint64]:
    """Return the least value of a set under each of `n_hashes` permutations.

    A permutation of all 64-bit numbers is x -> a x + b modulo 2^64 with an odd a: it has an
    inverse. The formula that is widely copied, (a x + b) mod p with a prime p of 61 bits in
    64-bit arithmetic, is none: a x + b wraps around before p divides it, so that two values can
    fall together. (It does little harm to estimates. But it is not what it claims to be.)

    Raises:
        ValueError: the set is empty; it has no least value.
    """
    if not len(members):
        raise ValueError("members must be at least one, got none")
    factors, offsets = permutations(n_hashes)
    least = np.full(n_hashes, np.uint64(2**64 - 1))
    for start in range(0, len(members), _BLOCK_MEMBERS):
        values = factors[:, np.newaxis] * members[start : start + _BLOCK_MEMBERS]
        values += offsets[:, np.newaxis]
        np.minimum(least, values.min(axis=1), out=least)
    return least


@cache
def permutations(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the factors, odd, and the offsets of `count` permutations; always the same ones."""
    numbers = mix(np.arange(1, 2 * count + 1, dtype=np.uint64) << np.uint64(32))
    return numbers[:count] | np.uint64(1), numbers[count:]


def minhash_resemblance(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> float:
    """Estimate the resemblance of two sets from their least values under the same permutations.

    The standard error is sqrt(r (1 - r) / k): 0.035 at r = 0.8 and k = 128.

    Raises:
        ValueError: the samples have different lengths.
    """
    if first.shape != second.shape:
        raise ValueError(f"second must have shape {first.shape}, got {second.shape}")
    return float(np.mean(first == second))


def bottom_resemblance(first: NDArray[np.uint64], second: NDArray[np.uint64], size: int) -> float:
    """Estimate the resemblance of two sets from their `size` least values (all, if fewer).

    The least `size` values of the union are among them; the share that both sets have is the
    estimate, and exact where the union has no more. Two empty sets resemble each other by 0.

    Args:
        first: the least values of a set, ascending; more than `size` do no harm.
        second: those of the other one.
        size: values of the union that are looked at, at least 1.

    >>> bottom_resemblance(np.uint64([1, 3, 5]), np.uint64([1, 4, 5]), 3)
    0.3333333333333333
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size!r}")
    both = np.concatenate((first[:size], second[:size]))
    values, counts = np.unique(both, return_counts=True)
    return float(np.mean(counts[:size] == 2)) if len(values) else 0.0


def band_hashes(least: NDArray[np.uint64], n_bands: int) -> NDArray[np.uint64]:
    """Return one hash for each band of equally many consecutive values; different by band.

    Sets of resemblance r share that of a given band of w values with probability r**w.

    Raises:
        ValueError: the values cannot be shared out evenly.
    """
    if len(least) % n_bands:
        raise ValueError(f"n_bands must divide {len(least)}, got {n_bands!r}")
    factors, _ = permutations(len(least))
    return mix((least * factors).reshape(n_bands, -1).sum(axis=1))
