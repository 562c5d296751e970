"""The engine of a crawl: it sends items and requests, and it closes the spider."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, DeferredList


async def send_items(crawler: Crawler, items: Sequence[object], *, at_once: int) -> None:
    """Send items through the item pipelines, in order, at most `at_once` at a time."""
    for start in range(0, len(items), at_once):
        sent = [deferred_from_coro(_send(crawler, each)) for each in items[start : start + at_once]]
        await maybe_deferred_to_future(DeferredList(sent))


async def _send(crawler: Crawler, item: object) -> None:
    scraper = crawler.engine.scraper
    if hasattr(scraper, "start_itemproc_async"):
        await scraper.start_itemproc_async(item, response=None)
    else:  # Scrapy 2.13
        await maybe_deferred_to_future(scraper.start_itemproc(item, response=None))


async def download(crawler: Crawler, request: Request) -> Response:
    """Download a request that neither the scheduler nor the spider sees."""
    engine = crawler.engine
    if hasattr(engine, "download_async"):
        return await engine.download_async(request)
    return await maybe_deferred_to_future(engine.download(request))  # Scrapy 2.13


async def requests_queued() -> None:
    """Wait until the scheduler has the requests that the callback has yielded.

    Scrapy puts what a callback yields into a queue, whose tasks run once the callback waits.
    """
    await asyncio.sleep(0)


def start_coroutine(coroutine: Coroutine[Deferred[object], object, None]) -> None:
    """Start a coroutine and do not wait for it."""
    deferred_from_coro(coroutine)


# --- Closing the spider --------------------------------------------------------------------------


def is_spider_open(crawler: Crawler) -> bool:
    """Has the engine opened its spider, and not closed it yet?"""
    return _slot_of(crawler) is not None


def is_spider_closing(crawler: Crawler) -> bool:
    """Does the engine wait for the requests under way in order to close the spider?"""
    slot = _slot_of(crawler)
    return slot is not None and slot.closing is not None


def close_spider(crawler: Crawler, reason: str) -> None:
    """Begin to close the spider."""
    engine = crawler.engine
    if hasattr(engine, "close_spider_async"):
        deferred_from_coro(engine.close_spider_async(reason=reason))
    elif crawler.spider is not None:
        engine.close_spider(crawler.spider, reason)  # Scrapy 2.13


def forget_requests(crawler: Crawler) -> None:
    """Let a spider that is closing wait for none of the requests under way."""
    slot = _slot_of(crawler)
    if slot is not None:
        slot.inprogress = _Forgotten()


class _Forgotten(set[Request]):
    """No requests: those that end after all may be removed from it."""

    def remove(self, request: Request) -> None:
        self.discard(request)


def close_if_no_requests(crawler: Crawler) -> None:
    """Close a spider that is closing if no request is under way any more.

    The engine does this only when a request ends, and not when `forget_requests` forgets it.
    """
    slot = _slot_of(crawler)
    if slot is None or slot.closing is None:
        return
    if not slot.inprogress and not slot.closing.called:
        slot._maybe_fire_closing()


def before_closing(crawler: Crawler, prepare: Callable[[], Awaitable[None]]) -> None:
    """Await `prepare()` once before the spider closes, whichever component closes it.

    Several components may close the spider at the same time; all of them wait for it.
    """
    once = _Once(prepare)
    engine: Any = crawler.engine
    if not hasattr(engine, "close_spider_async"):
        _before_old_closing(engine, once)
        return
    close = engine.close_spider_async

    async def close_spider_async(*, reason: str = "cancelled") -> None:
        await once()
        await close(reason=reason)

    engine.close_spider_async = close_spider_async


def _before_old_closing(engine: Any, once: _Once) -> None:
    """The same for Scrapy 2.13."""
    close = engine.close_spider

    async def prepare_and_close(spider: Spider, reason: str) -> None:
        await once()
        await maybe_deferred_to_future(close(spider, reason))

    def close_spider(spider: Spider, reason: str = "cancelled") -> Deferred[None]:
        return deferred_from_coro(prepare_and_close(spider, reason))

    engine.close_spider = close_spider


class _Once:
    """Awaits a function at the first call; later calls wait until the first one has ended."""

    def __init__(self, function: Callable[[], Awaitable[None]]) -> None:
        self._function = function
        self._ended: Deferred[None] | None = None

    async def __call__(self) -> None:
        if self._ended is None:
            self._ended = Deferred()
            try:
                await self._function()
            finally:
                self._ended.callback(None)
        elif not self._ended.called:
            waiting: Deferred[None] = Deferred()
            self._ended.addBoth(waiting.callback)
            await maybe_deferred_to_future(waiting)


# --- What the engine does next -------------------------------------------------------------------


def request_next(crawler: Crawler) -> None:
    """Have the engine ask the scheduler for requests now; without this it asks within 5 seconds."""
    slot = _slot_of(crawler)
    if slot is not None:
        slot.nextcall.schedule()


def count_in_spider(crawler: Crawler) -> int:
    """How many responses wait for the spider or are in its callbacks."""
    slot = crawler.engine.scraper.slot
    return 0 if slot is None else len(slot.queue) + len(slot.active)


def _slot_of(crawler: Crawler) -> Any:
    """What the engine knows of its spider; None: the spider is not open."""
    engine: Any = crawler.engine
    return engine._slot if hasattr(engine, "_slot") else engine.slot  # Scrapy 2.13
