"""Components for crawls of test_delays.py, which are processes of their own."""

from __future__ import annotations

import time
from typing import Self

from scrapy import Request, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.internals.downloads import delay_left


class BusyHandler(HTTP11DownloadHandler):
    """Computes for 300 ms before it sends every other request."""

    _n = 0

    async def download_request(self, request: Request) -> Response:
        self._n += 1
        if self._n % 2:
            time.sleep(0.3)
        return await super().download_request(request)


class TellDelay:
    """Prints how long the host's slot would wait for its next request."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls()
        extension._crawler = crawler
        crawler.signals.connect(extension._tell, signals.response_received)
        return extension

    _crawler: Crawler

    def _tell(self) -> None:
        print(f"delay left: {delay_left(self._crawler, '127.0.0.1'):.2f}")
