"""`scrapy crawl sitemap -a url=…`: the pages that a site's sitemaps list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http import Response
from twisted.python.failure import Failure

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.frontier.meta import EACH_REFRESH
from dedup.scrapy.job.outcome import Outcome
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.scrapy.robots_file import sitemaps_in_robots
from dedup.scrapy.spiders.download_errors import request_of
from dedup.scrapy.spiders.page_spider import PageSpider
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
        if not self.urls:
            raise ValueError("url is missing: give -a url=https://…, of a site or a sitemap")

    async def start(self) -> AsyncIterator[Request]:
        await self.hear_sitemaps()
        for url in self.urls:
            if urlsplit(url).path.endswith(_SITEMAP_ENDINGS):
                yield self._sitemap_request(url)
            else:
                robots = urljoin(url, "/robots.txt")
                yield self._file_request(robots, self.parse_robots, self.no_robots)

    def parse_robots(self, response: Response) -> Iterator[Request]:
        """Request the sitemaps that robots.txt names."""
        self.stop_if_full()
        sitemaps = sitemaps_in_robots(response.body) or [urljoin(response.url, "/sitemap.xml")]
        for url in sitemaps[:_MAX_SITEMAPS]:
            yield from self._named_sitemap(url, response)
        self._skip(response, "robots_txt", "")

    def no_robots(self, failure: Failure) -> Iterator[Request]:
        """Request /sitemap.xml if there is no robots.txt."""
        yield self._sitemap_request(urljoin(request_of(failure).url, "/sitemap.xml"))
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
        self._skip(response, "sitemap", "")

    def _named_sitemap(self, url: str, response: Response) -> Iterator[Request]:
        """The request for a sitemap that another file names, if that is allowed."""
        target = _joined(response.url, url)
        policy = AddressPolicy.of(self.crawler)
        if target and policy.may_follow(target, response.url):
            yield self._sitemap_request(target, level=response.meta.get(_LEVEL, 0) + 1)
        elif self.dedup_job is not None:
            reason = "private_address" if target else "invalid_url"
            self.dedup_job.record(
                Outcome(kind="failed", url=target or url[:2000], reason=reason, detail=response.url)
            )

    def _sitemap_request(self, url: str, *, level: int = 0) -> Request:
        request = self._file_request(without_credentials(url), self.parse_sitemap, self.failed)
        if level:
            request.meta[_LEVEL] = level
        return request

    def _file_request(self, url: str, callback: Any, errback: Any) -> Request:
        """The request for a sitemap, or for what names it: each refresh reads it again."""
        is_again = self._is_refreshing
        return Request(
            url,
            callback=callback,
            errback=errback,
            dont_filter=is_again,
            meta={EACH_REFRESH: True} if is_again else None,
        )


def _joined(base: str, url: str) -> str:
    """The absolute URL; "" if it is not a URL."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""
