"""Spider middleware: what `DEPTH_LIMIT` leaves out is kept until the limit allows it."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.job import Job


class NoteTooDeep:
    """Notes in the job's store each request that Scrapy's `DepthMiddleware` is about to drop.

    Jobs that processes share (`DEDUP_STORE`) are left out: there a process writes in its turn only.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = CrawlConfig.of(crawler)
        if not config.depth_limit or not config.is_url_enabled or config.store:
            raise NotConfigured
        self._limit = config.depth_limit
        self._requests = Job.of(crawler).requests

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NoteTooDeep:
        return cls(crawler)

    def process_spider_output(
        self,
        response: Response,
        result: Iterable[object],
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Iterator[object]:
        for output in result:
            self._look_at(output, response)
            yield output

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[object],
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> AsyncIterator[object]:
        async for output in result:
            self._look_at(output, response)
            yield output

    def _look_at(self, output: object, response: Response) -> None:
        depth = response.meta.get("depth", 0) + 1
        if isinstance(output, Request) and depth > self._limit:
            self._requests.note_too_deep(output, depth)
