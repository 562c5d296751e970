"""Extension: a crawl that is asked to stop does so within seconds."""

from __future__ import annotations

import time
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler

from dedup.scrapy.job.failures import NotSentError
from dedup.scrapy.job.job import Job
from dedup.scrapy.looping import repeat

_LOOK_SECONDS = 0.2


class Stopping:
    """Lets go of what is under way when the crawl closes, and closes it when its store fails.

    Scrapy waits for all requests that it has handed to the downloader: those that wait for their
    turn at a slow host, and those whose server is silent until the timeout. Here the former are let
    go at once and the latter after `DEDUP_STOP_SECONDS`; all stay queued in the job's store.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._closing_since: float | None = None
        self._task: Any = None
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Stopping:
        return cls(crawler)

    def _spider_opened(self) -> None:
        self._task = repeat(self._look, _LOOK_SECONDS)

    def _spider_closed(self) -> None:
        if self._task is not None:
            self._task.stop()

    def _look(self) -> None:
        engine: Any = self._crawler.engine
        job = Job.of(self._crawler)
        slot = engine._slot if hasattr(engine, "_slot") else engine.slot  # Scrapy 2.13
        if slot is None:
            return
        if slot.closing is None:
            if job.failure is not None:
                self._close(engine)
            return
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            _drop_waiting(engine.downloader)
        seconds = 0 if job.failure else job.config.stop_seconds
        if time.monotonic() - self._closing_since >= seconds:
            slot.inprogress.clear()
            if job.reader is not None:
                job.reader.abandon()
        if not slot.inprogress and not slot.closing.called:
            slot._maybe_fire_closing()

    def _close(self, engine: Any) -> None:
        if hasattr(engine, "close_spider_async"):
            from scrapy.utils.defer import deferred_from_coro

            deferred_from_coro(engine.close_spider_async(reason="state_error"))
        else:  # Scrapy 2.13
            engine.close_spider(self._crawler.spider, "state_error")


def _drop_waiting(downloader: Any) -> None:
    for host in downloader.slots.values():
        waiting = [answer for _, answer in host.queue]
        host.queue.clear()
        for answer in waiting:
            answer.errback(NotSentError())
