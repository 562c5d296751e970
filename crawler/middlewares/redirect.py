"""Downloader middleware: redirects do not leave the scope, and lead to each page once."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from w3lib.url import safe_url_string

from crawler.job import KEY, Job

_REDIRECT_STATUSES = {301, 302, 303, 307, 308}


class NotFollowed(IgnoreRequest):
    """A redirect that is not followed; `reason` is how it is recorded."""

    def __init__(self, reason: str, target: str) -> None:
        super().__init__(f"{reason}: {target}")
        self.reason = reason
        self.target = target


class AlreadyRecorded(IgnoreRequest):
    """The URL leads to a page that is recorded; fetching it again would tell nothing new."""

    def __init__(self, target: str) -> None:
        super().__init__(f"already recorded: {target}")
        self.target = target


class RedirectGuard:
    """Decides about redirects before Scrapy's own middleware follows them.

    It looks only at requests that the dupefilter has seen, so not at those for robots.txt.
    A target out of the spider's scope, or of another scheme than http(s), is not followed. A target
    that is recorded already makes the URL an alias of it. Any other target is fetched, past the
    dupefilter: a redirect that comes back to where it began (a cookie was set) is a page too, and
    Scrapy's redirect limit ends those that never arrive.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("DEDUP_URL_ENABLED"):
            raise NotConfigured
        self._crawler = crawler
        self._job = Job.of(crawler)
        self._fingerprinter = crawler.request_fingerprinter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RedirectGuard:
        return cls(crawler)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        """Drop a queued URL that a redirect has led to in the meantime."""
        key = request.meta.get(KEY)
        if key and "redirect_times" not in request.meta and self._job.store.urls.is_done(key):
            raise AlreadyRecorded(request.url)

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002
    ) -> Response:
        location = response.headers.get("Location")
        if response.status not in _REDIRECT_STATUSES or not location or KEY not in request.meta:
            return response
        try:
            target = urljoin(request.url, safe_url_string(location))
            scheme = urlsplit(target).scheme
        except ValueError:
            raise NotFollowed("redirect_invalid", repr(location)) from None
        if scheme not in {"http", "https"}:
            raise NotFollowed("redirect_scheme", target)
        is_in_scope = getattr(self._crawler.spider, "is_in_scope", None)
        if is_in_scope is not None and not is_in_scope(target, request):
            raise NotFollowed("redirect_offsite", target)
        if self._is_recorded(request, target):
            raise AlreadyRecorded(target)
        request.dont_filter = True  # the request to the target is a copy of this one
        return response

    def _is_recorded(self, request: Request, target: str) -> bool:
        key = self._fingerprinter.fingerprint(request.replace(url=target))
        came_by = [request.url, *request.meta.get("redirect_urls", [])]
        came_by_keys = {
            self._fingerprinter.fingerprint(request.replace(url=url)) for url in came_by
        }
        return key not in came_by_keys and self._job.store.urls.is_done(key)
