"""The base classes of the project's middlewares.

Scrapy 2.13 also passes the spider to their methods. The parameter `**_` takes it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.crawler import Crawler

from dedup.scrapy.component import Component
from dedup.scrapy.job.job import Job

T = TypeVar("T")

_MIN_WAIT_SECONDS, _MAX_WAIT_SECONDS = 1.0, 60.0
"""Between two tries: the first wait; it doubles up to the second value."""


class HostMiddleware(Component, Generic[T]):
    """A middleware that asks hosts for something, and pauses hosts that do not answer.

    `T` is the type of the answers. A host is identified by its origin: scheme, name and port.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.job = Job.of(crawler)
        self._asked: dict[str, asyncio.Future[T]] = {}
        self._tasks: set[asyncio.Future[None]] = set()
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    async def ask_once(self, origin: str, ask: Callable[[], Coroutine[object, object, T]]) -> T:
        """Ask a host and await its answer; simultaneous callers share one question."""
        asked = self._asked.get(origin)
        if asked is None:
            asked = self._asked[origin] = asyncio.ensure_future(ask())
            asked.add_done_callback(lambda _: self._asked.pop(origin))
        return await asyncio.shield(asked)

    def pause(self, slot: str, until: Callable[[], Coroutine[object, object, None]]) -> None:
        """Call a coroutine function, and send no request to a slot until it has ended."""
        self.job.urls.requests.frontier.pause(slot)
        task = asyncio.ensure_future(self._run(slot, until))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def waits(self, max_seconds: float) -> Iterator[float]:
        """The seconds to sleep before each try, until the time is up or the crawl ends."""
        began, seconds = time.monotonic(), _MIN_WAIT_SECONDS
        while not self.is_ending and (left := began + max_seconds - time.monotonic()) > 0:
            yield min(seconds, left)
            seconds = min(2 * seconds, _MAX_WAIT_SECONDS)

    @property
    def is_ending(self) -> bool:
        """Is the crawl ending? Then no host is waited for."""
        return self.job.pages.arrivals.is_closing or self.job.failure is not None

    async def _run(self, slot: str, until: Callable[[], Coroutine[object, object, None]]) -> None:
        await until()
        self.job.urls.requests.frontier.resume(slot)

    def _spider_closed(self) -> None:
        for task in self._tasks:
            task.cancel()


def origin_of(url: str) -> str:
    """The scheme, host and port of a URL, as it has them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
