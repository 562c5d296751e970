"""Downloader middleware: bounds the number and size of cookies, as browsers do."""

from __future__ import annotations

from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from dedup.scrapy.component import Component

MAX_COOKIE_BYTES = 4096  # name, value and attributes: RFC 6265, section 6.1, and browsers
MAX_COOKIES_PER_HOST = 180  # Chrome
MAX_HEADER_BYTES = 8000
"""The longest header that servers accept by default: Apache 8,190 bytes, nginx 8 kB."""

_MAX_HOSTS = 100_000


class BoundedCookies(Component):
    """Bounds the cookies that Scrapy's `CookiesMiddleware`, which comes before it, takes and sends.

    It removes cookies that are too large and those after the 180th of a host; from a request, those
    that do not fit into the header.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("COOKIES_ENABLED"):
            raise NotConfigured
        super().__init__(crawler)
        self._names: dict[str, set[bytes]] = {}

    def process_request(self, request: Request, **_: object) -> None:
        cookie = request.headers.get("Cookie")
        if cookie is None or len(cookie) <= MAX_HEADER_BYTES:
            return
        kept, size = [], 0
        for each in cookie.split(b"; "):
            size += len(each) + 2
            if size <= MAX_HEADER_BYTES:
                kept.append(each)
        request.headers["Cookie"] = b"; ".join(kept)

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        cookies = response.headers.getlist("Set-Cookie")
        if not cookies:
            return response
        host = urlsplit(request.url).hostname or ""
        if host not in self._names and len(self._names) >= _MAX_HOSTS:
            del self._names[next(iter(self._names))]
        names = self._names.setdefault(host, set())
        kept = [each for each in cookies if self._is_kept(each, names)]
        if len(kept) < len(cookies):
            self.crawler.stats.inc_value("dedup/cookies/dropped", len(cookies) - len(kept))
            response.headers.setlist("Set-Cookie", kept)
        return response

    def _is_kept(self, cookie: bytes, names: set[bytes]) -> bool:
        name = cookie.partition(b"=")[0].strip()
        if len(cookie) > MAX_COOKIE_BYTES or (
            name not in names and len(names) >= MAX_COOKIES_PER_HOST
        ):
            return False
        names.add(name)
        return True
