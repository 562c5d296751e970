"""MinHash: samples of sets that agree as often as the sets have members in common.

With k hash functions, the sample is the least value under each: two sets agree in each place with
the probability of their resemblance (Jaccard).

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
