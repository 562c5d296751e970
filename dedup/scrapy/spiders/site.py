"""`scrapy crawl site -a url=…`: crawls a site by its links."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, ClassVar

from scrapy import Request

from dedup.scrapy.spiders.page_spider import PageSpider


class SiteSpider(PageSpider):
    """Fetches the given URLs, and follows all links in scope. Arguments: see `PageSpider`."""

    name = "site"
    follows_links: ClassVar[bool] = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.urls:
            raise ValueError("url is missing: give -a url=https://…")

    async def start(self) -> AsyncIterator[Request]:
        await self.hear_sites()
        for url in self.urls:
            yield self.page_request(url)
