"""`scrapy crawl sitemap -a url=…`: the pages that a site's sitemaps list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.frontier.meta import EACH_REFRESH, KEY
from dedup.scrapy.internals.engine import requests_queued
from dedup.scrapy.job.failure_reasons import NotSentError
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.scrapy.robots_file import sitemaps_in_robots
from dedup.scrapy.spiders.download_errors import request_of
from dedup.scrapy.spiders.page_spider import PageSpider
from dedup.scrapy.url_keys import UrlKeys
from dedup.urls.credentials import without_credentials

_LEVEL = "dedup_sitemap_level"
_MAX_LEVEL = 4
"""Of an index within an index; robots.txt has level 0. The protocol allows no nested indexes."""

_MAX_SITEMAPS = 50_000
"""The protocol allows this number in one file; when it is reached, no other index is read."""

_URLS_AT_ONCE = 1_000
"""Of a sitemap; between them other responses have their turn."""

_SITEMAP_ENDINGS = (".xml", ".gz", ".txt", ".rss", ".atom")


class SitemapSpider(PageSpider):
    """Fetches the pages in scope that the sitemaps at `url`, or of the site, list.

    A `url` whose path ends in ".xml", ".gz", ".txt", ".rss" or ".atom" is a sitemap. For any other
    URL the spider reads the sitemaps that the site's robots.txt names; if that names none, it tries
    /sitemap.xml. It does not follow links in pages. Other arguments: see `PageSpider`.
    """

    name = "sitemap"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._n_named = 0
        self._asked_again: set[str] = set()
        """Files that an earlier run has read, and this refresh has requested."""
        if not self.urls:
            raise ValueError("url is missing: give -a url=https://…, of a site or a sitemap")

    async def start(self) -> AsyncIterator[Request]:
        await self.hear_sites()
        for url in self.urls:
            if urlsplit(url).path.endswith(_SITEMAP_ENDINGS):
                requests = self._sitemap_requests(url)
            else:
                robots = urljoin(url, "/robots.txt")
                requests = self._file_requests(robots, self.parse_robots, self.no_robots)
            for request in requests:
                yield request

    async def parse_robots(self, response: Response) -> AsyncIterator[Request]:
        """Request the sitemaps that robots.txt names."""
        self.stop_if_full()
        sitemaps = sitemaps_in_robots(response.body) or [urljoin(response.url, "/sitemap.xml")]
        for url in sitemaps[:_MAX_SITEMAPS]:
            for request in self._named_sitemap(url, response):
                yield request
        await requests_queued()
        self._skip(response, "robots_txt", "")

    async def no_robots(self, failure: Failure) -> AsyncIterator[Request]:
        """Request /sitemap.xml if there is no robots.txt."""
        for request in self._sitemap_requests(urljoin(request_of(failure).url, "/sitemap.xml")):
            yield request
        await requests_queued()
        self.failed(failure)

    async def parse_sitemap(self, response: Response) -> AsyncIterator[Request]:
        """Request the pages, or the sitemaps, that a sitemap lists."""
        self.stop_if_full()
        try:
            sitemap = await self._reader.read_sitemap(response)
        except ReadingError as error:
            self.logger.warning("%s: %s", response.url, error)
            self._skip(response, error.reason, str(error))
            return
        if sitemap.is_index:
            if response.meta.get(_LEVEL, 0) >= _MAX_LEVEL or self._n_named >= _MAX_SITEMAPS:
                self.logger.warning("%s: too many nested sitemaps", response.url)
                self._skip(response, "sitemap_budget", f"{len(sitemap.urls)} sitemaps")
                return
            self._n_named += len(sitemap.urls)
            for url in sitemap.urls[:_MAX_SITEMAPS]:
                for request in self._named_sitemap(url, response):
                    yield request
        else:
            for start in range(0, len(sitemap.urls), _URLS_AT_ONCE):
                part = sitemap.urls[start : start + _URLS_AT_ONCE]
                urls = [url for each in part if (url := _joined(response.url, each))]
                self.outside.note_listed(urls)
                for url in self._new_links(urls, response):
                    yield self.page_request(url)
        await requests_queued()
        self._skip(response, "sitemap", "")

    def _named_sitemap(self, url: str, response: Response) -> Iterator[Request]:
        """The request for a sitemap that another file names, if that is allowed."""
        target = _joined(response.url, url)
        policy = AddressPolicy.of(self.crawler)
        if target and policy.may_follow(target, response.url):
            yield from self._sitemap_requests(target, level=response.meta.get(_LEVEL, 0) + 1)
        elif self.dedup_job is not None:
            reason = "private_address" if target else "invalid_url"
            self.dedup_job.record(
                Outcome(kind="failed", url=target or url[:2000], reason=reason, detail=response.url)
            )

    def _sitemap_requests(self, url: str, *, level: int = 0) -> Iterator[Request]:
        for request in self._file_requests(
            without_credentials(url), self.parse_sitemap, self.failed
        ):
            if level:
                request.meta[_LEVEL] = level
            yield request

    def _file_requests(self, url: str, callback: Any, errback: Any) -> Iterator[Request]:
        """The request for a sitemap, or for what names it.

        Each refresh reads it again, once; it stays recorded as it was read first.
        """
        request = Request(url, callback=callback, errback=errback)
        if self._is_known(request):
            if url in self._asked_again:
                return
            self._asked_again.add(url)
            request = request.replace(dont_filter=True, meta={EACH_REFRESH: True})
        yield request

    def _is_known(self, request: Request) -> bool:
        job = self.dedup_job
        if job is None or not self._is_refreshing:
            return False
        key = UrlKeys.of(self.crawler).fingerprint(request)
        return bool(job.store.urls.known([key]))

    def _skip(self, response: Response, reason: str, detail: str) -> None:
        if EACH_REFRESH in response.meta:
            self._finish_again(response.url, response.meta)
        else:
            super()._skip(response, reason, detail)

    def failed(self, failure: Failure) -> None:
        request = request_of(failure)
        if EACH_REFRESH in request.meta and not isinstance(failure.value, NotSentError):
            self.logger.info("%s cannot be read again: %s", request.url, failure.value)
            self._finish_again(request.url, request.meta)
        else:
            super().failed(failure)

    def _finish_again(self, url: str, meta: Mapping[str, Any]) -> None:
        if self.dedup_job is not None and KEY in meta:
            finishes = (FinishedUrl(meta[KEY], url, "repeat"),)
            self.dedup_job.record(Outcome(kind="done", url=url, finishes=finishes))


def _joined(base: str, url: str) -> str:
    """The absolute URL; "" if it is not a URL."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""
