"""Layouts: which bits of a fingerprint each permuted table brings to the front.

A fingerprint is cut into blocks. If two fingerprints differ in at most `k` bits, at most `k` blocks
differ, and the others are equal. One table for each choice of blocks that might be the equal ones,
and no pair within `k` is missed. With 64 bits and k = 3 there are four classic layouts:

    4 tables: 4 blocks, 1 equal                  16 bits equal
      ████············  ····████········  ········████····  ············████

    10 tables: 5 blocks (of 12 or 13), 2 equal   25-26 bits equal
      ██████··········  ███···███·······  ███······███····  …

    16 tables: 4 blocks, 1 equal; the other      28 bits equal
      48 bits again in 4 blocks, 1 equal
      ███████·········  ████···███······  ████······███···  …  ···████···███···  …

    20 tables: 6 blocks (of 10 or 11), 3 equal   31-33 bits equal
      ████████········  █████···███·····  …

More tables take more memory, 8 bytes a document and table, and find fewer candidates that turn out
not to be near: each further equal bit halves them.

Source: Manku, Jain and Das Sarma, WWW 2007, section 3.1 (the four layouts are its example 3.1).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KEY_BITS = 32
"""The maximum number of equal bits a table is sorted by: enough for 4 billion documents."""

BYTES_PER_TABLE = 8
"""What a table holds of each document: 4 bytes of a digest and 4 bytes of a row number."""

LEAST_BLOCK_BITS = 6
"""With smaller blocks, a lookup would read an eighth of all documents, and a scan is as good."""

_TABLE_COST = 400
"""How many candidates are read in the time that it takes to look into one more table."""


class Block(NamedTuple):
    """Bits `start` to `start + width - 1`, counted from the most significant bit."""

    start: int
    width: int


class _Piece(NamedTuple):
    """Part of a key: `width` bits of word `word`, found and placed by shifts."""

    word: int
    right: int
    mask: int
    left: int


@dataclass(frozen=True)
class Layout:
    """The permuted tables for fingerprints of `n_bits` and up to `max_distance` differing bits.

    Attributes:
        n_bits: width of the fingerprints (the paper's f), 64 or 128.
        max_distance: the greatest distance at which nothing is missed (the paper's k).
        tables: the equal blocks of each table, in the order in which they come to the front.
    """

    n_bits: int
    max_distance: int
    tables: tuple[tuple[Block, ...], ...]

    @classmethod
    def from_blocks(
        cls, n_bits: int, max_distance: int, *, blocks: int, equal: int = 1
    ) -> "Layout":
        """Cut into `blocks` blocks; one table for each choice of `equal` blocks of them.

        Raises:
            ValueError: `max_distance` differing bits could leave fewer than `equal` blocks equal.

        >>> Layout.from_blocks(64, 3, blocks=4).tables[1]
        (Block(start=16, width=16),)
        >>> Layout.from_blocks(64, 3, blocks=6, equal=3).n_tables
        20
        """
        _check_distance(n_bits, max_distance)
        if not max_distance < blocks <= n_bits:
            raise ValueError(f"blocks must be {max_distance + 1} to {n_bits}, got {blocks!r}")
        if not 1 <= equal <= blocks - max_distance:
            raise ValueError(f"equal must be 1 to {blocks - max_distance}, got {equal!r}")
        parts = _cut(range(n_bits), blocks)
        choices = combinations(parts, equal)
        return cls(n_bits, max_distance, tuple(_joined(chain(*choice)) for choice in choices))

    @classmethod
    def from_levels(cls, n_bits: int, max_distance: int, *, blocks: Sequence[int]) -> "Layout":
        """Cut into `blocks[0]` blocks, one equal; cut the other bits into `blocks[1]`; and so on.

        >>> Layout.from_levels(64, 3, blocks=(4, 4)).tables[4]
        (Block(start=16, width=16), Block(start=0, width=12))
        """
        _check_distance(n_bits, max_distance)
        for n_blocks in blocks:
            if not max_distance < n_blocks <= n_bits // len(blocks):
                raise ValueError(
                    f"blocks must be {max_distance + 1} to {n_bits // len(blocks)} on each level, "
                    f"got {blocks!r}"
                )
        return cls(n_bits, max_distance, tuple(map(_joined, _levels(range(n_bits), blocks))))

    @classmethod
    def named(cls, name: str, n_bits: int, max_distance: int) -> "Layout":
        """The standard layout with `name` tables: for k = 3 `"4"`, `"10"`, `"16"` or `"20"`.

        Raises:
            ValueError: there is no such layout; the message names the available ones.
        """
        layouts = cls.standard(n_bits, max_distance)
        if name not in layouts:
            raise ValueError(
                f"layout must be one of {', '.join(layouts)} for distance {max_distance}, "
                f"got {name!r}"
            )
        return layouts[name]

    @classmethod
    def standard(cls, n_bits: int, max_distance: int) -> dict[str, "Layout"]:
        """The layouts that have a name, by the number of their tables, fewest first.

        k + 1 blocks, 1 equal; k + 2, 2 equal; k + 3, 3 equal; and two levels of k + 1 blocks.
        """
        return dict(_standard(n_bits, max_distance))

    @classmethod
    def automatic(cls, n_bits: int, max_distance: int, expected_documents: int) -> "Layout":
        """The standard layout of least memory among those at most twice as slow as the fastest.

        The time of a lookup is estimated as tables + candidates / 400, both measured on single
        lookups. At k = 3 and 64 bits: 4 tables up to about 100 million documents, then 10.

        >>> [Layout.automatic(64, 3, 10**exponent).name for exponent in (6, 7, 8, 9)]
        ['4', '4', '4', '10']
        >>> Layout.automatic(128, 3, 10**9).name
        '4'
        """
        if expected_documents < 1:
            raise ValueError(f"expected_documents must be at least 1, got {expected_documents!r}")
        layouts = list(cls.standard(n_bits, max_distance).values())
        costs = [layout.lookup_cost(expected_documents) for layout in layouts]
        return next(
            layout for layout, cost in zip(layouts, costs, strict=True) if cost <= 2 * min(costs)
        )

    @property
    def name(self) -> str:
        return str(self.n_tables)

    @property
    def n_tables(self) -> int:
        return len(self.tables)

    @cached_property
    def equal_bits(self) -> tuple[int, ...]:
        """How many bits each table requires to be equal (the paper's p)."""
        return tuple(sum(block.width for block in table) for table in self.tables)

    @property
    def bytes_per_document(self) -> int:
        """Memory a document: its fingerprint, its number, and its entry in each table."""
        return self.n_bits // 8 + 4 + BYTES_PER_TABLE * self.n_tables

    def candidates(self, documents: int) -> float:
        """How many candidates a lookup reads, on average over random fingerprints."""
        return sum(documents / (1 << directory_bits(bits, documents)) for bits in self.equal_bits)

    def lookup_cost(self, documents: int) -> float:
        """Estimated time of a single lookup; the unit is the time to look into one table."""
        return self.n_tables + self.candidates(documents) / _TABLE_COST

    def keys(self, fingerprint: int) -> list[int]:
        """For each table the first bits of the permuted fingerprint, see `key_bits`."""
        if self._single_shifts:
            return [fingerprint >> shift & mask for shift, mask in self._single_shifts]
        keys = []
        for pieces in self._shifts:
            key = 0
            for shift, mask, left in pieces:
                key |= (fingerprint >> shift & mask) << left
            keys.append(key)
        return keys

    def key_column(self, words: NDArray[np.uint64], table: int) -> NDArray[np.uint32]:
        """The keys of many fingerprints in one table; `words` has shape (n, n_bits / 64)."""
        key = np.zeros(len(words), dtype=np.uint64)
        for word, right, mask, left in self._pieces[table]:
            part = (words[:, word] >> np.uint64(right)) & np.uint64(mask)
            key |= part << np.uint64(left)
        return key.astype(np.uint32)

    @cached_property
    def key_bits(self) -> tuple[int, ...]:
        """The width of each table's keys: its equal bits, at most 32."""
        return tuple(min(bits, KEY_BITS) for bits in self.equal_bits)

    @cached_property
    def masks(self) -> NDArray[np.uint64]:
        """The equal bits of each table as words, shape (n_tables, n_bits / 64)."""
        masks = [
            sum(
                (1 << block.width) - 1 << self.n_bits - block.start - block.width for block in table
            )
            for table in self.tables
        ]
        raw = b"".join(mask.to_bytes(self.n_bits // 8) for mask in masks)
        return np.frombuffer(raw, dtype=">u8").astype(np.uint64).reshape(len(masks), -1)

    @cached_property
    def _pieces(self) -> tuple[tuple[_Piece, ...], ...]:
        return tuple(
            tuple(_pieces(table, width))
            for table, width in zip(self.tables, self.key_bits, strict=True)
        )

    @cached_property
    def _single_shifts(self) -> list[tuple[int, int]]:
        """As `_shifts`, where every table has one block; else empty."""
        if any(len(pieces) > 1 for pieces in self._shifts):
            return []
        return [(shift, mask) for ((shift, mask, _),) in self._shifts]

    @cached_property
    def _shifts(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """As `_pieces`, with shifts of the whole fingerprint."""
        last = self.n_bits // 64 - 1
        return tuple(
            tuple((right + 64 * (last - word), mask, left) for word, right, mask, left in pieces)
            for pieces in self._pieces
        )


@lru_cache  # an index is made for each batch
def _standard(n_bits: int, max_distance: int) -> Mapping[str, Layout]:
    _check_distance(n_bits, max_distance)
    first = max_distance + 1
    layouts = [
        Layout.from_blocks(n_bits, max_distance, blocks=max_distance + equal, equal=equal)
        for equal in (1, 2, 3)
    ]
    layouts.append(Layout.from_levels(n_bits, max_distance, blocks=(first, first)))
    named: dict[str, Layout] = {}
    for layout in sorted(layouts, key=lambda layout: layout.n_tables):
        named.setdefault(layout.name, layout)
    return named


def directory_bits(key_bits: int, documents: int) -> int:
    """How many leading bits of the keys the directory of a table resolves.

    So many that a bucket has 2 to 4 documents on average, as far as the equal bits reach.
    """
    return max(0, min(key_bits, KEY_BITS, documents.bit_length() - 2))


def _check_distance(n_bits: int, max_distance: int) -> None:
    if n_bits not in (64, 128):
        raise ValueError(f"n_bits must be 64 or 128, got {n_bits!r}")
    greatest = n_bits // LEAST_BLOCK_BITS - 1
    if not 0 <= max_distance <= greatest:
        raise ValueError(
            f"max_distance must be 0 to {greatest} for {n_bits} bits, got {max_distance!r}; "
            "farther away, tables are no faster than a linear scan"
        )


def _cut(bits: Sequence[int], count: int) -> list[Sequence[int]]:
    """Cut into `count` parts of nearly equal length, the longer ones first."""
    bounds = [math.ceil(len(bits) * part / count) for part in range(count + 1)]
    return [bits[start:stop] for start, stop in pairwise(bounds)]


def _levels(bits: Sequence[int], blocks: Sequence[int]) -> Iterator[list[int]]:
    """The equal bits of each table: one part of `bits`, then those of a cut of the others."""
    if not blocks:
        yield []
        return
    for part in _cut(bits, blocks[0]):
        others = [bit for bit in bits if bit not in part]
        for further in _levels(others, blocks[1:]):
            yield [*part, *further]


def _joined(bits: Iterable[int]) -> tuple[Block, ...]:
    """The bits, in their order, as blocks."""
    blocks: list[Block] = []
    for bit in bits:
        if blocks and sum(blocks[-1]) == bit:
            blocks[-1] = Block(blocks[-1].start, blocks[-1].width + 1)
        else:
            blocks.append(Block(bit, 1))
    return tuple(blocks)


def _pieces(blocks: tuple[Block, ...], key_bits: int) -> Iterator[_Piece]:
    """The first `key_bits` of `blocks`, cut where a word ends."""
    left = key_bits
    for start, width in blocks:
        stop = start + min(width, left)
        while start < stop:
            end = min(stop, (start // 64 + 1) * 64)
            left -= end - start
            yield _Piece(start // 64, -end % 64, (1 << end - start) - 1, left)
            start = end
