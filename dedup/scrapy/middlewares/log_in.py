"""Downloader middleware: the name and password in a start URL are sent to its host alone."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from w3lib.http import basic_auth_header

from dedup.scrapy.component import Component

_HEADER = "Authorization"
_SENT = "_dedup_logged_in"


class LogIn(Component):
    """Adds the `Authorization` header while a request is sent, and removes it afterwards.

    Scrapy's own middleware leaves the header in the request: a retry would be stored with it.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        credentials: Mapping[str, tuple[str, str]] = getattr(crawler.spider, "credentials", {})
        self._headers = {
            urlsplit(url).netloc: basic_auth_header(*name_and_password)
            for url, name_and_password in credentials.items()
        }
        if not self._headers:
            raise NotConfigured

    def process_request(self, request: Request, **_: object) -> None:
        header = self._headers.get(urlsplit(request.url).netloc)
        if header is not None and _HEADER not in request.headers:
            request.headers[_HEADER] = header
            request.meta[_SENT] = True

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        _remove_header(request)
        return response

    def process_exception(self, request: Request, **_: object) -> None:
        _remove_header(request)


def _remove_header(request: Request) -> None:
    if request.meta.pop(_SENT, False):
        del request.headers[_HEADER]
