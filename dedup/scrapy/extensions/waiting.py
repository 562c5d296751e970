"""Extension: pages that wait for others of their site are judged before the crawl ends."""

from __future__ import annotations

import time

from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, NotConfigured

from dedup.errors import StateError
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.extensions.stopping import STOP_SECONDS
from dedup.scrapy.internals.engine import (
    before_closing,
    request_next,
    send_items,
    start_coroutine,
)
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own


class WaitingPages(Extension):
    """Sends the pages that still wait to the pipelines when all is fetched, or the crawl stops.

    A crawl that is asked to stop ends within five seconds: pages that are not judged by
    then stay in the store, and wait there until the job is resumed. So do all after an error.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not is_own(crawler.spider):
            raise NotConfigured  # only pages of the project's own spiders wait
        super().__init__(crawler)
        self._is_sending = False
        self._has_failed = False

    def _spider_opened(self) -> None:
        before_closing(self.crawler, self._before_closing)
        start_coroutine(self._send(Job.of(self.crawler).pages.arrivals.resume()))

    def _spider_idle(self) -> None:
        if self._is_sending:
            raise DontCloseSpider
        job = Job.of(self.crawler)
        if self._are_left(job) and job.pages.arrivals.may_finish:
            self._is_sending = True
            start_coroutine(self._send_some())
            raise DontCloseSpider

    async def _send_some(self) -> None:
        try:
            await self._send(await self._finished())
        finally:
            self._is_sending = False
            request_next(self.crawler)

    async def _before_closing(self) -> None:
        job = Job.of(self.crawler)
        arrivals = job.pages.arrivals
        if arrivals.is_closing:
            return
        arrivals.is_closing = True
        try:
            arrivals.may_wait = not (arrivals.may_finish or job.is_alone)  # others go on with them
        except StateError:  # it is the job's `failure`
            return
        if arrivals.may_wait:
            return
        until = time.monotonic() + STOP_SECONDS
        while self._are_left(job) and time.monotonic() < until:
            await self._send(await self._finished())

    def _are_left(self, job: Job) -> bool:
        return job.failure is None and not self._has_failed and job.pages.arrivals.n_waiting > 0

    async def _finished(self) -> list[PageItem]:
        """Some of the pages that wait: those of a host, or of as many hosts as fill a turn."""
        job = Job.of(self.crawler)
        n_wanted = job.turns.items_at_once

        def finish() -> list[PageItem]:
            items: list[PageItem] = []
            while len(items) < n_wanted and (found := job.pages.arrivals.finish()):
                items += found
            return items

        try:
            return await job.turns.run(finish)
        except StateError:  # the job notes it, and the crawl stops
            return []
        except Exception:
            self._has_failed = True
            raise

    async def _send(self, items: list[PageItem]) -> None:
        await send_items(self.crawler, items, at_once=Job.of(self.crawler).turns.items_at_once)
