"""The URLs a crawl has seen: a Bloom filter in memory in front of the exact set in the store.

Most links of a page have been seen, and the others are new. The filter recognises the new ones
without reading from disk, and a memory of recent answers most of the seen ones. The store is asked
for the rest in one batch. The caller writes to the store.
"""

from collections.abc import Collection, Iterable, Sequence
from math import prod
from sys import getsizeof
from typing import Protocol

from dedup.urls.bloom import BloomPart, HashMaker, any_has

# A new sub-filter has room for this share of all the keys before it. More makes fewer sub-filters,
# each half a microsecond of a look-up; at 0.7 memory stays below 8 bytes a key up to 10^10 keys.
_GROWTH = 0.7
# The i-th sub-filter gets the share (1 - 0.9) 0.9^i of the target rate: the shares sum to less
# than 1 however many there are. pybloom's ScalableBloomFilter gives them 0.9, 0.81, … each,
# which sums to 9 times the rate asked for.
_TIGHTENING = 0.9
_RECENT_KEYS = 50_000  # two generations of them: some 10 MB


class KnownKeys(Protocol):
    """The exact set of URL keys: the part that `SeenUrls` needs."""

    def known(self, keys: Sequence[bytes]) -> Collection[bytes]:
        """Those of `keys` that were ever stored, including writes that are not committed yet.

        A key that was known must stay known. The result supports a fast `in`, as a set does.
        """


class SeenUrls:
    """The set of seen URL keys, in little memory; it grows as needed.

    With a store, answers are exact: the filter has no false negatives, and the store confirms each
    positive. Without a store, a new URL is taken for seen, and lost, with a probability of at most
    `error_rate_target`, for any number of keys.

    At a rate of 1e-6 a full sub-filter takes 4.2 bytes a key (the first) to 4.8 (the twentieth).
    Right after growing there is room for 0.7 times as many keys again: 7.2 bytes a key at 10^5
    keys, 7.4 at 10^7, 7.6 at 10^9. The first sub-filter takes 0.4 MB for any number of keys, and
    recent answers up to 10 MB.

    Args:
        store: confirms positives; None: only the filter is used.
        error_rate_target: false positives as a share of new keys, 0 to 1.
        initial_capacity: keys in the first sub-filter. If the expected number of keys is known,
            giving it makes look-ups faster: only one sub-filter is asked.

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
        self._filters: list[BloomPart] = []  # the newest, and largest, first
        self._recent: set[bytes] = set()
        self._older: set[bytes] = set()
        self._grow(initial_capacity, error_rate_target * (1 - _TIGHTENING))

    def unseen(self, keys: Iterable[bytes]) -> list[bytes]:
        """Return the unseen keys, each once, in the order of `keys`, without marking them."""
        recent, older = self._recent, self._older
        open_keys = [key for key in dict.fromkeys(keys) if key not in recent and key not in older]
        doubtful = [key for key in open_keys if self._may_contain(key)]
        if not doubtful:
            return open_keys
        seen = frozenset(doubtful) if self._store is None else self._store.known(doubtful)
        self._remember(seen)
        return [key for key in open_keys if key not in seen]

    def mark(self, keys: Iterable[bytes]) -> None:
        """Mark keys as seen; with a store, the caller also stores them.

        A key that was marked but never stored is still unseen, so a crash in between loses no URL.
        """
        for key in keys:
            if not self._may_contain(key):
                self._add(key)

    def load(self, batches: Iterable[Iterable[bytes]]) -> None:
        """Mark all keys of the store, after a restart. Keys should be distinct.

        A repeated key takes room; `mark` avoids this by looking first.
        """
        for batch in batches:
            for key in batch:
                self._add(key)

    @property
    def capacity(self) -> int:
        """The number of keys that fit before the filter grows again."""
        return sum(part.capacity for part in self._filters)

    @property
    def count(self) -> int:
        """Keys in the filter, except those that `mark` took for marked already."""
        return sum(part.count for part in self._filters)

    @property
    def error_rate_estimate(self) -> float:
        """The probability, from the bits set now, that the filter takes a new key for seen.

        Counts the bits: milliseconds for each million keys.
        """
        return 1 - prod(1 - part.false_positive_rate for part in self._filters)

    @property
    def size_bytes(self) -> int:
        """Memory held by the filter and the recent answers."""
        recent = sum(
            getsizeof(keys) + len(keys) * getsizeof(bytes(16))
            for keys in (self._recent, self._older)
        )
        return self.filter_bytes + recent

    @property
    def filter_bytes(self) -> int:
        """Memory held by the filter alone."""
        return sum(part.size_bytes for part in self._filters)

    def _grow(self, capacity: int, error_rate: float) -> None:
        part = BloomPart(capacity, error_rate)
        self._filters.insert(0, part)
        self._hashes = HashMaker(part.n_hashes)  # the newest uses the most

    def _may_contain(self, key: bytes) -> bool:
        return any_has(self._filters, self._hashes(key))

    def _add(self, key: bytes) -> None:
        newest = self._filters[0]
        if newest.count >= newest.capacity:
            self._grow(max(round(self.capacity * _GROWTH), 1), newest.error_rate * _TIGHTENING)
            newest = self._filters[0]
        newest.add(self._hashes(key))

    def _remember(self, seen: Collection[bytes]) -> None:
        if len(self._recent) >= _RECENT_KEYS:
            self._recent, self._older = set(), self._recent
        self._recent.update(seen)
