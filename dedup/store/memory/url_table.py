"""The URLs of a job in memory: which are known, and which are still to be fetched."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest

from dedup.store.records import DONE, HELD, QUEUED, TOO_DEEP, KnownUrl, QueuedUrl, storable


class MemoryUrlTable:
    """See `dedup.store.interface.UrlQueue`."""

    def __init__(self) -> None:
        self._rows: dict[bytes, QueuedUrl] = {}
        self._states: dict[bytes, int] = {}
        self._slots: dict[bytes, str] = {}
        self._queued: defaultdict[str, dict[bytes, QueuedUrl]] = defaultdict(dict)
        self._next_id = 1

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return {key for key in keys if self._is_seen(key)}

    def queue(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
        is_held: bool = False,
    ) -> QueuedUrl | None:
        if self._is_seen(key):
            return None
        state = HELD if is_held else QUEUED
        return self._add(key, url, depth, request, state, slot=slot, rank=rank)

    def note_too_deep(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
    ) -> None:
        if key not in self._rows:
            self._add(key, url, depth, request, TOO_DEEP, slot=slot, rank=rank)

    def count_within(self, depth: int) -> int:
        return len(self._within(depth))

    def queue_within(self, depth: int) -> None:
        for key in self._within(depth):
            self._put(self._rows[key], QUEUED, self._slots[key])

    def queue_again(
        self, key: bytes, request: bytes | None, *, slot: str, rank: int, is_held: bool = False
    ) -> QueuedUrl | None:
        if key not in self._rows:
            return None
        row = self._rows[key]._replace(rank=rank, request=request)
        self._put(row, HELD if is_held else QUEUED, storable(slot))
        return row

    def finish(self, urls: Iterable[tuple[bytes, str]], *, has_failed: bool = False) -> None:
        for key, url in urls:
            row = self._rows.get(key)
            if row is None:
                row = QueuedUrl(0, self._next_id, key, storable(url), 0, None)
                self._next_id += 1
            elif not has_failed:
                row = row._replace(request=None)
            self._put(row, DONE, self._slots.get(key, ""))

    def rank(self, key: bytes) -> int | None:
        return self._rows[key].rank if key in self._rows else None

    def finish_all(self) -> None:
        self.finish(
            [(key, "") for key, state in self._states.items() if state not in (DONE, TOO_DEEP)]
        )

    def drop(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            if key in self._rows:
                self._take(key)
                del self._rows[key], self._states[key], self._slots[key]

    def drop_held(self) -> int:
        held = [key for key, state in self._states.items() if state == HELD]
        self.drop(held)
        return len(held)

    def find(self, key: bytes) -> KnownUrl | None:
        row = self._rows.get(key)
        return None if row is None else KnownUrl(self._states[key], row.url)

    def state(self, key: bytes) -> int | None:
        return self._states.get(key)

    def is_done(self, key: bytes) -> bool:
        return self.state(key) == DONE

    def is_queued(self, key: bytes) -> bool:
        return self.state(key) == QUEUED

    def slots(self) -> list[str]:
        return sorted(self._queued)

    def first_queued(self, slot: str, limit: int) -> list[QueuedUrl]:
        return nsmallest(limit, self._queued[slot].values()) if slot in self._queued else []

    def count_queued(self) -> int:
        return sum(map(len, self._queued.values()))

    def keys(self) -> Iterator[list[bytes]]:
        if seen := [key for key in self._rows if self._is_seen(key)]:
            yield seen

    def __len__(self) -> int:
        return sum(map(self._is_seen, self._rows))

    def _is_seen(self, key: bytes) -> bool:
        return self._states.get(key, TOO_DEEP) != TOO_DEEP

    def _within(self, depth: int) -> list[bytes]:
        deep = (key for key, state in self._states.items() if state == TOO_DEEP)
        return [key for key in deep if not depth or self._rows[key].depth <= depth]

    def _add(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None,
        state: int,
        *,
        slot: str,
        rank: int,
    ) -> QueuedUrl:
        row = QueuedUrl(rank, self._next_id, key, storable(url), depth, request)
        self._next_id += 1
        self._put(row, state, storable(slot))
        return row

    def _put(self, row: QueuedUrl, state: int, slot: str) -> None:
        self._take(row.key)
        self._rows[row.key], self._states[row.key], self._slots[row.key] = row, state, slot
        if state == QUEUED:
            self._queued[slot][row.key] = row

    def _take(self, key: bytes) -> None:
        """Take a URL out of the queue, if it is in it."""
        if self._states.get(key) == QUEUED:
            slot = self._slots[key]
            del self._queued[slot][key]
            if not self._queued[slot]:
                del self._queued[slot]
