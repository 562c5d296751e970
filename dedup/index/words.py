"""Fingerprints as rows of 64-bit words, and their digests of 32 bits.

A fingerprint of 64 bits is one word, one of 128 bits two, the high one first.

The digest is the exclusive or of a fingerprint's 32-bit halves. Two fingerprints that differ in d
bits have digests that differ in at most d bits, since each differing bit flips one bit of the
digest. So candidates are sorted out by digests, half the memory to read or less, without missing
any; of random pairs, one in 780,000 passes at distance 3.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

WORD_BITS = 64
_WORD_MASK = (1 << WORD_BITS) - 1
_HALF = np.uint64(32)

Words = NDArray[np.uint64]
"""Shape (n, n_words)."""


def as_words(fingerprints: NDArray[np.uint64], n_bits: int) -> Words:
    """Check what a caller gives: shape (n,) for 64 bits, (n, 2) for 128."""
    given = np.asarray(fingerprints)
    if given.dtype != np.uint64:
        raise TypeError(f"fingerprints must be an array of uint64, got dtype {given.dtype}")
    n_words = n_bits // WORD_BITS
    shape = (len(given), n_words) if n_words > 1 else (len(given),)
    if given.shape != shape:
        expected = f"(n, {n_words})" if n_words > 1 else "(n,)"
        raise ValueError(
            f"fingerprints of {n_bits} bits must have shape {expected}, got {given.shape}"
        )
    return given.reshape(len(given), n_words)


def split(fingerprint: int, n_words: int) -> list[int]:
    """The words of one fingerprint."""
    return [fingerprint >> WORD_BITS * place & _WORD_MASK for place in range(n_words - 1, -1, -1)]


def digest(fingerprint: int) -> int:
    """The digest of one fingerprint, as `digests` has it."""
    folded = (fingerprint >> WORD_BITS) ^ fingerprint
    return ((folded >> 32) ^ folded) & 0xFFFF_FFFF


def digests(words: Words) -> NDArray[np.uint32]:
    folded = words[:, 0]
    for place in range(1, words.shape[1]):
        folded = folded ^ words[:, place]
    return (folded ^ (folded >> _HALF)).astype(np.uint32)


def distances(differing: Words) -> NDArray[np.uint8]:
    """How many bits are set in each row."""
    counts = np.bitwise_count(differing)
    total = counts[:, 0]
    for place in range(1, differing.shape[1]):
        total = total + counts[:, place]
    return total


def as_numbers(numbers: ArrayLike, count: int, greatest: int) -> NDArray[np.uint32]:
    """Check what a caller gives: one whole number for each fingerprint, 0 to `greatest`."""
    given: NDArray[Any] = np.asarray(numbers)
    if given.shape != (count,):
        raise ValueError(
            f"numbers must have one value for each of {count} fingerprints, got {given.shape}"
        )
    if count and given.dtype.kind not in "iu":
        raise TypeError(f"numbers must be an array of integers, got dtype {given.dtype}")
    if count and not (given.min() >= 0 and given.max() <= greatest):
        bad = given.min() if given.min() < 0 else given.max()
        raise ValueError(f"numbers must be 0 to {greatest}, got {bad!r}")
    return given.astype(np.uint32)
