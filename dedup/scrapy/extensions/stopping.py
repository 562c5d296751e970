"""Extension: a crawl that is asked to stop ends within seconds."""

from __future__ import annotations

import time

from scrapy.crawler import Crawler

from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.internals.downloads import drop_unsent
from dedup.scrapy.internals.engine import (
    close_if_no_requests,
    close_spider,
    forget_requests,
    is_spider_closing,
    is_spider_open,
)
from dedup.scrapy.job.failure_reasons import NotSentError
from dedup.scrapy.job.job import Job

_LOOK_SECONDS = 0.2

STOP_SECONDS = 5.0
"""How long a crawl that is asked to stop waits for the responses under way. Most pages arrive
within a second; a silent server would hold the crawl up until DOWNLOAD_TIMEOUT."""


class Stopping(Extension):
    """Drops the requests under way when the spider closes; closes the spider if the store fails.

    Scrapy waits for all requests that are in the downloader: for those that wait for the delay of a
    slow host, and for those whose server does not answer until the timeout. This extension drops
    the former at once and the latter after five seconds; all stay queued in the job's store.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._closing_since: float | None = None

    def _spider_opened(self) -> None:
        self._call_every(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        crawler, job = self.crawler, Job.of(self.crawler)
        if not is_spider_open(crawler):
            return
        if not is_spider_closing(crawler):
            if job.failure is not None:
                close_spider(crawler, "state_error")
            return
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            drop_unsent(crawler, NotSentError)
        seconds = 0 if job.failure else STOP_SECONDS
        if time.monotonic() - self._closing_since >= seconds:
            forget_requests(crawler)
            for each in (job.reader, job.rendering):
                if each is not None:
                    each.abandon()
        close_if_no_requests(crawler)
