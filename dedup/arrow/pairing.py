"""From buckets, the rows that share a key, to pairs: exact, without sampling."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup.arrow.scattering import Block, Entries
from dedup.arrow.signing import stage_of
from dedup.arrow.sketching import RowSketches
from dedup.collection.rules import Rules
from dedup.detectors import EXACT_STAGES, STAGES

PAIRED = pa.schema(
    [("a", pa.int64()), ("b", pa.int64()), ("stages", pa.int32()), ("distance", pa.int32())]
)
"""`a` is the earlier row. `stages`: a bit for the place in `STAGES` of the stage that proposes the
pair. `distance`: in bits; 64 where another stage than simhash does."""

NO_DISTANCE = 64

_SIMHASH = np.int32(1 << STAGES.index("simhash"))
_EXACT = np.int32((1 << len(EXACT_STAGES)) - 1)
_PAIRS_AT_ONCE = 1 << 18
_MOST_WAITING = 1 << 22


def paired(table: pa.Table, rules: Rules) -> pa.Table:
    """Pair the rows of a partition of buckets.

    Sets with a resemblance of at least t differ in size by no more than the factor t: so rows are
    taken in the order of their sizes, and each is paired with those in reach. Of the stage simhash,
    only fingerprints within the distance make a pair. Pairs that no exact stage proposes are left
    out where their sketches rule out the resemblance.

    Args:
        table: of `scattering.SCATTERED`.
        rules: the threshold and the distance.
    """
    rows, entries = Block.joined(table)
    sketches = RowSketches(rows.sizes.astype(np.int64), rows.sketches, rules)
    found = _Pairs()
    for pairs in _in_reach(_buckets(entries, rows.sizes), rules.threshold):
        differing = rows.fingerprints[pairs.first] ^ rows.fingerprints[pairs.second]
        distances = np.bitwise_count(differing.view(np.uint64)).astype(np.int32)
        is_near = distances <= rules.config.simhash_distance
        stages = np.where(is_near, pairs.stages, pairs.stages & ~_SIMHASH)
        left = np.flatnonzero(stages)
        is_proposed = (stages[left] & _EXACT) > 0
        is_proposed |= sketches.may_resemble(pairs.first[left], pairs.second[left])
        left = left[is_proposed]
        distances[(stages & _SIMHASH) == 0] = NO_DISTANCE
        found.add(pairs.first[left], pairs.second[left], stages[left], distances[left])
    first, second, stages, distances = found.joined()
    one, other = rows.numbers[first], rows.numbers[second]
    columns = (np.minimum(one, other), np.maximum(one, other), stages, distances)
    arrays = [pa.array(each).cast(kind.type) for each, kind in zip(columns, PAIRED, strict=True)]
    return pa.table(arrays, schema=PAIRED)


class _Buckets(NamedTuple):
    """Rows in buckets of two rows or more, by bucket and size.

    Attributes:
        rows: their places.
        sizes: of the rows.
        sides: 1 for rows of the second block of a cell.
        ids: of the bucket, ascending.
        stages: of the bucket, a bit for each of its stages.
        is_mixed: is the bucket a cell of two blocks, of which only pairs of both are made?
    """

    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sides: NDArray[np.int64]
    ids: NDArray[np.int64]
    stages: NDArray[np.int32]
    is_mixed: NDArray[np.bool_]


def _buckets(entries: Entries, sizes: NDArray[np.int32]) -> _Buckets:
    order = np.lexsort((entries.owners, sizes[entries.owners], entries.cells >> 1, entries.keys))
    keys, owners, marked = entries.take(order)
    cells, sides = marked >> 1, marked & 1
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = (keys[1:] != keys[:-1]) | (cells[1:] != cells[:-1])
    starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(starts, len(keys)))
    stages = (1 << stage_of(keys[starts].view(np.int64))).astype(np.int32)
    is_first, stages = _merged(owners, starts, lengths, stages, sides)
    is_kept = is_first & (lengths > 1)
    kept = np.repeat(is_kept, lengths)
    ids = np.repeat(np.cumsum(is_kept) - 1, lengths)[kept]
    low, high = cells >> 20, cells & (1 << 20) - 1
    return _Buckets(
        owners[kept],
        sizes[owners[kept]].astype(np.int64),
        sides[kept],
        ids,
        np.repeat(stages, lengths)[kept],
        (low != high)[kept],
    )


def _merged(
    owners: NDArray[np.int64],
    starts: NDArray[np.intp],
    lengths: NDArray[np.intp],
    stages: NDArray[np.int32],
    sides: NDArray[np.int64],
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Of buckets of the same rows, as copies of one row share all keys, which is the first.

    It has the stages of all. Exact stages pair all sizes, so their buckets are apart from others.
    """
    draws = np.random.default_rng(0).integers(0, 2**64, (2, int(owners.max(initial=0)) + 1), "u8")
    hashes = np.add.reduceat(draws[sides, owners], starts) if len(starts) else draws[0, :0]
    is_exact = (stages & _EXACT) > 0
    order = np.lexsort((is_exact, lengths, hashes))
    same = np.zeros(len(order), np.bool_)
    same[1:] = True
    for each in (hashes, lengths, is_exact):
        same[1:] &= each[order][1:] == each[order][:-1]
    firsts = np.flatnonzero(~same)
    merged = np.zeros_like(stages)
    is_first = np.zeros(len(stages), np.bool_)
    if len(firsts):
        merged[order[firsts]] = np.bitwise_or.reduceat(stages[order], firsts)
        is_first[order[firsts]] = True
    return is_first, merged


class _Reach(NamedTuple):
    """Pairs of rows, by their places, the smaller row first, and the stages of their bucket."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    stages: NDArray[np.int32]


def _in_reach(buckets: _Buckets, threshold: float) -> Iterator[_Reach]:
    """Yield the pairs of each bucket whose sizes are no further apart than the threshold allows."""
    rows, sizes, sides, ids, stages, is_mixed = buckets
    most = (1 << 32) - 1
    largest = np.minimum((sizes / threshold * (1 + 1e-9)).astype(np.int64), most)
    largest[(stages & _EXACT) > 0] = most
    ends = np.searchsorted(ids << 32 | sizes, ids << 32 | largest, side="right")
    counts = ends - np.arange(len(rows)) - 1
    totals = np.append(0, np.cumsum(counts))
    start = 0
    while start < len(rows):
        stop = int(np.searchsorted(totals, totals[start] + _PAIRS_AT_ONCE, side="right")) - 1
        stop = max(stop, start + 1)
        part = counts[start:stop]
        first = np.repeat(np.arange(start, stop), part)
        steps = np.arange(len(first)) - np.repeat(totals[start:stop] - totals[start], part)
        second = first + 1 + steps
        is_pair = ~is_mixed[first] | (sides[first] != sides[second])
        first, second = first[is_pair], second[is_pair]
        yield _Reach(rows[first], rows[second], stages[first])
        start = stop


class _Pairs:
    """Pairs, each once, with the stages of all that proposed it, and its distance."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]] = []
        self._waiting = 0

    def add(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        stages: NDArray[np.int32],
        distances: NDArray[np.int32],
    ) -> None:
        low, high = np.minimum(first, second), np.maximum(first, second)
        self._parts.append((low << 32 | high, stages, distances))
        self._waiting += len(low)
        if self._waiting > _MOST_WAITING:
            self._parts = [self._once()]
            self._waiting = 0

    def joined(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        pairs, stages, distances = self._once()
        return pairs >> 32, pairs & 0xFFFF_FFFF, stages, distances

    def _once(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        none = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
        pairs, stages, distances = map(np.concatenate, zip(none, *self._parts, strict=True))
        order = np.argsort(pairs, kind="stable")
        pairs = pairs[order]
        if not len(pairs):
            return none
        firsts = np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1]))
        return (
            pairs[firsts],
            np.bitwise_or.reduceat(stages[order], firsts),
            np.minimum.reduceat(distances[order], firsts),
        )
