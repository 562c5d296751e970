"""One permuted table: the rows of a run, sorted by the bits that its layout brings to the front."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.index.arrays import Arrays
from dedup.index.layouts import directory_bits

_CANDIDATES_AT_ONCE = 1 << 16
"""What a batch compares at a time: so little that the temporary arrays stay in the cache."""

_WINDOW = 16
"""Digests that a batch reads at once of each long bucket: 64 bytes, the line of a cache."""

_FEW_QUERIES = 256
"""For fewer long buckets than that, reading by windows is slower than reading them whole."""

_ROWS_AT_ONCE = 1 << 15
"""What merging copies at a time: a millisecond or so, and it stays in the cache."""

Indices = NDArray[np.intp]
Digests = NDArray[np.uint32]


class Table:
    """The rows of a run in the order of one permutation, with the directory of its buckets.

    Bucket `b` holds the rows whose key starts with the bits of `b`; they are
    `rows[directory[b] : directory[b + 1]]`, ascending, and their digests stand in the same places
    of `digests`, side by side in memory.
    """

    __slots__ = ("digests", "directory", "lookup", "padded", "row_at", "rows", "shift", "starts")

    def __init__(self, n_rows: int, n_bits: int, key_bits: int, arrays: Arrays) -> None:
        self.shift = key_bits - n_bits
        self.rows = arrays.empty(n_rows, np.uint32)
        self.padded = arrays.empty(n_rows + _WINDOW, np.uint32)
        self.padded[n_rows:] = 0
        self.digests = self.padded[:n_rows]
        self.directory = arrays.empty((1 << n_bits) + 1, np.uint32)
        self.directory[0] = 0
        self.starts = elements(self.directory)
        self.row_at = elements(self.rows)
        self.lookup = (self.shift, self.starts, self.digests, self.row_at)

    @classmethod
    def build(
        cls, keys: NDArray[np.uint32], key_bits: int, row_digests: Digests, arrays: Arrays
    ) -> "Table":
        n_bits = directory_bits(key_bits, len(keys))
        table = cls(len(keys), n_bits, key_bits, arrays)
        buckets = keys >> np.uint32(table.shift)
        order = _stable_order(buckets, n_bits)
        table.rows[:] = order
        np.take(row_digests, order, out=table.digests)
        np.cumsum(np.bincount(buckets, minlength=1 << n_bits), out=table.directory[1:])
        return table

    def merge(
        self, parts: "Sequence[Table]", keys_of: Callable[[NDArray[np.uint32]], NDArray[np.uint32]]
    ) -> Iterator[int]:
        """Fill this table, still empty, with the rows of `parts`, numbered one part after another.

        Yields how many rows it has copied since it last did: some tens of thousands, as far as
        buckets are of equal length. `keys_of` gives the keys of rows by their new numbers.
        """
        first_rows = list(accumulate((len(part.rows) for part in parts), initial=0))
        n_bits = self.n_bits
        # As many pieces as make each one small, as long as they begin at a bucket's start.
        piece_bits = max(0, (len(self.rows) // _ROWS_AT_ONCE).bit_length())
        piece_bits = min([piece_bits, n_bits, *(part.n_bits for part in parts)])
        n_buckets = 1 << (n_bits - piece_bits)
        stop = 0
        for piece in range(1 << piece_bits):
            pieces = [part.piece(piece, piece_bits) for part in parts]
            rows = np.concatenate(
                [
                    part.rows[where] + np.uint32(first)
                    for part, where, first in zip(parts, pieces, first_rows, strict=False)
                ]
            )
            start, stop = stop, stop + len(rows)
            buckets = (keys_of(rows) >> np.uint32(self.shift)) - np.uint32(piece * n_buckets)
            order = _stable_order(buckets, n_bits - piece_bits)
            np.take(rows, order, out=self.rows[start:stop])
            digests = np.concatenate(
                [part.digests[where] for part, where in zip(parts, pieces, strict=True)]
            )
            np.take(digests, order, out=self.digests[start:stop])
            ends = np.cumsum(np.bincount(buckets, minlength=n_buckets))
            first_bucket = piece * n_buckets + 1
            self.directory[first_bucket : first_bucket + n_buckets] = ends + start
            yield len(rows)

    def piece(self, piece: int, piece_bits: int) -> slice:
        """Where the rows are whose keys start with the `piece_bits` bits of `piece`."""
        width = self.n_bits - piece_bits
        return slice(self.starts[piece << width], self.starts[piece + 1 << width])

    @property
    def n_bits(self) -> int:
        """How many bits of a key the directory resolves."""
        return (len(self.directory) - 1).bit_length() - 1

    @property
    def size_bytes(self) -> int:
        return self.rows.nbytes + self.padded.nbytes + self.directory.nbytes

    def near(
        self, keys: NDArray[np.uint32], query_digests: Digests, limit: int
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield query indices and places in the table, where digests are within `limit`.

        All of each query's bucket, and what happens to be read from the next buckets.
        """
        buckets = keys >> np.uint32(self.shift)
        starts = self.directory[buckets].astype(np.intp)
        counts = self.directory[buckets + np.uint32(1)] - starts
        while (long := np.flatnonzero(counts > _WINDOW // 2)).size >= _FEW_QUERIES:
            yield self._near_in_windows(long, starts[long], query_digests[long], limit)
            starts[long] += _WINDOW
            counts[long] = np.maximum(counts[long] - _WINDOW, 0)
        ends = np.cumsum(counts)
        first = read = 0
        while first < len(counts):
            last = int(np.searchsorted(ends, read + _CANDIDATES_AT_ONCE, side="right"))
            some = slice(first, max(last, first + 1))
            indices, places = self._near_in_buckets(
                starts[some], counts[some], query_digests[some], limit
            )
            yield indices + first, places
            first, read = some.stop, int(ends[some.stop - 1])

    def _near_in_windows(
        self, queries: Indices, starts: Indices, query_digests: Digests, limit: int
    ) -> tuple[Indices, Indices]:
        """Compare each query with the digests in one window; return queries and places."""
        # Each window is one element: taking it is a copy of 64 bytes, not of 16 numbers.
        windows: NDArray[np.void] = np.ndarray(
            (len(self.digests),), np.dtype((np.void, 4 * _WINDOW)), self.padded, 0, (4,)
        )
        differing = windows[starts].view(np.uint32).reshape(-1, _WINDOW)
        differing ^= query_digests[:, np.newaxis]
        hits = np.flatnonzero(np.bitwise_count(differing) <= limit)
        indices = hits // _WINDOW
        places = starts[indices] + hits % _WINDOW
        inside = places < len(self.digests)
        return queries[indices[inside]], places[inside]

    def _near_in_buckets(
        self, starts: Indices, counts: Indices, query_digests: Digests, limit: int
    ) -> tuple[Indices, Indices]:
        """Compare each query with all digests of its bucket; return queries and places."""
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        differing = self.digests[places]
        differing ^= np.repeat(query_digests, counts)
        hits = np.flatnonzero(np.bitwise_count(differing) <= limit)
        return np.searchsorted(ends, hits, side="right"), places[hits]


def elements(array: NDArray[np.unsignedinteger[Any]]) -> Sequence[int]:
    """View an array so that its elements are Python ints, and several times as fast to get."""
    return memoryview(array)  # type: ignore[arg-type]  # arrays are buffers, from Python 3.12 on


def _stable_order(keys: NDArray[np.uint32], n_bits: int) -> Indices:
    """The order that sorts `keys` and leaves equal ones as they are.

    numpy sorts 16-bit integers by radix, five times as fast as wider ones; so wider keys are
    sorted by their lower and then by their upper half.
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    if n_bits <= 16:
        return order
    upper = (keys >> np.uint32(16)).astype(np.uint16)
    return order[np.argsort(upper[order], kind="stable")]
