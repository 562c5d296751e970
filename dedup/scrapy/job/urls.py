"""The URLs of a crawl: the filter of seen URLs, and the URLs that a response finishes."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.frontier.request_queue import is_repeat
from dedup.scrapy.job.outcome import FinishedUrl
from dedup.scrapy.url_keys import UrlKeys
from dedup.store.sql.url_table import UrlTable
from dedup.urls import RULES, Canonicaliser, SeenUrls

_CAPACITY = 100_000
"""URLs that the filter begins with room for, 0.4 MB; it grows by itself."""

_ERROR_RATE = 1e-6
"""Share of the new URLs that are looked up in the store. A full filter takes about 34 bits a URL;
at 1e-3 it would take half."""


def seen_urls(urls: UrlTable, config: CrawlConfig) -> SeenUrls:
    """The filter of a job's URLs. That of a resumed job has room for a quarter more."""
    seen = SeenUrls(
        urls if config.url_exact else None,
        error_rate_target=_ERROR_RATE,
        initial_capacity=max(_CAPACITY, len(urls) * 5 // 4),
    )
    seen.load(urls.keys())
    return seen


class ResponseUrls:
    """Tells which URLs need no fetching any more when a response is recorded.

    Args:
        canonical: which canonical links count as URLs of the page: `rules`, `any` or `off`.
    """

    def __init__(self, crawler: Crawler, canonical: str) -> None:
        self._keys = UrlKeys.of(crawler)
        self._canonical = canonical
        self._merge = Canonicaliser(sorted(RULES))

    def finished(self, response: Response) -> tuple[FinishedUrl, ...]:
        """The URL of the response, and that of the first request, if it was redirected.

        So it is if the page was asked for at a route, and is stored without.
        """
        key: bytes | None = response.meta.get(KEY)
        if key is not None and is_repeat(key):
            return (FinishedUrl(key, response.url, "repeat"),)
        request = response.request
        if request is None:
            return ()
        page = FinishedUrl(self._keys.fingerprint(request), response.url)
        if key is None or key == page.key:
            return (page,)
        first = first_url(request)
        is_at_route = first.startswith(f"{response.url}#")
        return page, FinishedUrl(key, first, "route" if is_at_route else "redirect")

    def canonical(self, url: str, canonical: str | None) -> tuple[FinishedUrl, ...]:
        """A page's canonical link, if it counts as a URL of the same page.

        That of a page at a route does not: applications name their first page on each.
        """
        if canonical is None or self._canonical == "off" or not self._keys.are_canonical:
            return ()
        if "#" in url:
            return ()
        try:
            if self._canonical == "rules" and self._merge(canonical) != self._merge(url):
                return ()
            key = self._keys.key(canonical)
        except ValueError:
            return ()
        return () if key == self._keys.key(url) else (FinishedUrl(key, canonical, "canonical"),)


def finished_request(request: Request) -> tuple[FinishedUrl, ...]:
    """The URL of a request without a response; none: the URL filter has not seen it."""
    key: bytes | None = request.meta.get(KEY)
    return () if key is None else (FinishedUrl(key, first_url(request)),)


def first_url(request: Request) -> str:
    """The URL from which redirects led to the request; without redirects, its own URL."""
    redirected_from: list[str] = request.meta.get("redirect_urls", [])
    return redirected_from[0] if redirected_from else request.url
