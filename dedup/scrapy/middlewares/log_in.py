"""Downloader middleware: name and password of a start URL, for its own host alone."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from w3lib.http import basic_auth_header

_HEADER = "Authorization"
_SENT = "dedup_logged_in"


class LogIn:
    """Adds the header while a request is sent, and takes it off again.

    Scrapy's own middleware leaves it there, from where it would go into the job's store with a
    retry.
    """

    def __init__(self, crawler: Crawler) -> None:
        spider: Any = crawler.spider
        self._headers = {
            urlsplit(url).netloc: basic_auth_header(*said)
            for url, said in getattr(spider, "credentials", {}).items()
        }
        if not self._headers:
            raise NotConfigured

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LogIn:
        return cls(crawler)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        header = self._headers.get(urlsplit(request.url).netloc)
        if header is not None and _HEADER not in request.headers:
            request.headers[_HEADER] = header
            request.meta[_SENT] = True

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Response:
        _take_off(request)
        return response

    def process_exception(
        self,
        request: Request,
        exception: Exception,  # noqa: ARG002 -- Scrapy's signature
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> None:
        _take_off(request)


def _take_off(request: Request) -> None:
    if request.meta.pop(_SENT, False):
        del request.headers[_HEADER]
