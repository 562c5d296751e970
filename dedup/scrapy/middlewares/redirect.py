"""Downloader middleware: redirects stay in the scope, and each page is fetched once."""

from __future__ import annotations

from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response

from dedup.scrapy.component import Component
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY, REVISIT
from dedup.scrapy.job.job import Job
from dedup.scrapy.url_keys import UrlKeys
from dedup.store.records import DONE, QUEUED
from dedup.urls.credentials import without_credentials
from dedup.urls.parts import redirect_target
from dedup.urls.routes import is_route, without_place

REDIRECT_STATUSES = {301, 302, 303, 307, 308}
_CONDITIONS = "If-None-Match", "If-Modified-Since"
"""Headers that a refresh sends with a page's URL; another URL's page must not be called unchanged.
"""

_WAITS = "_dedup_redirect_waits"
_MAX_WAITS = 2


class NotFollowed(IgnoreRequest):
    """The URL, or where it redirects to, is not fetched; `reason` is recorded."""

    def __init__(self, reason: str, target: str) -> None:
        super().__init__(f"{reason}: {target}")
        self.reason = reason
        self.target = target


class AlreadyRecorded(IgnoreRequest):
    """The URL redirects to a page that is recorded already, and is not fetched again."""

    def __init__(self, target: str) -> None:
        super().__init__(f"already recorded: {target}")
        self.target = target


class RedirectGuard(Component):
    """Decides about redirects before Scrapy's own middleware follows them.

    It decides for the requests that the dupefilter has seen, so not for those for robots.txt.

    - A target out of the spider's scope, or of another scheme than http(s), is not fetched.
    - If the target is recorded already, the URL becomes an alias of it. In a refresh the redirect
      may have turned round: then the target was an alias of this URL's page, and is fetched. So is
      one that was an alias of another page, as it may lead to a new one.
    - If the target is queued itself, or in flight, the request is queued again behind it, twice at
      most: fetching the target here would fetch it twice. A stored page that is fetched here
      nevertheless, and whose own visit is still to come, is left to that.
    - Every other target is fetched, and the dupefilter does not see it: a redirect may lead back to
      its own URL after a cookie was set. Scrapy's limit of redirects ends endless ones.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not CrawlConfig.of(crawler).is_url_enabled:
            raise NotConfigured
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._keys = UrlKeys.of(crawler)

    def process_request(self, request: Request, **_: object) -> None:
        """Drop a queued URL that has been recorded since, as the target of a redirect."""
        key = request.meta.get(KEY)
        if key and "redirect_times" not in request.meta and self._job.store.urls.is_done(key):
            raise AlreadyRecorded(request.url)

    def process_response(
        self, request: Request, response: Response, **_: object
    ) -> Request | Response:
        location = response.headers.get("Location")
        if response.status not in REDIRECT_STATUSES or not location or KEY not in request.meta:
            if self._has_visit(request):
                raise AlreadyRecorded(request.url)
            return response
        try:
            target = without_place(without_credentials(redirect_target(request.url, location)))
            target = self._at_route(target, request)
            target = self._job.urls.budgets.same_page(target) or target
            scheme = urlsplit(target).scheme
        except ValueError:
            raise NotFollowed("redirect_invalid", repr(location)) from None
        if scheme not in {"http", "https"}:
            raise NotFollowed("redirect_scheme", target)
        is_in_scope = getattr(self.crawler.spider, "is_in_scope", None)
        if is_in_scope is not None and not is_in_scope(target, request):
            raise NotFollowed("redirect_offsite", target)
        if not self._has_passed(request, target):
            key = self._key(request, target)
            state = self._job.store.urls.state(key)
            if state == DONE and not self._leads_on(request, target):
                raise AlreadyRecorded(target)
            if state == QUEUED and self._is_as_before(request, target):
                raise AlreadyRecorded(target)
            if state == QUEUED and request.meta.get(_WAITS, 0) < _MAX_WAITS:
                self._job.urls.requests.wait_for_target(request.meta[KEY], key)
                return _later(request)
        request.dont_filter = True  # the request to the target is a copy of this one
        for name in _CONDITIONS:
            request.headers.pop(name, None)
        if request.meta.get("download_slot") == urlsplit(request.url).hostname:
            del request.meta["download_slot"]  # Scrapy has set it; the target's is that of its host
        return _with_location(response, target)

    def _has_visit(self, request: Request) -> bool:
        """Is this a page to which a redirect has led, and which will be visited for itself?"""
        if KEY not in request.meta or "redirect_times" not in request.meta:
            return False
        key = self._key(request, request.url)
        return key != request.meta[KEY] and self._job.urls.requests.has_visit(key)

    def _has_passed(self, request: Request, target: str) -> bool:
        """Have the redirects passed the target before?"""
        key = self._key(request, target)
        urls = [request.url, *request.meta.get("redirect_urls", [])]
        return any(self._key(request, url) == key for url in urls)

    def _leads_on(self, request: Request, target: str) -> bool:
        """Was the target, in a refresh, an alias of this URL's page, or does it redirect, too?"""
        if REVISIT in request.meta:
            return self._job.store.urls.redirects_to(target, request.url)
        return bool(self._job.urls.revisits.number) and self._job.store.urls.has_redirected(target)

    def _is_as_before(self, request: Request, target: str) -> bool:
        """Does a URL without a page redirect, in a refresh, where it did before?"""
        return (
            REVISIT not in request.meta
            and bool(self._job.urls.revisits.number)
            and self._job.store.urls.redirects_to(request.url, target)
        )

    def _at_route(self, target: str, request: Request) -> str:
        """The target at the route of the request, as browsers go there."""
        fragment = request.url.partition("#")[2]
        is_at_route = self._keys.canonical.has_routes and is_route(fragment)
        return f"{target}#{fragment}" if is_at_route and "#" not in target else target

    def _key(self, request: Request, url: str) -> bytes:
        return self._keys.fingerprint(request.replace(url=url))


def _with_location(response: Response, target: str) -> Response:
    """The response with the target that was checked: Scrapy reads hosts by IDNA 2003."""
    headers = response.headers.copy()
    headers["Location"] = target
    return response.replace(headers=headers)


def _later(request: Request) -> Request:
    """The same request, to be fetched after those that are queued at its depth and the next."""
    waits = {_WAITS: request.meta.get(_WAITS, 0) + 1}
    return request.replace(
        dont_filter=True, priority=request.priority - 2, meta={**request.meta, **waits}
    )
