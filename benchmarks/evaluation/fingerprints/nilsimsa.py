"""Nilsimsa: a digest of 256 bits that stays nearly the same when a text changes a little.

Every byte forms eight of the possible triples with the four bytes before it. Each triple is
hashed to one of 256 counters; bit `i` of the digest tells whether counter `i` is above the mean.
Two digests score 128 minus the number of bits in which they differ: 128 for equal ones, about 0
for those of unrelated data, -128 at worst.

Bits of unrelated digests agree as coins do: in 128 of 256 on average, with a standard deviation
of 8. Hence the published threshold: a score above 24, three standard deviations, says that two
digests are hardly independent. It does not say that their texts are near duplicates: two texts of
one language share the triples that are frequent in it, and so score far above 24.

Source: Damiani, De Capitani di Vimercati, Paraboschi, Samarati, An open digest-based technique for
spam detection, PDCS 2004; the hash `tran53` and its table are those of the first implementation
(cmeclax, 2001), which no description replaces.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGEST_BYTES = 32

INDEPENDENT_SCORE = 24
"""Above it, two digests agree more than three standard deviations beyond chance."""

_TRIPLES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 4), (0, 2, 4), (0, 3, 4), (4, 1, 0), (4, 3, 0))
"""The bytes of each triple, by how far back they stand; its place is the number of its hash."""

_BLOCK_BYTES = 1 << 18
"""Bytes whose triples are hashed at a time."""


def nilsimsa(data: bytes) -> bytes:
    """Return the digest of `data`, 32 bytes; all zero for fewer than 3 bytes, which say nothing.

    40 MB a second.

    >>> nilsimsa(b"abcdefgh").hex()
    '14c8118000000000030800000004042004189020001308014088003280000078'
    """
    codes = np.frombuffer(data, np.uint8)
    counters = np.zeros(256, np.int64)
    for start in range(0, len(codes), _BLOCK_BYTES):
        # The four bytes before a block belong to its first triples.
        counters += _count(codes[max(0, start - 4) : start + _BLOCK_BYTES], min(start, 4))
    is_one = counters * 256 > counters.sum()
    return np.packbits(is_one[::-1]).tobytes()


def nilsimsa_score(first: bytes, second: bytes) -> int:
    """Return how alike two digests are: from -128 to 128, which only equal ones reach.

    >>> first = "773e2df0a02a319ec34a0b71d54029111da90838cbc20ecd3d2d4e18c25a3025"
    >>> second = "47182cf0802a11dec24a3b75d5042d310ca90838c9d20ecc3d610e98560a3645"
    >>> nilsimsa_score(bytes.fromhex(first), bytes.fromhex(second))
    92
    """
    for name, digest in (("first", first), ("second", second)):
        if len(digest) != DIGEST_BYTES:
            raise ValueError(f"{name} must be {DIGEST_BYTES} bytes, got {digest!r}")
    return 128 - (int.from_bytes(first) ^ int.from_bytes(second)).bit_count()


def nilsimsa_scores(digest: NDArray[np.uint64], digests: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the score of one digest and each of many: 4 words, and rows of 4 words."""
    distances: NDArray[np.int64] = np.bitwise_count(digests ^ digest).sum(axis=1, dtype=np.int64)
    return 128 - distances


def _count(codes: NDArray[np.uint8], first: int) -> NDArray[Any]:
    """Return the counters of all triples whose newest byte stands at `first` or behind."""
    counters = np.zeros(256, np.int64)
    wide = codes.astype(np.intp)
    for number, triple in enumerate(_TRIPLES):
        newest = max(first, max(triple))
        if newest >= len(codes):
            continue
        a, b, c = (wide[newest - back : len(wide) - back] for back in triple)
        table_a, table_b, table_c = _tables(number)
        hashes = (table_a[a] ^ table_b[b]) + table_c[c]  # bytes: modulo 256
        counters += np.bincount(hashes, minlength=256)
    return counters


@cache
def _tables(number: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return what each byte of a triple contributes to hash `number`: `tran53` in three tables."""
    table = _transition_table()
    every = np.arange(256)
    factors = (table[every].astype(np.int64) * (2 * number + 1)).astype(np.uint8)
    return table[(every + number) & 255], factors, table[every ^ table[number]]


@cache
def _transition_table() -> NDArray[np.uint8]:
    """Return the permutation of all bytes that the hash is made of."""
    table: list[int] = []
    value = 0
    for _ in range(256):
        value = 2 * ((value * 53 + 1) & 255)
        if value > 255:
            value -= 255
        while value in table:
            value = (value + 1) & 255
        table.append(value)
    return np.array(table, np.uint8)
