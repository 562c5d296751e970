"""Which documents cannot resemble each other, without reading their texts.

Where thousands of documents share a sentence, most of the candidates that a key proposes are not
near. To read a candidate's text and make its shingles takes 150 µs, to look at its sketch one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.detectors.signing import Signer

_BITS = 1_024
_WORDS = _BITS // 64
_SAMPLED = 400
"""Shingles of a sketch: some 32% of the bits."""

_ROWS = 1_024

_PAIRS_AT_ONCE = 1 << 13
"""So few that their bits, 1 MB, stay in the cache."""


class Sketches:
    """A Bloom filter of one hash for each document, over a part of its shingles: 133 bytes.

    The part are the hashes below 2^(64 - k), with the k that leaves 400 or fewer on average. Of
    two sets, the shingles of one that are in the part, and whose bits the other lacks, are not
    shared: that bounds the resemblance from above, and a document is ruled out only by that bound.
    Nothing near is ever lost. Unlike documents of up to 1,600 shingles are ruled out nearly always,
    longer ones seldom, as the part is too small to tell.
    """

    def __init__(self) -> None:
        self._first = -1
        self._bits = np.zeros((0, _WORDS), np.uint64)
        self._sizes = np.zeros(0, np.int32)
        self._shifts = np.zeros(0, np.int8)
        self._shingles: NDArray[np.uint64] | None = None
        self._known: dict[int, tuple[int, list[NDArray[np.uint64]]]] = {}

    @property
    def size_bytes(self) -> int:
        return self._bits.nbytes + self._sizes.nbytes + self._shifts.nbytes

    def add(self, number: int, shingles: NDArray[np.uint64]) -> None:
        """Keep the sketch of a document; numbers ascend."""
        sketch = _sketched([shingles], [_shift_of(len(shingles))])
        self.add_many(np.array([number]), np.array([len(shingles)]), sketch)

    def add_many(
        self, numbers: NDArray[np.int64], sizes: NDArray[np.int64], sketches: NDArray[np.uint64]
    ) -> None:
        """Keep the sketches of documents; numbers ascend.

        Args:
            numbers: of the documents.
            sizes: how many shingles each has.
            sketches: shape (n, words).
        """
        if not len(numbers):
            return
        if self._first < 0:
            self._first = int(numbers[0])
        rows = numbers - self._first
        if rows[-1] >= len(self._sizes):
            self._grow(max(int(rows[-1]) + 1, _ROWS, len(self._sizes) + len(self._sizes) // 4))
        self._bits[rows], self._sizes[rows], self._shifts[rows] = sketches, sizes, shifts_of(sizes)

    def forget(self, number: int) -> None:
        """Forget the sketch of a document whose text has changed."""
        if 0 <= number - self._first < len(self._sizes):
            self._sizes[number - self._first] = 0

    def _grow(self, length: int) -> None:
        more = length - len(self._sizes)
        self._bits = np.concatenate((self._bits, np.zeros((more, _WORDS), np.uint64)))
        self._sizes = np.concatenate((self._sizes, np.zeros(more, np.int32)))
        self._shifts = np.concatenate((self._shifts, np.zeros(more, np.int8)))

    def may_resemble(
        self, shingles: NDArray[np.uint64], numbers: NDArray[np.int64], *, at_least: float
    ) -> NDArray[np.bool_]:
        """Which documents may have that resemblance; documents without a sketch may."""
        may = np.ones(len(numbers), np.bool_)
        rows = numbers - self._first
        places = np.flatnonzero((rows >= 0) & (rows < len(self._sizes)))
        rows = rows[places]
        sizes, shifts = self._sizes[rows].astype(np.int64), self._shifts[rows]
        for shift in set(shifts.tolist()):
            of_shift = np.flatnonzero((shifts == shift) & (sizes > 0))
            length, masks = self._asked(shingles, shift)
            bits = self._bits[rows[of_shift]]
            shared = np.full(len(bits), len(shingles) - length)
            for mask in masks:
                shared += np.bitwise_count(bits & mask).sum(axis=1, dtype=np.int64)
            shared = np.minimum(shared, sizes[of_shift])
            union = len(shingles) + sizes[of_shift] - shared
            # A little less than asked: rounding must not rule out what is just near enough.
            may[places[of_shift]] = shared >= (at_least - 1e-9) * union
        return may

    def may_resemble_many(
        self,
        asked: "AskedSets",
        owners: NDArray[np.intp],
        numbers: NDArray[np.int64],
        *,
        at_least: float,
    ) -> NDArray[np.bool_]:
        """The same for pairs of a set, by its place in `asked`, and a document.

        By a looser bound that takes fewer operations: for each bit that a set has and the document
        lacks, a shingle of the set's at least is not shared.
        """
        may = np.ones(len(numbers), np.bool_)
        rows = numbers - self._first
        kept = np.flatnonzero((rows >= 0) & (rows < len(self._sizes)))
        kept = kept[self._sizes[rows[kept]] > 0]
        rows = rows[kept]
        sizes, shifts = self._sizes[rows].astype(np.int64), self._shifts[rows]

        def bits(_: int, pairs: NDArray[np.intp]) -> NDArray[np.uint64]:
            return self._bits.take(rows[pairs], axis=0)

        may[kept] = asked.may_share(owners[kept], sizes, shifts, bits, at_least=at_least)
        return may

    def _asked(
        self, shingles: NDArray[np.uint64], shift: int
    ) -> tuple[int, list[NDArray[np.uint64]]]:
        """The number of shingles in a part, and the bits that one, two, three… of them set.

        The last result is cached, because several detectors ask about one document.
        """
        if shingles is not self._shingles:
            self._shingles, self._known = shingles, {}
        if shift not in self._known:
            places = _places(_part(shingles, shift))
            counts = np.bincount(places, minlength=_BITS)
            most = int(counts.max())
            self._known[shift] = len(places), [_packed(counts >= n) for n in range(1, most + 1)]
        return self._known[shift]


class SketchSigner(Signer):
    """Computes the bits of sketches; it belongs to no stage."""

    def __init__(self) -> None:
        super().__init__("sketch")

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"bits": _BITS, "sampled": _SAMPLED, "shingles": 1}

    def compute(self, portion: Portion) -> Signatures:
        sizes, shingles, owners = portion.sizes, portion.shingles, portion.owners
        shifts = shifts_of(sizes).astype(np.uint64)
        if shifts.any():
            is_part = shingles <= (np.uint64(2**64 - 1) >> shifts)[owners]
            shingles, owners = shingles[is_part], owners[is_part]
        is_set = np.zeros((len(sizes), _BITS), np.bool_)
        is_set.ravel()[owners * _BITS + _places(shingles)] = True
        return Signatures.of_keys(_packed(is_set), np.full(len(sizes), _WORDS))


class AskedSets:
    """Sets of shingles that are asked about together, with their sketches.

    Attributes:
        lengths: of the sets.
        sketches: shape (n, words).
    """

    def __init__(self, batch: Batch) -> None:
        self.lengths = batch.sizes
        self.sketches = batch.signatures(SketchSigner()).rows.view(np.uint64)
        self._documents = batch.documents
        self._shifts = shifts_of(batch.sizes)
        self._bits: dict[int, tuple[NDArray[np.uint64], NDArray[np.bool_]]] = {}

    def may_resemble(
        self, owners: NDArray[np.intp], others: NDArray[np.intp], *, at_least: float
    ) -> NDArray[np.bool_]:
        """Which pairs of these sets, by their places, may have that resemblance."""

        def bits(shift: int, pairs: NDArray[np.intp]) -> NDArray[np.uint64]:
            return self.bits(shift, others[pairs])

        sizes, shifts = self.lengths[others], self._shifts[others]
        return self.may_share(owners, sizes, shifts, bits, at_least=at_least)

    def may_share(
        self,
        owners: NDArray[np.intp],
        sizes: NDArray[np.int64],
        shifts: NDArray[np.integer[Any]],
        bits: Callable[[int, NDArray[np.intp]], NDArray[np.uint64]],
        *,
        at_least: float,
    ) -> NDArray[np.bool_]:
        """Which pairs of one of these sets and another one may have that resemblance.

        Args:
            owners: of each pair, the place of the set.
            sizes: of the other one.
            shifts: of the other one.
            bits: the sketches of the others of some pairs, which have one shift.
            at_least: the resemblance.
        """
        at_least -= 1e-9  # rounding must not rule out what is just near enough
        may = np.zeros(len(owners), np.bool_)
        lengths = self.lengths[owners]
        kept = np.flatnonzero(np.minimum(lengths, sizes) >= at_least * np.maximum(lengths, sizes))
        for shift in np.unique(shifts[kept]).tolist():
            of_shift = kept[shifts[kept] == shift]
            for start in range(0, len(of_shift), _PAIRS_AT_ONCE):
                pairs = of_shift[start : start + _PAIRS_AT_ONCE]
                lacked = np.invert(bits(shift, pairs))
                lacked &= self.bits(shift, owners[pairs])
                # Of each pair, the bits that only the set has: at least as many shingles.
                shared = lengths[pairs] - _count_bits(lacked)
                shared = np.minimum(shared, sizes[pairs])
                union = lengths[pairs] + sizes[pairs] - shared
                may[pairs] = shared >= at_least * union
        return may

    def bits(self, shift: int, places: NDArray[np.intp]) -> NDArray[np.uint64]:
        """Of some sets, the bits of the part that a `shift` leaves; shape (n, words)."""
        if shift not in self._bits:
            self._bits[shift] = self.sketches.copy(), self._shifts == shift
        bits, is_known = self._bits[shift]
        missing = np.unique(places[~is_known[places]])
        if len(missing):
            sets = [self._documents[place].shingles for place in missing.tolist()]
            bits[missing] = _sketched(sets, [shift] * len(sets))
            is_known[missing] = True
        return bits.take(places, axis=0)


def _shift_of(size: int) -> int:
    return max((size - 1) // _SAMPLED, 0).bit_length()


def shifts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of sets of these sizes, which part a sketch is of: the k of `Sketches`."""
    _, exponents = np.frexp(np.maximum(sizes - 1, 0) // _SAMPLED)
    return np.asarray(exponents, np.int64)  # `_shift_of` each: how many bits a number has


def _sketched(sets: Sequence[NDArray[np.uint64]], shifts: Sequence[int]) -> NDArray[np.uint64]:
    """The bits of sets, each of the part that its shift leaves; shape (n, words)."""
    parts = [_part(each, shift) for each, shift in zip(sets, shifts, strict=True)]
    rows = np.repeat(np.arange(len(parts)), list(map(len, parts)))
    is_set = np.zeros((len(parts), _BITS), np.bool_)
    is_set[rows, _places(np.concatenate([np.empty(0, np.uint64), *parts]))] = True
    return _packed(is_set)


def _packed(is_set: NDArray[np.bool_]) -> NDArray[np.uint64]:
    return np.packbits(is_set, axis=-1, bitorder="little").view(np.uint64)


def _count_bits(sketches: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits of each sketch are set: counts of bytes, added side by side in a word."""
    counts = np.bitwise_count(sketches).view(np.uint64)
    sums = counts[:, 0] + counts[:, 1]  # of two bytes each, 128 at most
    pairs = (sums & _EVERY_SECOND_BYTE) + (sums >> np.uint64(8) & _EVERY_SECOND_BYTE)
    return ((pairs * _ONES_OF_16_BITS) >> np.uint64(48)).astype(np.int64)


_EVERY_SECOND_BYTE = np.uint64(0x00FF_00FF_00FF_00FF)
_ONES_OF_16_BITS = np.uint64(0x0001_0001_0001_0001)


def _part(shingles: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    return shingles[: shingles.searchsorted(np.uint64((1 << 64 - shift) - 1), side="right")]


def _places(shingles: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The bit of each shingle, from the lowest bits of its hash."""
    return (shingles & np.uint64(_BITS - 1)).astype(np.int64)
