"""What the project does with parts of Scrapy that its documentation does not name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred


async def send_item(crawler: Crawler, item: Any) -> None:
    """Send an item through the pipelines that came from no response."""
    scraper: Any = crawler.engine and crawler.engine.scraper
    if hasattr(scraper, "start_itemproc_async"):
        await scraper.start_itemproc_async(item, response=None)
    else:  # Scrapy 2.13
        await maybe_deferred_to_future(scraper.start_itemproc(item, response=None))


async def download(crawler: Crawler, request: Request) -> Response:
    """Download beside what is queued, past the spider."""
    engine: Any = crawler.engine
    if hasattr(engine, "download_async"):
        response: Response = await engine.download_async(request)
        return response
    return await maybe_deferred_to_future(engine.download(request))  # Scrapy 2.13


def run(coroutine: Awaitable[None]) -> Any:
    """Run a coroutine beside what is under way."""
    return deferred_from_coro(coroutine)


def before_closing(crawler: Crawler, prepare: Callable[[], Awaitable[None]]) -> None:
    """Have something done first when the spider is to be closed, whatever asks for it."""
    engine: Any = crawler.engine
    prepared: list[Deferred[None]] = []  # several may ask at the same time, and all have to wait

    async def once() -> None:
        if prepared:
            waiting: Deferred[None] = Deferred()
            if not prepared[0].called:
                prepared[0].addBoth(waiting.callback)
                await maybe_deferred_to_future(waiting)
            return
        prepared.append(Deferred())
        try:
            await prepare()
        finally:
            prepared[0].callback(None)

    if hasattr(engine, "close_spider_async"):
        close = engine.close_spider_async

        async def close_spider_async(*, reason: str = "cancelled") -> None:
            await once()
            await close(reason=reason)

        engine.close_spider_async = close_spider_async
        return
    close = engine.close_spider  # Scrapy 2.13

    def close_spider(spider: Any, reason: str = "cancelled") -> Any:
        async def closing() -> None:
            await once()
            await maybe_deferred_to_future(close(spider, reason))

        return deferred_from_coro(closing())

    engine.close_spider = close_spider
