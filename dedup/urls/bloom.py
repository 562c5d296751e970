"""A Bloom filter of fixed size, read in C; `SeenUrls` consists of several.

pybloom-live sizes the filter and holds the bits. Its own look-ups hash the key anew for each filter
(with 16-bit hashes, and up to 1.5 times the false positives, where a slice has some 25,000 bits),
and go from bit to bit in Python: 20 µs for a key that is there. Here hashes are made once for all
filters, and a key's bits are read or set in one call.
"""

from collections.abc import Sequence
from hashlib import shake_128
from math import prod
from operator import add
from struct import Struct
from typing import Any

from pybloom_live import BloomFilter

_PROBES = 3  # bits that are read one by one: a new key passes one filter in eight


class HashMaker:
    """Makes the first `count` hashes of a key; a greater count only adds hashes."""

    def __init__(self, count: int) -> None:
        layout = Struct(f"<{count}I")
        self._unpack, self._digest_bytes = layout.unpack, layout.size

    def __call__(self, key: bytes) -> tuple[int, ...]:
        return self._unpack(shake_128(key).digest(self._digest_bytes))


class BloomPart:
    """A set of at most `capacity` keys, known by their hashes, with no false negatives.

    Each hash names a bit in a slice of its own. At 32 bits they are even enough for slices of 10^9
    bits: a filter of 7 * 10^8 keys has 1.2 times its error rate, one of 10^8 none to speak of.

    Attributes:
        count: the number of keys added.
        n_hashes: the number of hashes used, of those given the first; at least 4.

    Raises:
        ValueError: an error rate of more than 1/8, or a capacity below 1.
    """

    def __init__(self, capacity: int, error_rate: float) -> None:
        if not 0 < error_rate <= 1 / 2**_PROBES:
            raise ValueError(f"error_rate must be above 0 and at most 1/8, got {error_rate!r}")
        filter_ = BloomFilter(capacity, error_rate)
        self.capacity = capacity
        self.error_rate = error_rate
        self.count = 0
        self.n_hashes: int = filter_.num_slices
        self.bits: Any = filter_.bitarray
        self.slice_bits: int = filter_.bits_per_slice
        self._starts = range(0, filter_.num_bits, self.slice_bits)

    def add(self, hashes: Sequence[int]) -> None:
        """Add a key. A repeated key takes room again."""
        self.bits[self._places(hashes)] = 1
        self.count += 1

    def has_all(self, hashes: Sequence[int]) -> bool:
        """Are all of the key's bits set?"""
        return bool(self.bits[self._places(hashes)].all())

    @property
    def size_bytes(self) -> int:
        return len(self.bits) // 8

    @property
    def false_positive_rate(self) -> float:
        """The product of the shares of bits set in each slice; it counts the bits."""
        width = self.slice_bits
        return prod(float(self.bits.count(1, s, s + width)) / width for s in self._starts)

    def _places(self, hashes: Sequence[int]) -> list[int]:
        return list(map(add, map(self.slice_bits.__rmod__, hashes), self._starts))


def any_has(parts: Sequence[BloomPart], hashes: Sequence[int]) -> bool:
    """Is the key in one of the filters? They are asked in order."""
    first, second, third = hashes[:_PROBES]
    for part in parts:
        bits, width = part.bits, part.slice_bits
        if (
            bits[first % width]
            and bits[width + second % width]
            and bits[2 * width + third % width]
            and part.has_all(hashes)
        ):
            return True
    return False
