"""From rows to partitions of buckets: what rows that share a key need to become pairs.

Each row goes once to each partition that has a bucket of its keys, with its sketches. Rows travel
in blocks: a block is a few arrays of some ten thousand rows.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup.arrow.sketching import WORDS

SCATTERED = pa.schema(
    [
        ("part", pa.int32()),
        ("numbers", pa.binary()),
        ("sizes", pa.binary()),
        ("fingerprints", pa.binary()),
        ("sketches", pa.binary()),
        ("keys", pa.binary()),
        ("owners", pa.binary()),
        ("cells", pa.binary()),
    ]
)
"""A block of rows for a partition of buckets: the arrays of `Rows` and `Entries`."""

_ROWS_AT_ONCE = 1 << 15
_MIX = np.uint64(0x9E37_79B9_7F4A_7C15)
"""2^64 divided by the golden ratio; products have their entropy in the upper bits."""


class Rows(NamedTuple):
    """Attributes: see `signing.SIGNED`; `sketches`: of all rows, one after the other."""

    numbers: NDArray[np.int64]
    sizes: NDArray[np.int32]
    fingerprints: NDArray[np.int64]
    sketches: NDArray[np.uint64]


class Entries(NamedTuple):
    """Rows in buckets.

    Attributes:
        keys: of the buckets.
        owners: the place of the row.
        cells: of a bucket that is split, which cell of it: twice `first block << 20 | second`, and
            1 for rows of the second block of two. Of two blocks, only pairs of both are made.
    """

    keys: NDArray[np.uint64]
    owners: NDArray[np.int64]
    cells: NDArray[np.int64]

    def take(self, places: NDArray[np.intp]) -> "Entries":
        return Entries(self.keys[places], self.owners[places], self.cells[places])


class Block(NamedTuple):
    """What a partition of buckets knows."""

    rows: Rows
    entries: Entries

    @classmethod
    def joined(cls, table: pa.Table) -> Self:
        """All blocks of a partition as one."""
        arrays = {
            name: [np.frombuffer(each, kind) for each in table.column(name).to_pylist()]
            for name, kind in _KINDS.items()
        }
        starts = np.cumsum([0, *map(len, arrays["numbers"])])
        arrays["owners"] = [
            owners.astype(np.int64) + start
            for owners, start in zip(arrays["owners"], starts, strict=False)
        ]
        found = {name: np.concatenate(each) for name, each in arrays.items()}
        found["sketches"] = found["sketches"].reshape(-1, WORDS)
        rows = Rows(*(found[name] for name in Rows._fields))
        return cls(rows, Entries(*(found[name] for name in Entries._fields)))


_KINDS = {
    "numbers": "<i8",
    "sizes": "<i4",
    "fingerprints": "<i8",
    "sketches": "<u8",
    "keys": "<u8",
    "owners": "<i4",
    "cells": "<i8",
}


def scattered(
    batches: Iterator[pa.RecordBatch], parts: int, large: Mapping[int, int]
) -> Iterator[pa.RecordBatch]:
    """Cut rows of `signing.SIGNED` into blocks, one for each partition of buckets.

    Args:
        batches: the rows.
        parts: partitions.
        large: keys of buckets that are split, and into how many blocks of rows. Any two blocks are
            a cell, which is a bucket of its own.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _ROWS_AT_ONCE:
            yield _scattered(pa.Table.from_batches(waiting), parts, large)
            waiting = []
    if waiting:
        yield _scattered(pa.Table.from_batches(waiting), parts, large)


def _scattered(table: pa.Table, parts: int, large: Mapping[int, int]) -> pa.RecordBatch:
    numbers, sizes, fingerprints = (
        table.column(name).to_numpy() for name in ("number", "size", "fingerprint")
    )
    packed = table.column("sketches").to_pylist()
    sketches = np.frombuffer(b"".join(packed), "<u8").reshape(-1, WORDS)
    sketched = np.repeat(np.arange(len(packed)), [len(each) // (8 * WORDS) for each in packed])
    keys = table.column("keys").combine_chunks()
    entries = _split(
        Entries(
            keys.flatten().to_numpy().view(np.uint64),
            np.repeat(np.arange(len(keys)), keys.value_lengths().to_numpy()),
            np.zeros(len(keys.flatten()), np.int64),
        ),
        numbers,
        large,
    )
    buckets = entries.keys ^ (entries.cells >> 1).view(np.uint64) * _MIX
    part_of = ((buckets * _MIX >> np.uint64(32)) % np.uint64(parts)).astype(np.int32)
    order = np.argsort(part_of, kind="stable")
    bounds = np.searchsorted(part_of[order], np.arange(parts + 1))
    blocks = []
    for part, (start, stop) in enumerate(pairwise(bounds.tolist())):
        if start == stop:
            continue
        here = entries.take(order[start:stop])
        rows, owners = np.unique(here.owners, return_inverse=True)
        is_here = np.zeros(len(numbers), np.bool_)
        is_here[rows] = True
        arrays = {
            "numbers": numbers[rows],
            "sizes": sizes[rows],
            "fingerprints": fingerprints[rows],
            "sketches": sketches[is_here[sketched]],
            **here._replace(owners=owners.astype(np.int64))._asdict(),
        }
        blocks.append(
            {"part": part}
            | {name: arrays[name].astype(kind).tobytes() for name, kind in _KINDS.items()}
        )
    return pa.RecordBatch.from_pylist(blocks, SCATTERED)


def _split(entries: Entries, numbers: NDArray[np.int64], large: Mapping[int, int]) -> Entries:
    """Put rows of large buckets into all cells of their block."""
    if not large:
        return entries
    known = np.array(sorted(large), np.int64).view(np.uint64)
    known.sort()
    counts = np.array([large[key] for key in known.view(np.int64).tolist()])
    at = np.minimum(known.searchsorted(entries.keys), len(known) - 1)
    n_blocks = np.where(known[at] == entries.keys, counts[at], 1)
    each = np.repeat(np.arange(len(n_blocks)), n_blocks)
    other = np.arange(len(each)) - np.repeat(np.cumsum(n_blocks) - n_blocks, n_blocks)
    keys, owners = entries.keys[each], entries.owners[each]
    mixed = numbers[owners].astype(np.uint64) * _MIX >> np.uint64(40)
    own = (mixed % n_blocks[each].astype(np.uint64)).astype(np.int64)
    low, high = np.minimum(own, other), np.maximum(own, other)
    is_second = (own == high) & (low != high)
    return Entries(keys, owners, (low << 20 | high) << 1 | is_second)
