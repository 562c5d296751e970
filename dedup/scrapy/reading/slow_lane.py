"""Slow pages: how long one takes, and how many are read at the same time."""

from __future__ import annotations

import asyncio
import time

from dedup.scrapy.reading.worker_protocol import Found


class SlowLane:
    """Lets one slow page be read at a time, so that processes stay free for the other pages."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Future[None]] = set()
        self.waiting = 0
        """The number of pages that wait for the lane."""

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self.waiting -= 1

    async def __aexit__(self, *error: object) -> None:
        self._lock.release()

    def take(self, answer: asyncio.Future[Found]) -> bool:
        """Give the lane to a page that is being read already; False: another page has it."""
        if self._lock.locked():
            return False
        task = asyncio.ensure_future(self._hold(answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _hold(self, answer: asyncio.Future[Found]) -> None:
        async with self._lock:
            await asyncio.wait([answer])


def cpu_seconds_of(pid: int) -> float:
    """CPU time of a process; where the system does not give it, the time by the clock."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as Linux numbers the clocks of processes
    except (OSError, AttributeError):
        return time.monotonic()
