"""Which queued URL is fetched next: the first URLs of each host, in memory.

The queue is in the job's store; memory holds the first few URLs of each host. So memory does not
grow with the queue, a killed process loses no URL, and a job with a long queue opens fast.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from scrapy import Request

from dedup.store.records import DUPLICATE_LINK_RANK, QueuedUrl
from dedup.store.sql.url_table import UrlTable

_ROWS_IN_MEMORY = 20_000
"""Of all slots together: about 10 MB. Each slot has an equal share, and at least one row."""

_ROWS_PER_SLOT = 256
"""With more rows reading is no faster: a row takes 4 µs."""

_IN_STORE = (float("-inf"), 0)
"""The position before all rows: the store has rows of the slot, and memory has none."""


@dataclass(slots=True, eq=False)
class _Slot:
    """The requests of one host.

    Attributes:
        waiting: a heap of its first queued rows.
        held: a heap of requests that are queued in memory alone.
        last: the position of the last row in `waiting`, if the store has more rows after it; None:
            the store has none.
    """

    last: tuple[float, int] | None
    waiting: list[QueuedUrl] = field(default_factory=list)
    held: list[tuple[int, int, bytes | None, Request]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.waiting or self.held or self.last)

    def is_held_first(self) -> bool:
        """Is a held request next? Of the same rank, it comes before the rows of the store."""
        return bool(self.held) and not (self.waiting and self.waiting[0].rank < self.held[0][0])

    def is_deferred(self) -> bool:
        """Are all its requests in memory deferred? Rows that are only in the store do not count."""
        ranks = [rows[0][0] for rows in (self.waiting, self.held) if rows]
        return bool(ranks) and min(ranks) >= DUPLICATE_LINK_RANK


class Frontier:
    """The queue of a job, host by host.

    Hosts take turns; one with the fewest downloads is next. Within a host the request of the lowest
    rank is next, and of equal ranks the one that was queued first. A host that has only deferred
    URLs waits until no other host has any URL. So does one that is put off; while requests of
    others are in flight, it has one. A host with queued URLs takes about 400 bytes.

    Args:
        slots: those that are handed out; None: all that have queued URLs.

    Attributes:
        in_flight: slots by the keys of requests that `pop` has returned and that are not `done`.
    """

    def __init__(self, urls: UrlTable, slots: Iterable[str] | None = None) -> None:
        self._urls = urls
        names = urls.slots() if slots is None else slots
        self._slots = OrderedDict((name, _Slot(_IN_STORE)) for name in names)
        self._late: OrderedDict[str, _Slot] = OrderedDict()
        """Slots whose rows in memory are all deferred."""
        self._order = count()
        self._n_held = 0
        self.in_flight: dict[bytes, str] = {}
        self._paused: Counter[str] = Counter()
        self._after: dict[bytes, list[QueuedUrl]] = {}
        """Rows that wait for a request in flight, by its key; they count as in flight."""

    def pause(self, slot_name: str) -> None:
        """Let `pop` return no request of a slot until `resume` is called as often as this."""
        self._paused[slot_name] += 1

    def resume(self, slot_name: str) -> None:
        """Let `pop` return the requests of a slot again."""
        self._paused[slot_name] -= 1
        self._paused += Counter()  # this removes the zeros

    def take_up(self, slot_name: str) -> None:
        """Hand out what the store has of a slot, too."""
        self._slots[slot_name] = _Slot(_IN_STORE)

    def give_up(self, slot_name: str) -> None:
        """Hand out nothing of a slot any more; what it has stays queued in the store."""
        self._slots.pop(slot_name, None)
        self._late.pop(slot_name, None)

    def has(self, slot_name: str) -> bool:
        """May a slot have something to hand out? The store may have new rows of other slots."""
        return slot_name in self._slots or slot_name in self._late

    def busy_slots(self) -> set[str]:
        """Slots that have URLs in flight, or requests in memory alone, or that are paused."""
        slots = {**self._slots, **self._late}
        held = {name for name, slot in slots.items() if slot.held}
        return {*self.in_flight.values(), *held, *self._paused}

    def __bool__(self) -> bool:
        """False: nothing is queued. It may be True where nothing is queued any more."""
        return bool(self._slots or self._late)

    def __len__(self) -> int:
        """How many requests are queued and not in flight; counted in the store."""
        in_flight = sum(self._urls.is_queued(key) for key in self.in_flight)
        return self._urls.count_queued() - in_flight + self._n_held

    def push(self, slot_name: str, row: QueuedUrl) -> None:
        """Add a row that is queued in the store."""
        self._land(row.key)
        slot = self._slot(slot_name, row.rank)
        if slot.last is not None and (row.rank, row.id) > slot.last:
            return  # it is read from the store later
        heappush(slot.waiting, row)
        room = self._room()
        if len(slot.waiting) > 2 * room:
            slot.waiting = sorted(slot.waiting)[:room]  # the store keeps the others
            slot.last = slot.waiting[-1][:2]

    def hold(self, slot_name: str, rank: int, key: bytes | None, request: Request) -> None:
        """Queue a request in memory, not in the store."""
        if key is not None:
            self._land(key)
        heappush(self._slot(slot_name, rank).held, (rank, next(self._order), key, request))
        self._n_held += 1

    def pop(
        self,
        n_active: Callable[[str], int],
        is_put_off: Callable[[str], bool] = lambda slot_name: False,  # noqa: ARG005 -- none
    ) -> QueuedUrl | Request | None:
        """The next row or request, now in flight; None: there is none, or all hosts are paused.

        Args:
            n_active: the number of downloads in a slot.
            is_put_off: does a slot wait for the others?
        """
        while self:
            name = self._next_slot(n_active, is_put_off)
            if name is None:  # "" is the slot of URLs without a host
                name = self._next_slot(n_active, self._has_to_wait(is_put_off))
            if name is None:
                return None
            slots = self._slots if name in self._slots else self._late
            slot = slots[name]
            if slot.last is not None and not slot.waiting:
                self._refill(name, slot)
            if slots is self._slots and slot.is_deferred():
                self._late[name] = slots.pop(name)
                continue
            found = self._pop_from(name, slot)
            if slot:
                slots.move_to_end(name)
            else:
                del slots[name]
            if found is not None:
                return found
        return None

    def reload(self, slot_name: str) -> None:
        """Read a slot again whose rows have other ranks in the store."""
        slot = self._late.pop(slot_name, None) or self._slots.get(slot_name)
        self._slots[slot_name] = _Slot(_IN_STORE, held=slot.held if slot else [])

    def reload_all(self) -> None:
        """Read all slots again: other rows are queued in the store."""
        for name in (*self._slots, *self._late, *self._urls.slots()):
            self.reload(name)

    def done(self, keys: list[bytes]) -> None:
        """Note that the requests of these keys are no longer in flight."""
        for key in keys:
            self._land(key)

    def wait(self, row: QueuedUrl, key: bytes) -> None:
        """Hand out a row, which `pop` has returned, once the request of a key is not in flight."""
        self._after.setdefault(key, []).append(row)

    def _land(self, key: bytes) -> None:
        self.in_flight.pop(key, None)
        for row in self._after.pop(key, ()):
            if (slot_name := self.in_flight.get(row.key)) is not None:
                self.push(slot_name, row)

    def _slot(self, name: str, rank: int) -> _Slot:
        """The slot of that name, which gets a request of a rank."""
        slot = self._late.get(name)
        if slot is not None and rank >= DUPLICATE_LINK_RANK:
            return slot
        if slot is None:
            slot = self._slots.get(name)
        else:  # it has a request again that is not deferred
            self._slots[name] = self._late.pop(name)
        if slot is None:
            slot = self._slots[name] = _Slot(None)
        return slot

    def _room(self) -> int:
        n_slots = len(self._slots) + len(self._late)
        return max(1, min(_ROWS_PER_SLOT, _ROWS_IN_MEMORY // n_slots))

    def _next_slot(
        self, n_active: Callable[[str], int], is_left_out: Callable[[str], bool]
    ) -> str | None:
        """The first slot without downloads, else one with the fewest; paused slots do not count.

        The loops are short: at most as many slots have downloads as there are concurrent requests.
        """
        for slots in (self._slots, self._late):
            best, fewest = None, -1
            for name in slots:
                if name in self._paused or is_left_out(name):
                    continue
                active = n_active(name)
                if active == 0:
                    return name
                if fewest < 0 or active < fewest:
                    best, fewest = name, active
            if best is not None:
                return best
        return None

    def _has_to_wait(self, is_put_off: Callable[[str], bool]) -> Callable[[str], bool]:
        """A function that tells whether a slot is to wait for what is in flight."""
        in_flight = set(self.in_flight.values())
        if all(map(is_put_off, in_flight)):
            return lambda _: False
        return in_flight.__contains__

    def _pop_from(self, name: str, slot: _Slot) -> QueuedUrl | Request | None:
        if slot.is_held_first():
            _, _, key, request = heappop(slot.held)
            self._n_held -= 1
            if key is not None:
                self.in_flight[key] = name
            return request
        if not slot.waiting:
            return None
        row = heappop(slot.waiting)
        self.in_flight[row.key] = name
        return row

    def _refill(self, name: str, slot: _Slot) -> None:
        """Read the slot's first rows again, without those in flight: the store has those too."""
        room = self._room()
        limit = room + len(self.in_flight)
        rows = self._urls.first_queued(name, limit)
        slot.waiting = [row for row in rows if row.key not in self.in_flight][:room]
        is_all = len(rows) < limit and len(slot.waiting) < room
        slot.last = None if is_all or not slot.waiting else slot.waiting[-1][:2]
