"""Texts as arrays of code points, and hashes computed on them without a Python loop.

All hashes here are arithmetic on code points with fixed constants: the same on every machine and
in every run. They are not meant to withstand somebody who searches for collisions; what they find
is decided by a second check.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

CodePoints = NDArray[np.uint32] | NDArray[np.uint8]


def code_points(text: str) -> CodePoints:
    """Return the code points of `text`, lone surrogates included; as bytes if all are below 256."""
    try:
        return np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        pass
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def from_code_points(codes: NDArray[np.uint32]) -> str:
    """Return the text that has these code points."""
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def joined(texts: Sequence[str]) -> tuple[str, NDArray[np.int64]]:
    """Return all texts, with a line end after each, and where each starts; at last, the length."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths + 1, out=starts[1:])
    return "\n".join((*texts, "")), starts


def mix(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread each value over all 64 bits, one to one, in place.

    Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants by Stafford).
    """
    hashes ^= hashes >> np.uint64(30)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)
    return hashes


def hash_windows(values: NDArray[np.uint64], width: int) -> NDArray[np.uint64]:
    """Hash every `width` consecutive values; the order within a window matters.

    Returns:
        `len(values) - width + 1` hashes, none where there are fewer values than `width`.
    """
    count = len(values) - width + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    powers, _ = _powers(width)
    hashes = values[:count] * powers[0]
    for offset in range(1, width):
        hashes += values[offset : offset + count] * powers[offset]
    return mix(hashes)


def hash_words(codes: CodePoints, is_word: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Hash each maximal run of code points where `is_word` holds, in order of appearance."""
    edges = np.zeros(len(codes) + 2, np.bool_)
    edges[1:-1] = is_word
    places = np.flatnonzero(edges[1:] != edges[:-1])
    return hash_pieces(codes, places[0::2], places[1::2])


def hash_pieces(
    codes: CodePoints | NDArray[np.uint64], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> NDArray[np.uint64]:
    """Hash the pieces of `codes` from each start up to its end.

    The hash of a piece is a polynomial modulo 2^64 whose coefficients are the code points. Those
    of all pieces come from the sums of one polynomial over the whole text: the difference of two
    sums, divided by the power at which the piece starts. Starts ascend, and so do ends.
    """
    if len(codes) > _CODES_AT_ONCE:
        return _hash_pieces_of_long(codes, starts, ends)
    powers, inverse_powers = _powers(len(codes))
    sums = np.empty(len(codes) + 1, np.uint64)
    sums[0] = 0
    np.multiply(codes, powers, out=sums[1:])
    np.cumsum(sums[1:], out=sums[1:])
    hashes = sums[ends]
    hashes -= sums[starts]
    hashes *= inverse_powers[starts]
    return mix(hashes)


def _hash_pieces_of_long(
    codes: CodePoints | NDArray[np.uint64], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> NDArray[np.uint64]:
    """The same of a long text, in portions: the sums are kept where pieces start and end only."""
    powers, inverse_powers = _powers(_CODES_AT_ONCE)
    at_starts, at_ends, inverses = (np.empty(len(starts), np.uint64) for _ in range(3))
    sums = np.zeros(_CODES_AT_ONCE + 1, np.uint64)
    before = np.zeros(1, np.uint64)  # the sum of all portions before
    for begin in range(0, len(codes) + 1, _CODES_AT_ONCE):
        part = codes[begin : begin + _CODES_AT_ONCE]
        shift = np.uint64(pow(_BASE, begin, 1 << 64))
        unshift = np.uint64(pow(_BASE, -begin, 1 << 64))
        np.cumsum(part * powers[: len(part)], out=sums[1 : len(part) + 1])
        stop = begin + _CODES_AT_ONCE
        first, last = np.searchsorted(starts, [begin, stop])
        inside = starts[first:last] - begin
        at_starts[first:last] = sums[inside] * shift + before
        inverses[first:last] = inverse_powers[inside] * unshift
        first, last = np.searchsorted(ends, [begin, stop])
        at_ends[first:last] = sums[ends[first:last] - begin] * shift + before
        before += sums[len(part) : len(part) + 1] * shift
    return mix((at_ends - at_starts) * inverses)


_BASE = 0x9E3779B97F4A7C15
"""Odd, so that it has an inverse: 2^64 over the golden ratio, the increment of SplitMix64."""

POWERS_KEPT = 1 << 16
"""Code points up to which the powers of the base are computed once: 1 MB."""

_CODES_AT_ONCE = POWERS_KEPT
"""The sums of a longer text are computed in portions: they take 8 bytes a character, and a
processor's cache has them."""


def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the first `count` powers of the base and of its inverse."""
    if count > POWERS_KEPT:
        return _compute_powers(count)
    powers, inverse_powers = _powers_kept()
    return powers[:count], inverse_powers[:count]


@cache
def _powers_kept() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    return _compute_powers(POWERS_KEPT)


def _compute_powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    first, second = np.full((2, count), [[_BASE], [pow(_BASE, -1, 1 << 64)]], np.uint64)
    first[0] = second[0] = 1
    return np.multiply.accumulate(first), np.multiply.accumulate(second)
