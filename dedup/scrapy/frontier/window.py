"""Which queued URL is fetched next: a window in memory upon the queue in the job's store.

The store is the queue; memory holds the first few URLs of each host. So memory does not grow with
the queue, a killed process loses nothing of it, and opening one reads hardly anything.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from scrapy import Request

from dedup.scrapy.frontier.meta import DEFERRED_RANK
from dedup.store.interface import UrlQueue
from dedup.store.records import QueuedUrl

_ROWS_IN_MEMORY = 20_000
"""Of all slots together: some 10 MB. Each slot has its share of it, but one row at least."""

_ROWS_PER_SLOT = 256
"""More gain nothing: a row then takes 4 µs to read."""


class _Slot:
    """A host's part of the window.

    `waiting` is a heap of its first queued rows. `last` is the position of the last one of them
    where the store has more behind it; None: it has none.
    """

    __slots__ = ("held", "last", "waiting")

    def __init__(self, *, is_in_store: bool) -> None:
        self.waiting: list[QueuedUrl] = []
        self.held: list[tuple[int, int, bytes | None, Request]] = []
        self.last: tuple[float, int] | None = (float("-inf"), 0) if is_in_store else None

    def __bool__(self) -> bool:
        return bool(self.waiting or self.held or self.last)

    def is_held_first(self) -> bool:
        """Is a request in memory next? Of the same rank, it goes before those in the store."""
        return bool(self.held) and not (self.waiting and self.waiting[0].rank < self.held[0][0])

    def is_deferred(self) -> bool:
        """Has it nothing left but what was put off? What is in the store alone is not looked at."""
        ranks = [rows[0][0] for rows in (self.waiting, self.held) if rows]
        return bool(ranks) and min(ranks) >= DEFERRED_RANK


class Frontier:
    """The queue of a job, host by host.

    Hosts take turns; of those, one with fewest downloads under way is next. Within a host the
    lowest rank comes first, and of equal ranks what was found first. Hosts that have nothing but
    URLs that were put off wait until no other host has any. Hosts with queued URLs take some 400
    bytes each.

    Attributes:
        in_flight: the keys of URLs that were handed out and are not `done`.
    """

    def __init__(self, urls: UrlQueue) -> None:
        self._urls = urls
        self._slots = OrderedDict((name, _Slot(is_in_store=True)) for name in urls.slots())
        self._late: OrderedDict[str, _Slot] = OrderedDict()
        """Slots that have nothing but what was put off, as far as has been looked."""
        self._order = count()
        self._n_held = 0
        self.in_flight: set[bytes] = set()
        self._paused: Counter[str] = Counter()

    def pause(self, slot_name: str) -> None:
        """Hand out nothing of a slot until it is resumed as often; what it has stays queued."""
        self._paused[slot_name] += 1

    def resume(self, slot_name: str) -> None:
        """Hand out what a slot has again."""
        self._paused[slot_name] -= 1
        self._paused += Counter()  # without what is zero

    def __bool__(self) -> bool:
        """False: nothing is queued. True also where what was left has been finished unfetched."""
        return bool(self._slots or self._late)

    def __len__(self) -> int:
        """How many are queued and not in flight. Counts them in the store."""
        in_flight = sum(self._urls.is_queued(key) for key in self.in_flight)
        return self._urls.count_queued() - in_flight + self._n_held

    def push(self, slot_name: str, row: QueuedUrl) -> None:
        """Take up a row that is queued in the store."""
        self.in_flight.discard(row.key)
        slot = self._slot(slot_name, row.rank)
        if slot.last is not None and (row.rank, row.id) > slot.last:
            return  # its turn comes when the window has moved on
        heappush(slot.waiting, row)
        room = self._room()
        if len(slot.waiting) > 2 * room:
            slot.waiting = sorted(slot.waiting)[:room]  # the store keeps the others
            slot.last = slot.waiting[-1][:2]

    def hold(self, slot_name: str, rank: int, key: bytes | None, request: Request) -> None:
        """Queue a request in memory alone."""
        if key is not None:
            self.in_flight.discard(key)
        heappush(self._slot(slot_name, rank).held, (rank, next(self._order), key, request))
        self._n_held += 1

    def pop(self, n_active: Callable[[str], int]) -> QueuedUrl | Request | None:
        """The next one, now in flight; None: there is none, or all are paused.

        Args:
            n_active: how many downloads of a slot are under way.
        """
        while self:
            name = self._next_slot(n_active, self._slots)
            if name is None:  # "" is the slot of URLs without a host
                name = self._next_slot(n_active, self._late)
            if name is None:
                return None
            slots = self._slots if name in self._slots else self._late
            slot = slots[name]
            if slot.last is not None and not slot.waiting:
                self._refill(name, slot)
            if slots is self._slots and slot.is_deferred():
                self._late[name] = slots.pop(name)
                continue
            found = self._pop_from(slot)
            if slot:
                slots.move_to_end(name)
            else:
                del slots[name]
            if found is not None:
                return found
        return None

    def done(self, keys: list[bytes]) -> None:
        """These are no longer in flight."""
        self.in_flight.difference_update(keys)

    def _slot(self, name: str, rank: int) -> _Slot:
        """The slot that gets something of a rank."""
        slot = self._late.get(name)
        if slot is not None and rank >= DEFERRED_RANK:
            return slot
        if slot is None:
            slot = self._slots.get(name)
        else:  # it has something again that was not put off
            self._slots[name] = self._late.pop(name)
        if slot is None:
            slot = self._slots[name] = _Slot(is_in_store=False)
        return slot

    def _room(self) -> int:
        n_slots = len(self._slots) + len(self._late)
        return max(1, min(_ROWS_PER_SLOT, _ROWS_IN_MEMORY // n_slots))

    def _next_slot(
        self, n_active: Callable[[str], int], slots: OrderedDict[str, _Slot]
    ) -> str | None:
        """The first slot without downloads under way, or else one with fewest; not a paused one.

        Only as many slots as there are concurrent requests can have any, so the loop is short.
        """
        best, fewest = None, -1
        for name in slots:
            if name in self._paused:
                continue
            active = n_active(name)
            if active == 0:
                return name
            if fewest < 0 or active < fewest:
                best, fewest = name, active
        return best

    def _pop_from(self, slot: _Slot) -> QueuedUrl | Request | None:
        if slot.is_held_first():
            _, _, key, request = heappop(slot.held)
            self._n_held -= 1
            if key is not None:
                self.in_flight.add(key)
            return request
        if not slot.waiting:
            return None
        row = heappop(slot.waiting)
        self.in_flight.add(row.key)
        return row

    def _refill(self, name: str, slot: _Slot) -> None:
        """Read the slot's first rows anew; those in flight are still queued in the store."""
        room = self._room()
        limit = room + len(self.in_flight)
        rows = self._urls.first_queued(name, limit)
        slot.waiting = [row for row in rows if row.key not in self.in_flight][:room]
        is_all = len(rows) < limit and len(slot.waiting) < room
        slot.last = None if is_all or not slot.waiting else slot.waiting[-1][:2]
