"""What the project does with parts of Scrapy that its documentation does not name."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from dedup.errors import StateError


async def send_item(crawler: Crawler, item: Any) -> None:
    """Send an item through the pipelines that came from no response."""
    scraper: Any = crawler.engine and crawler.engine.scraper
    if hasattr(scraper, "start_itemproc_async"):
        await scraper.start_itemproc_async(item, response=None)
    else:  # Scrapy 2.13
        await maybe_deferred_to_future(scraper.start_itemproc(item, response=None))


def start_next_requests(crawler: Crawler) -> None:
    """Have the engine look for requests now, which it does not do while nothing comes or goes."""
    engine: Any = crawler.engine
    slot = getattr(engine, "_slot", None) or getattr(engine, "slot", None)  # Scrapy 2.13
    if slot is not None:
        slot.nextcall.schedule()


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


@contextmanager
def refusing() -> Iterator[None]:
    """Have the log say in one sentence why a crawl is refused, in place of a traceback.

    Scrapy lets the exception pass: it then ends in the log of asyncio or of Twisted, and the
    command's exit status is 1. Who awaits the crawl, as scripts do, gets it as any other. With a
    reactor that is not asyncio's, Twisted writes the traceback to standard error, besides the log.
    """
    try:
        yield
    except (StateError, ValueError) as error:
        for name in ("asyncio", "twisted"):
            logger = logging.getLogger(name)
            logger.addFilter(_Sentence(error, logger))
        raise


class _Sentence(logging.Filter):
    """Takes the traceback of one exception out of one logger's records of it, then itself.

    It does not hold the exception: Twisted tells of it when it is forgotten.
    """

    def __init__(self, error: Exception, logger: logging.Logger) -> None:
        super().__init__()
        self._error = id(error), type(error), str(error)
        self._logger = logger

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if (id(error), type(error), str(error)) == self._error:
            record.msg, record.args = str(error), ()
            record.exc_info = record.exc_text = None
            self._logger.removeFilter(self)
        return True
