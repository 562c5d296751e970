"""What the project does with parts of Scrapy that its documentation does not name."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
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


def is_crawl(crawler: Crawler) -> bool:
    """Is this a crawl? Scrapy's other commands, and tests that build a crawler, only borrow one.

    `scrapy shell` and `get_crawler` apply the settings before there is a spider. `fetch`, `view`,
    `parse` and `check` give a spider another `start`; `bench` has a spider of its own.
    """
    if crawler.spider is None:
        return False
    spider_class = crawler.spidercls
    made_by = spider_class.__module__, getattr(spider_class.start, "__module__", "")
    return not any(module.startswith("scrapy.commands.") for module in made_by)


def spider_arguments(crawler: Crawler) -> Mapping[str, Any] | None:
    """The arguments that the crawler's spider was made with; None: they cannot be told.

    Scrapy keeps them nowhere, and a spider need not. While add-ons are loaded, `Crawler.crawl` has
    them: it stands among the callers. Nothing is changed there.
    """
    frame = sys._getframe(1) if hasattr(sys, "_getframe") else None
    while frame is not None:
        if frame.f_code.co_name in {"crawl", "crawl_async"}:
            names = frame.f_locals
            if names.get("self") is crawler and isinstance(names.get("kwargs"), dict):
                return dict(names["kwargs"])
        frame = frame.f_back
    return None
