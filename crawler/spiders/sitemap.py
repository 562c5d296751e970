"""`scrapy crawl sitemap -a url=…`: the pages that a site's sitemaps list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http import Response

from dedup.scrapy.spiders.page_spider import PageSpider
from dedup.scrapy.spiders.sitemap_file import SitemapError, read_sitemap, sitemaps_in_robots
from dedup.urls.credentials import without_credentials


class SitemapSpider(PageSpider):
    """Fetches the pages in scope of the sitemaps at `url`, or of those that the site names.

    A `url` whose path ends in ".xml", ".gz" or ".txt" is a sitemap. Of any other URL the site's
    robots.txt is read for its sitemaps, and /sitemap.xml is tried where it names none. Links in
    pages are not followed. Other arguments: see `PageSpider`.
    """

    name = "sitemap"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.urls:
            raise ValueError("url is missing: give -a url=https://…, of a site or a sitemap")

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            if urlsplit(url).path.endswith((".xml", ".gz", ".txt")):
                yield self._sitemap_request(url)
            else:
                robots = urljoin(url, "/robots.txt")
                yield Request(robots, callback=self.parse_robots, errback=self.no_robots)

    def parse_robots(self, response: Response) -> Iterator[Request]:
        """Go on to the sitemaps that robots.txt names."""
        self.take_page()
        sitemaps = sitemaps_in_robots(response.body) or [urljoin(response.url, "/sitemap.xml")]
        for url in sitemaps:
            yield self._sitemap_request(urljoin(response.url, url))
        self._skip(response, "robots_txt", "")

    def no_robots(self, failure: Any) -> Iterator[Request]:
        """Try /sitemap.xml where there is no robots.txt."""
        yield self._sitemap_request(urljoin(failure.request.url, "/sitemap.xml"))
        self.failed(failure)

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """Go on to the pages, or to the sitemaps, that a sitemap lists."""
        self.take_page()
        try:
            sitemap = read_sitemap(response.body)
        except SitemapError as error:
            self.logger.warning("%s: %s", response.url, error)
            self._skip(response, "sitemap_error", str(error))
            return
        urls = [urljoin(response.url, url) for url in sitemap.urls]
        if sitemap.is_index:
            for url in urls:
                yield self._sitemap_request(url)
        else:
            for url in self._links.new(urls, response):
                yield self.page_request(url)
        self._skip(response, "sitemap", "")

    def _sitemap_request(self, url: str) -> Request:
        return Request(without_credentials(url), callback=self.parse_sitemap, errback=self.failed)
