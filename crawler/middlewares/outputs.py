"""Spider middleware: what callbacks give, watched for the job."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.job import Job


class WatchOutputs:
    """Has the job note a request as done once all that came of it is taken care of.

    The project's own spiders settle their URLs with their items, and need no watching.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("DEDUP_URL_ENABLED"):
            raise NotConfigured
        if hasattr(crawler.spider, "page_request"):
            raise NotConfigured
        self._outputs = Job.of(crawler).outputs

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> WatchOutputs:
        return cls(crawler)

    # Scrapy 2.13 passes the spider, later releases do not.
    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> Iterator[Any]:
        return self._outputs.watch(response, result)

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        async for output in self._outputs.watch_async(response, result):
            yield output
