"""The order in which pages arrive of which some are rendered."""

from __future__ import annotations

import asyncio
from collections import deque


class ArrivalOrder:
    """Keeps the pages of a host in the order in which they were read, as without a browser.

    What a site repeats is learned from the pages that arrive first, and of two copies the first is
    stored. So that neither depends on how long pages are rendered, those of the host that were read
    later wait for a page that is; they are rendered meanwhile, if they have to be.
    """

    def __init__(self) -> None:
        self._hosts: dict[str, deque[asyncio.Event]] = {}
        """The places of each host's pages, of which the first is free."""
        self._is_abandoned = False

    def place(self, host: str) -> Place:
        """The place of a page that has not been read yet."""
        return Place(self, host)

    def abandon(self) -> None:
        """Have no page wait any more."""
        self._is_abandoned = True
        for places in self._hosts.values():
            for place in places:
                place.set()

    def add(self, host: str, place: asyncio.Event) -> None:
        places = self._hosts.setdefault(host, deque())
        places.append(place)
        if self._is_abandoned or len(places) == 1:
            place.set()

    def remove(self, host: str, place: asyncio.Event) -> None:
        places = self._hosts[host]
        places.remove(place)
        if places:
            places[0].set()
        else:
            del self._hosts[host]


class Place:
    """The place of a page in the order of its host."""

    def __init__(self, order: ArrivalOrder, host: str) -> None:
        self._order = order
        self._host = host
        self._is_free: asyncio.Event | None = None

    def take(self) -> None:
        """Take the place, behind the pages that were read before."""
        self._is_free = asyncio.Event()
        self._order.add(self._host, self._is_free)

    async def come(self) -> None:
        """Wait for the pages before this one."""
        if self._is_free is not None:
            await self._is_free.wait()

    def leave(self) -> None:
        """Let others come: the page has arrived, or will not."""
        if self._is_free is not None:
            self._order.remove(self._host, self._is_free)
            self._is_free = None
