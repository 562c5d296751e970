"""Downloader middleware: only http and https, and no private hosts that public ones name."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from w3lib.url import safe_url_string

from dedup.scrapy.addresses import AddressPolicy, GuardedResolver, resolved_host
from dedup.scrapy.component import Component
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.reactor import installed_reactor
from dedup.scrapy.middlewares.redirect import NotFollowed

_SCHEMES = ("http", "https")


class PublicWeb(Component):
    """Refuses requests that do not go to the public web, those for robots.txt too.

    This middleware decides by the name of the host; `GuardedResolver` decides by its addresses.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._policy = AddressPolicy.of(crawler)
        if self._policy.is_open:
            raise NotConfigured
        self._is_guarded = False
        if not CrawlConfig.of(crawler).is_url_enabled:  # else `ResumeMiddleware` does so
            crawler.signals.connect(self._allow_start, signals.request_scheduled)

    def process_request(self, request: Request, **_: object) -> None:
        if not self._is_guarded:
            self._guard()
        if urlsplit(request.url).scheme not in _SCHEMES:
            raise NotFollowed("unsupported_scheme", request.url)
        if not self._policy.may_connect(resolved_host(request.url)):
            raise NotFollowed("private_address", request.url)

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        location = response.headers.get("Location")
        if not location or not 300 <= response.status < 400:
            return response
        try:
            target = urljoin(request.url, safe_url_string(location))
        except ValueError:
            return response  # the middlewares for redirects refuse it
        if not self._policy.may_follow(target, request.url):
            raise NotFollowed("redirect_private", target)
        return response

    def process_exception(self, request: Request, exception: Exception, **_: object) -> None:
        if self._policy.was_refused(resolved_host(request.url)):
            raise NotFollowed("private_address", request.url) from exception

    def _allow_start(self, request: Request) -> None:
        if request.meta.get("is_start_request") and "redirect_urls" not in request.meta:
            self._policy.start(request.url)

    def _guard(self) -> None:
        self._is_guarded = True
        reactor = installed_reactor()
        if reactor is not None:
            GuardedResolver.install(reactor, self._policy)
