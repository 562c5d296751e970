"""Extension: pages that wait for their template are judged before the crawl ends."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured

from dedup.errors import StateError
from dedup.scrapy.job.job import Job
from dedup.scrapy.scrapy_internals import before_closing, run, send_item
from dedup.scrapy.spiders.own import is_own


class WaitingPages:
    """Sends the pages on that still wait when there is nothing left to fetch, or the crawl stops.

    A crawl that is asked to stop does so within `DEDUP_STOP_SECONDS`: what is not judged by then
    goes on waiting, in the store, for the job to go on.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not is_own(crawler.spider):
            raise NotConfigured  # items of other projects do not wait
        self._crawler = crawler
        self._is_sending = False
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_idle, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> WaitingPages:
        return cls(crawler)

    def _spider_opened(self) -> None:
        before_closing(self._crawler, self._before_closing)
        run(self._send(Job.of(self._crawler).arrivals.resume()))

    def _spider_idle(self) -> None:
        if self._is_sending:
            raise DontCloseSpider
        job = Job.of(self._crawler)
        if job.failure is None and job.arrivals.n_waiting:
            self._is_sending = True
            run(self._send_some())
            raise DontCloseSpider

    async def _send_some(self) -> None:
        try:
            await self._send(self._finished())
        finally:
            self._is_sending = False
            engine: Any = self._crawler.engine
            slot = getattr(engine, "_slot", None) or getattr(engine, "slot", None)
            if slot is not None:
                slot.nextcall.schedule()

    async def _before_closing(self) -> None:
        job = Job.of(self._crawler)
        if job.arrivals.is_closing:
            return
        job.arrivals.is_closing = True
        until = time.monotonic() + job.config.stop_seconds
        while job.failure is None and job.arrivals.n_waiting and time.monotonic() < until:
            await self._send(self._finished())

    def _finished(self) -> list[Any]:
        with suppress(StateError):  # which the job notes, and stops
            return Job.of(self._crawler).arrivals.finish()
        return []

    async def _send(self, items: list[Any]) -> None:
        for item in items:
            await send_item(self._crawler, item)
