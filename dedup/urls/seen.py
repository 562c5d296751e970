"""The URLs a crawl has seen: a Bloom filter in memory in front of the exact set in the store.

Of the links of a page most have been seen and the rest are new. The filter settles the new ones
without a look at the disk, a memory of recent answers most of the others; what remains goes to
the store in one batch. Writing to the store is its caller's business.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from hashlib import shake_128
from math import prod
from struct import Struct
from sys import getsizeof
from typing import Any, Protocol

from pybloom_live import BloomFilter

_GROWTH = 2
# The i-th sub-filter gets the share (1 - 0.9) 0.9^i of the target rate: the shares sum to less
# than 1 however many there are. pybloom's ScalableBloomFilter gives them 0.9, 0.81, … each,
# which sums to 9 times the rate asked for.
_TIGHTENING = 0.9
_RECENT_KEYS = 50_000  # two generations of them: some 10 MB


class KnownKeys(Protocol):
    """The exact set of URL keys, as far as `SeenUrls` needs it."""

    def known(self, keys: Sequence[bytes]) -> Collection[bytes]:
        """Those of `keys` that were ever stored, writes not yet committed among them.

        What was known once must stay so; the answer supports a fast `in` (a set).
        """


class SeenUrls:
    """The set of URL keys already seen, in little memory, growing by itself.

    With a store, answers are exact: the filter has no false negatives, and whatever it takes for
    seen is confirmed. Without one, a new URL is taken for seen, and lost, with a probability of at
    most `error_rate_target`, whatever the number of keys.

    Sub-filters double in capacity. At a rate of 1e-6 a full one takes 4.2 bytes a key (the first)
    to 4.7 (the twentieth): with the defaults 10^6 keys take 6.4 MB and 10^7 keys 55 MB. Right after
    growing, with room for as many again, it is 9 bytes a key (13 after the first time). Recent
    answers add some 10 MB.

    Args:
        store: where to confirm; None for the filter alone.
        error_rate_target: false positives as a share of new keys, 0 to 1.
        initial_capacity: keys in the first sub-filter. The number of keys expected, where it is
            known, makes look-ups faster: there is one sub-filter to ask, not several.

    Raises:
        ValueError: a rate outside (0, 1) or a capacity below 1.

    Source: P. Almeida, C. Baquero, N. Preguiça, D. Hutchison: Scalable Bloom Filters, 2007.

    >>> seen = SeenUrls(None)
    >>> seen.mark([b"a"])
    >>> seen.unseen([b"a", b"b"])
    [b'b']
    """

    def __init__(
        self,
        store: KnownKeys | None,
        *,
        error_rate_target: float = 1e-6,
        initial_capacity: int = 100_000,
    ) -> None:
        if not 0 < error_rate_target < 1:
            raise ValueError(
                f"error_rate_target must be between 0 and 1, got {error_rate_target!r}"
            )
        if initial_capacity < 1:
            raise ValueError(f"initial_capacity must be at least 1, got {initial_capacity!r}")
        self._store = store
        self.error_rate_target = error_rate_target
        self._filters: list[Any] = []  # the newest, and largest, first
        self._recent: set[bytes] = set()
        self._older: set[bytes] = set()
        self._grow(initial_capacity, error_rate_target * (1 - _TIGHTENING))

    def unseen(self, keys: Iterable[bytes]) -> list[bytes]:
        """Return the keys not seen, each once, in the order of `keys`. Marks nothing."""
        recent, older = self._recent, self._older
        open_keys = [key for key in dict.fromkeys(keys) if key not in recent and key not in older]
        doubtful = [key for key in open_keys if self._may_contain(key)]
        if not doubtful:
            return open_keys
        seen = frozenset(doubtful) if self._store is None else self._store.known(doubtful)
        self._remember(seen)
        return [key for key in open_keys if key not in seen]

    def mark(self, keys: Iterable[bytes]) -> None:
        """Note that the keys are seen; with a store, the caller stores them too.

        A key marked but never stored is unseen still: a crash between the two loses no URL.
        """
        for key in keys:
            if not self._may_contain(key):
                self._add(key)

    def load(self, batches: Iterable[Iterable[bytes]]) -> None:
        """Mark all that the store holds, after a restart. Keys should be distinct.

        A repeated key costs room, which `mark` would save by looking first.
        """
        for batch in batches:
            for key in batch:
                self._add(key)

    @property
    def is_exact(self) -> bool:
        """Is what the filter takes for seen confirmed by a store?"""
        return self._store is not None

    @property
    def capacity(self) -> int:
        """Keys there is room for before the filter grows again."""
        return sum(part.capacity for part in self._filters)

    @property
    def count(self) -> int:
        """Keys in the filter; those that `mark` took for marked already are not counted."""
        return sum(part.count for part in self._filters)

    @property
    def error_rate_estimate(self) -> float:
        """The probability, from the bits set now, that the filter takes a new key for seen.

        Counts the bits: milliseconds for each million keys.
        """
        return 1 - prod(1 - _false_positive_rate(part) for part in self._filters)

    @property
    def size_bytes(self) -> int:
        """Memory held by the filter and the recent answers."""
        bits: int = sum(part.num_bits for part in self._filters)
        recent = sum(
            getsizeof(keys) + len(keys) * getsizeof(bytes(16))
            for keys in (self._recent, self._older)
        )
        return bits // 8 + recent

    def _grow(self, capacity: int, error_rate: float) -> None:
        part = BloomFilter(capacity, error_rate)
        # pybloom hashes the key anew for each sub-filter, with up to 1.5 times the false positives
        # where a slice has some 25,000 bits (16-bit hashes modulo the bits are not uniform). Here
        # the hashes are made once, of 64 bits, and passed in the place of the key.
        part.make_hashes = partial(_positions, part.num_slices, part.bits_per_slice)
        self._filters.insert(0, part)
        # The newest has the most slices; the others use the first hashes of the same sequence, for
        # SHAKE only extends its output.
        layout = Struct(f"<{part.num_slices}Q")
        self._unpack, self._digest_bytes = layout.unpack, layout.size

    def _may_contain(self, key: bytes) -> bool:
        hashes = self._unpack(shake_128(key).digest(self._digest_bytes))
        for part in self._filters:  # noqa: SIM110 - any() takes half a microsecond more
            if hashes in part:
                return True
        return False

    def _add(self, key: bytes) -> None:
        newest = self._filters[0]
        if newest.count >= newest.capacity:
            self._grow(newest.capacity * _GROWTH, newest.error_rate * _TIGHTENING)
            newest = self._filters[0]
        newest.add(self._unpack(shake_128(key).digest(self._digest_bytes)), skip_check=True)

    def _remember(self, seen: Collection[bytes]) -> None:
        if len(self._recent) >= _RECENT_KEYS:
            self._recent, self._older = set(), self._recent
        self._recent.update(seen)


def _positions(num_slices: int, bits_per_slice: int, hashes: tuple[int, ...]) -> Iterator[int]:
    """The key's bit in each slice, computed as far as asked for."""
    return map(bits_per_slice.__rmod__, hashes[:num_slices])


def _false_positive_rate(part: Any) -> float:
    """The product of the shares of bits set in each slice."""
    width = part.bits_per_slice
    starts = range(0, part.num_bits, width)
    fills: list[float] = [part.bitarray.count(1, start, start + width) / width for start in starts]
    return prod(fills)
