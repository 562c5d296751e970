"""Simhash: similar sets of weighted features get fingerprints that differ in few bits.

Each feature votes on every bit of the fingerprint with its weight: for 1 where its hash has a 1,
for 0 where its hash has a 0. The majority wins:

    CSDN  weight 4, hash 100101:    +4 -4 -4 +4 -4 +4
    博客  weight 5, hash 101011:    +5 -5 +5 -5 +5 +5
    sum                              9 -9  1 -1  1  9
    fingerprint                      1  0  1  0  1  1

The probability that two documents differ in a bit is the angle between their vectors of weights
divided by pi. This file takes hashes of features; `dedup.text` turns texts into features.

Same input, same fingerprint: votes are added as whole numbers (float weights are first rounded to
multiples of 2^-16), and sums of whole numbers below 2^53 are exact in float64 in whatever order
they are taken. So neither the order of the features, nor the batch, nor the machine's vector
instructions can turn a near tie.

Source: Charikar, STOC 2002, section 3; Manku, Jain and Das Sarma, WWW 2007, section 2.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WEIGHT_UNIT = 2.0**-16
"""What float weights are rounded to: fine enough for tf × IDF, room for sums up to 2^36."""

_EXACT_LIMIT = 2.0**53
"""Above it, float64 skips whole numbers."""

_BATCH_FEATURES = 4096
"""Features whose bits are unpacked at a time: 64 bytes each, so that they stay in the cache."""

_SLICE_FEATURES = 1024
"""Features that vote at a time: 512 bytes each."""

_MOST_IN_A_BYTE = 255

_PIECES_AT_ONCE = 512
"""Of 255 occurrences at most, 64 bytes each: 8 MB."""

Weights = NDArray[np.integer[Any]] | NDArray[np.floating[Any]]


def simhash(hashes: NDArray[np.uint64], weights: Weights | None = None, n_bits: int = 64) -> int:
    """The fingerprint of one document, from its features' hashes and weights.

    A tie gives bit 0; so does a document without features in every bit: its fingerprint is 0.
    Do not index such fingerprints: all documents without features would be near duplicates.

    Args:
        hashes: one 64-bit hash for each feature, well mixed. A feature given twice votes twice.
        weights: one weight for each feature, not negative; None: each weighs 1.
        n_bits: 1 to 64, the lowest bits of the hashes; or 128: the hash, then 64 bits derived
            from it by the finaliser of SplitMix64.

    Raises:
        ValueError: lengths differ, a weight is negative or not finite, or the weights are too
            large to be added exactly (whole numbers: 2^52 in sum; floats: 2^36).
        TypeError: the hashes are not uint64, or the weights not numbers.

    >>> hashes = np.array([0b100101, 0b101011], dtype=np.uint64)
    >>> f"{simhash(hashes, np.array([4, 5]), n_bits=6):06b}"
    '101011'
    """
    is_one = weighted_bit_sums(hashes, weights, n_bits) > 0
    return int.from_bytes(np.packbits(is_one).tobytes()) >> (-n_bits % 8)


def simhash_many(
    hashes: NDArray[np.uint64],
    weights: Weights | None,
    offsets: NDArray[np.integer[Any]],
    n_bits: int = 64,
) -> NDArray[np.uint64]:
    """The fingerprints of many documents, the same as `simhash` gives one by one.

    Args:
        hashes: the features of all documents, one document after the other.
        weights: as many weights, or None.
        offsets: document `i` has the features `offsets[i]` to `offsets[i + 1]`, so there is one
            offset more than documents; ascending, from 0 to the number of hashes.
        n_bits: 64, result of shape (documents,); or 128, shape (documents, 2), high word first.

    >>> simhash_many(np.array([5, 6, 7], np.uint64), None, np.array([0, 1, 1, 3])).tolist()
    [5, 0, 6]
    """
    if n_bits not in (64, 128):
        raise ValueError(f"n_bits must be 64 or 128, got {n_bits!r}")
    hashes = _checked_hashes(hashes)
    votes, unit = _whole_votes(weights, len(hashes))
    bounds = _checked_offsets(offsets, len(hashes))
    is_one = np.empty((len(bounds) - 1, n_bits), dtype=bool)
    totals = np.empty(len(bounds) - 1)
    document = 0
    while document < len(is_one):
        end = _batch_end(bounds, document)
        batch = slice(bounds[document], bounds[end])
        bits, batch_votes = _bit_matrix(hashes[batch], n_bits), votes[batch]
        inner = [bound - bounds[document] for bound in bounds[document : end + 1]]
        for i, (start, stop) in enumerate(pairwise(inner), document):
            part = batch_votes[start:stop]
            totals[i] = part.sum()
            np.greater(2.0 * _sums(part, bits[start:stop]), totals[i], out=is_one[i])
        document = end
    _check_total(float(totals.max(initial=0)) * unit, unit)
    words = np.packbits(is_one, axis=1).view(">u8").astype(np.uint64)
    return words[:, 0] if n_bits == 64 else words


def simhash_of_occurrences(
    hashes: NDArray[np.uint64], bounds: NDArray[np.integer[Any]]
) -> NDArray[np.uint64]:
    """The 64-bit fingerprints of many documents whose features weigh as often as they occur.

    As `simhash_many` gives them, without the features being counted first: the 8 bits of a byte
    vote in 8 counters of a byte, side by side in one word, 255 occurrences at most at a time.

    Args:
        hashes: of all occurrences, one document after the other.
        bounds: as `offsets` there.

    >>> simhash_of_occurrences(np.array([5, 6, 6, 7], np.uint64), np.array([0, 1, 1, 4])).tolist()
    [5, 0, 6]
    """
    counts = np.diff(bounds)
    n_pieces = -(-counts // _MOST_IN_A_BYTE)
    first = np.cumsum(n_pieces) - n_pieces
    starts = np.repeat(bounds[:-1] - _MOST_IN_A_BYTE * first, n_pieces)
    starts += _MOST_IN_A_BYTE * np.arange(len(starts))
    ends = np.append(starts[_PIECES_AT_ONCE::_PIECES_AT_ONCE], len(hashes))
    ones = np.zeros((len(starts), 64), np.uint8)
    for at, end in zip(range(0, len(starts), _PIECES_AT_ONCE), ends.tolist(), strict=False):
        part = starts[at : at + _PIECES_AT_ONCE]
        bits = np.unpackbits(hashes[part[0] : end].astype("<u8").view(np.uint8), bitorder="little")
        sums = np.add.reduceat(bits.view(np.uint64).reshape(-1, 8), part - part[0], axis=0)
        ones[at : at + _PIECES_AT_ONCE] = sums.view(np.uint8)
    some = np.flatnonzero(n_pieces)
    totals = np.zeros((len(counts), 64), np.int64)
    if len(some):
        totals[some] = np.add.reduceat(ones, first[some], axis=0, dtype=np.int64)
    is_one = 2 * totals > counts[:, np.newaxis]
    return np.packbits(is_one, axis=1, bitorder="little").view("<u8").ravel()


def weighted_bit_sums(
    hashes: NDArray[np.uint64], weights: Weights | None = None, n_bits: int = 64
) -> NDArray[np.float64]:
    """The vote on each bit, most significant first: weights of ones minus weights of zeros.

    The sums are exact (of float weights rounded to multiples of 2^-16). Arguments and errors as
    for `simhash`.

    >>> hashes = np.array([0b100101, 0b101011], dtype=np.uint64)
    >>> weighted_bit_sums(hashes, np.array([4, 5]), n_bits=6).tolist()
    [9.0, -9.0, 1.0, -1.0, 1.0, 9.0]
    """
    if not (1 <= n_bits <= 64 or n_bits == 128):
        raise ValueError(f"n_bits must be 1 to 64, or 128, got {n_bits!r}")
    hashes = _checked_hashes(hashes)
    votes, unit = _whole_votes(weights, len(hashes))
    total = votes.sum()
    _check_total(float(total) * unit, unit)
    ones = _sums(votes, _bit_matrix(hashes, n_bits))
    sums: NDArray[np.float64] = (2.0 * ones - total) * unit
    return sums


def _sums(votes: NDArray[np.float64], bits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """For each bit the sum of the votes where it is 1."""
    # The product makes a float64 copy of the bits: in slices, it stays in the cache.
    sums: NDArray[np.float64] = votes[:_SLICE_FEATURES] @ bits[:_SLICE_FEATURES]
    for start in range(_SLICE_FEATURES, len(votes), _SLICE_FEATURES):
        part = slice(start, start + _SLICE_FEATURES)
        sums += votes[part] @ bits[part]
    return sums


def _bit_matrix(hashes: NDArray[np.uint64], n_bits: int) -> NDArray[np.uint8]:
    """Row `i`: the bits of hash `i`, most significant first; zeros and ones."""
    words = hashes[:, np.newaxis]
    if n_bits == 128:
        words = np.column_stack((hashes, _mixed(hashes)))
    unpacked = np.unpackbits(words.astype(">u8").view(np.uint8), axis=1)
    return unpacked[:, -n_bits:]


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection."""
    mixed = hashes + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _whole_votes(weights: Weights | None, n_features: int) -> tuple[NDArray[np.float64], float]:
    """The weights as whole numbers in float64, and what 1 of them stands for."""
    if weights is None:
        return np.ones(n_features), 1.0
    given: NDArray[Any] = np.asarray(weights)
    if given.dtype.kind not in "iuf":
        raise TypeError(f"weights must be numbers, got dtype {given.dtype}")
    if given.shape != (n_features,):
        raise ValueError(
            f"weights must have one value for each of {n_features} hashes, got shape {given.shape}"
        )
    unit = _WEIGHT_UNIT if given.dtype.kind == "f" else 1.0
    least = given.min(initial=0)
    if not least >= 0:
        raise ValueError(f"weights must be non-negative numbers, got {least!r}")
    _check_total(float(given.max(initial=0)), unit)
    return np.rint(given.astype(np.float64) / unit), unit


def _check_total(total: float, unit: float) -> None:
    # The sum of a bit is computed as twice its ones minus all, hence half the limit.
    limit = _EXACT_LIMIT / 2 * unit
    if not total <= limit:
        raise ValueError(f"a document's weights must sum to at most {limit:.3g}, got {total:.3g}")


def _checked_hashes(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    hashes = np.asarray(hashes)
    if hashes.dtype != np.uint64:
        raise TypeError(f"hashes must be an array of uint64, got dtype {hashes.dtype}")
    if hashes.ndim != 1:
        raise ValueError(f"hashes must be a one-dimensional array, got shape {hashes.shape}")
    return hashes


def _checked_offsets(offsets: NDArray[np.integer[Any]], n_features: int) -> list[int]:
    bounds: list[int] = np.asarray(offsets).tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != n_features or sorted(bounds) != bounds:
        raise ValueError(
            f"offsets must ascend from 0 to the number of hashes, {n_features}, got {offsets!r}"
        )
    return bounds


def _batch_end(bounds: list[int], first: int) -> int:
    """The end of the batch of documents that starts at `first`: at least one document."""
    end = first + 1
    while end + 1 < len(bounds) and bounds[end + 1] - bounds[first] <= _BATCH_FEATURES:
        end += 1
    return end
