"""Scrapy without parsing: the most that any crawler built on it can reach.

Run: scrapy runspider fetch_only.py -a urls=FILE

FILE has one URL a line.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class FetchOnlySpider(Spider):
    name = "fetch_only"

    def __init__(self, urls: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._urls = Path(urls).read_text(encoding="utf-8").split()

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response) -> None:
        """The response has arrived; that is all."""
