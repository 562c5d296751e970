"""Hamming distance: in how many bits two fingerprints differ."""

from typing import overload

import numpy as np
from numpy.typing import NDArray

Fingerprints = int | np.uint64 | NDArray[np.uint64]


@overload
def hamming_distance(first: int, second: int) -> int: ...
@overload
def hamming_distance(first: NDArray[np.uint64], second: Fingerprints) -> NDArray[np.uint8]: ...
def hamming_distance(first: Fingerprints, second: Fingerprints) -> int | NDArray[np.uint8]:
    """The number of bits in which `first` and `second` differ.

    Two ints of any width; or an array of 64-bit fingerprints and another, or a single one, by
    numpy's rules of broadcasting.

    >>> hamming_distance(0b101011, 0b100001)
    2
    >>> hamming_distance(np.array([0, 7, 255], np.uint64), np.uint64(7)).tolist()
    [3, 0, 5]
    """
    if isinstance(first, int) and isinstance(second, int):
        return (first ^ second).bit_count()
    differing = np.bitwise_xor(np.asarray(first, np.uint64), np.asarray(second, np.uint64))
    return np.bitwise_count(differing)
