"""Spider middleware: what `DEPTH_LIMIT` leaves out is kept until the limit allows it."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.job import Job


class NoteTooDeep(BaseSpiderMiddleware):
    """Notes in the job's store each request that Scrapy's `DepthMiddleware` is about to drop.

    Jobs that processes share are left out: there a process writes in its turn only.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = CrawlConfig.of(crawler)
        if not config.depth_limit or not config.is_url_enabled or config.is_shared:
            raise NotConfigured
        super().__init__(crawler)
        self._limit = config.depth_limit
        self._requests = Job.of(crawler).urls.requests

    def get_processed_request(self, request: Request, response: Response | None) -> Request:
        """Return the request unchanged; `response` is None for start requests."""
        if response is not None and (depth := response.meta.get("depth", 0) + 1) > self._limit:
            self._requests.note_too_deep(request, depth)
        return request
