"""Spider middleware: a job goes on where it stopped."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.job import Job

logger = logging.getLogger(__name__)


class ResumeMiddleware:
    """Leaves out start requests that the job knows, and gives a finished job nothing to do.

    What an interrupted job left is queued in its store, from where the scheduler takes it.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("DEDUP_URL_ENABLED"):
            raise NotConfigured
        self._job = Job.of(crawler)
        self._fingerprinter = crawler.request_fingerprinter
        self._is_watching = not hasattr(crawler.spider, "page_request")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ResumeMiddleware:
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        if self._job.is_finished:
            return
        async for request in start:
            if not self._is_done(request):
                yield request

    # Scrapy 2.13 passes the spider, later releases do not.
    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> Iterable[Any]:
        return self._job.outputs.watch(response, result) if self._is_watching else result

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        if self._is_watching:
            result = self._job.outputs.watch_async(response, result)
        async for output in result:
            yield output

    def _is_done(self, request: Any) -> bool:
        return (
            self._job.is_resumed
            and isinstance(request, Request)
            and bool(self._job.store.urls.known([self._fingerprinter.fingerprint(request)]))
        )
