"""Spider middleware: a job that was interrupted continues where it stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.component import Component
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import EACH_REFRESH
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own
from dedup.scrapy.url_keys import UrlKeys


class ResumeMiddleware(Component):
    """Drops the start requests that the job has seen; of a finished job, all of them.

    Those for sitemaps are sent in each refresh. Queued URLs may be fetched before the spider makes
    its first request, so that private hosts where the crawl starts are allowed before that.

    Where several processes crawl the job, the first of them makes the start requests.

    The requests that an interrupted job left are queued in its store, and the scheduler takes them
    from there.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not CrawlConfig.of(crawler).is_url_enabled:
            raise NotConfigured
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._keys = UrlKeys.of(crawler)
        self._policy = AddressPolicy.of(crawler)

    async def process_start(self, start: AsyncIterator[object]) -> AsyncIterator[object]:
        spider = self.crawler.spider
        for url in spider.first_urls() if is_own(spider) else ():
            self._policy.start(url)
        async for request in start:
            if isinstance(request, Request):
                self._policy.start(request.url)
            if self._job.is_finished:
                return
            if self._job.is_first and not self._is_done(request):
                yield request

    def _is_done(self, request: object) -> bool:
        return (
            self._job.is_resumed
            and isinstance(request, Request)
            and EACH_REFRESH not in request.meta
            and bool(self._job.store.urls.known([self._keys.fingerprint(request)]))
        )
