"""From buckets, the rows that share a key, to pairs: exact, without sampling."""

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup.arrow.signing import stage_of
from dedup.collection.rules import Rules
from dedup.detectors import EXACT_STAGES, STAGES

PAIRED = pa.schema(
    [("a", pa.int64()), ("b", pa.int64()), ("stages", pa.int32()), ("distance", pa.int32())]
)
"""`a` is the earlier row. `stages`: a bit for the place in `STAGES` of the stage that proposes the
pair. `distance`: in bits; 64 where another stage than simhash does."""

NO_DISTANCE = 64

_SIMHASH = STAGES.index("simhash")
_PAIRS_AT_ONCE = 1_000_000


def paired(batches: Iterator[pa.RecordBatch], rules: Rules) -> Iterator[pa.RecordBatch]:
    """Pair the rows of buckets.

    Sets with a resemblance of at least t differ in size by no more than the factor t: so rows are
    taken in the order of their sizes, and each is paired with those in reach. Of the stage simhash,
    only fingerprints within the distance make a pair.

    Args:
        batches: `key`, and the lists `numbers`, `sizes` and `fingerprints` of its rows.
        rules: the threshold and the distance.
    """
    distance = rules.config.simhash_distance
    for batch in batches:
        found: list[tuple[NDArray[np.int64], ...]] = []
        waiting = 0
        stages = stage_of(batch.column("key").to_numpy(zero_copy_only=False).astype(np.int64))
        lists = [batch.column(name) for name in ("numbers", "sizes", "fingerprints")]
        for place, stage in enumerate(stages.tolist()):
            numbers, sizes, fingerprints = (
                each[place].values.to_numpy(zero_copy_only=False).astype(np.int64) for each in lists
            )
            threshold = 0.0 if stage < len(EXACT_STAGES) else rules.threshold
            for first, second in _in_reach(sizes, threshold):
                pair = _pair(numbers, fingerprints, first, second, stage, distance)
                found.append(pair)
                waiting += len(pair[0])
                if waiting >= _PAIRS_AT_ONCE:
                    yield _batch(found)
                    found, waiting = [], 0
        if found:
            yield _batch(found)


def prefix_tokens(shingles: NDArray[np.uint64], threshold: float) -> NDArray[np.int64]:
    """The first shingles, of which two sets share one if they have a resemblance of `threshold`.

    The common order is that of the hashes. A set of none has a token of its own.

    Source: Xiao, Wang, Lin, Yu, Efficient similarity joins for near duplicate detection, WWW 2008,
    section 2.3.
    """
    if not len(shingles):
        return np.zeros(1, np.int64)
    # A little less than the threshold: rounding must not shorten the prefix.
    count = len(shingles) - math.ceil(threshold * len(shingles) - 1e-6) + 1
    return shingles[:count].view(np.int64)


def _in_reach(
    sizes: NDArray[np.int64], threshold: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the places of rows whose sizes are no further apart than the threshold allows."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    reach = np.full(len(sizes), len(sizes))
    if threshold > 0:
        reach = np.searchsorted(ordered, ordered / threshold * (1 + 1e-9), side="right")
    counts = np.maximum(reach - np.arange(len(sizes)) - 1, 0)
    start = 0
    while start < len(sizes):
        stop = start + 1
        total = int(counts[start])
        while stop < len(sizes) and total + counts[stop] <= _PAIRS_AT_ONCE:
            total += int(counts[stop])
            stop += 1
        part = counts[start:stop]
        first = np.repeat(np.arange(start, stop), part)
        offsets = np.arange(len(first)) - np.repeat(np.cumsum(part) - part, part)
        yield order[first], order[first + 1 + offsets]
        start = stop


def _pair(
    numbers: NDArray[np.int64],
    fingerprints: NDArray[np.int64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    stage: int,
    max_distance: int,
) -> tuple[NDArray[np.int64], ...]:
    distances = np.full(len(first), NO_DISTANCE)
    if stage == _SIMHASH:
        differing = (fingerprints[first] ^ fingerprints[second]).view(np.uint64)
        distances = np.bitwise_count(differing).astype(np.int64)
        is_near = distances <= max_distance
        first, second, distances = first[is_near], second[is_near], distances[is_near]
    one, other = numbers[first], numbers[second]
    bits = np.full(len(one), 1 << stage)
    return np.minimum(one, other), np.maximum(one, other), bits, distances


def _batch(found: list[tuple[NDArray[np.int64], ...]]) -> pa.RecordBatch:
    columns = [np.concatenate(each) for each in zip(*found, strict=True)]
    arrays = [
        pa.array(values).cast(kind.type) for values, kind in zip(columns, PAIRED, strict=True)
    ]
    return pa.record_batch(arrays, schema=PAIRED)
