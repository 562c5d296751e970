"""Bloom filters of sets, compared bit by bit: how much two sets have in common, without either.

Source: Jain, Dahlin, Tewari, Using Bloom filters to refine web search results, WebDB 2005.
"""

import numpy as np
from numpy.typing import NDArray


def bloom_filter(
    members: NDArray[np.uint64], *, n_bits: int, n_hashes: int = 1
) -> NDArray[np.uint64]:
    """Return a filter of `n_bits`, in words of 64, with up to `n_hashes` ones for each member.

    Args:
        members: 64-bit hashes, well mixed.
        n_bits: a power of two, 64 to 65,536.
        n_hashes: 1 to 4: so many times 16 bits are in a hash.

    >>> bloom_filter(np.uint64([5, 64]), n_bits=128).tolist()
    [32, 1]
    """
    if n_bits not in [1 << power for power in range(6, 17)]:
        raise ValueError(f"n_bits must be a power of two from 64 to 65536, got {n_bits!r}")
    if not 1 <= n_hashes <= 4:
        raise ValueError(f"n_hashes must be 1 to 4, got {n_hashes!r}")
    is_one = np.zeros(n_bits, np.uint8)
    for number in range(n_hashes):
        is_one[(members >> np.uint64(16 * number)) & np.uint64(n_bits - 1)] = 1
    return np.packbits(is_one, bitorder="little").view("<u8").astype(np.uint64)


def bloom_similarities(
    filter_: NDArray[np.uint64], filters: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return how alike one filter and each of many are, 0 to 1: ones in common over ones.

    The ones of the fuller filter count, so that a part of a set is not taken for the set. Where
    nothing is in common but by chance, the share is about that of the ones among all bits, so
    filters must not be full. Two empty filters are alike by 0.
    """
    shared = np.bitwise_count(filters & filter_).sum(axis=1, dtype=np.int64)
    ones = np.bitwise_count(filters).sum(axis=1, dtype=np.int64)
    fuller = np.maximum(ones, int(np.bitwise_count(filter_).sum()))
    similarities: NDArray[np.float64] = shared / np.maximum(fuller, 1)
    return similarities
