"""A spider of any project with the add-on: equal and near-equal items are dropped.

scrapy runspider examples/quotes_spider.py -a url=https://example.org/ -O quotes.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from scrapy import Spider
from scrapy.http import Response


class QuotesSpider(Spider):
    """Follows all links of a site and yields an item for each page."""

    name = "quotes"
    custom_settings: ClassVar[dict[str, Any]] = {"ADDONS": {"dedup.scrapy.DedupAddon": 500}}

    def __init__(self, url: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [url]

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "text": "\n".join(response.css("p::text").getall())}
        yield from response.follow_all(css="a")
