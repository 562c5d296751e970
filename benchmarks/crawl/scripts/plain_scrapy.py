"""Scrapy as its documentation shows it: CrawlSpider, LinkExtractor, its own dupefilter, a feed.

Run: scrapy runspider plain_scrapy.py -a url=URL -O pages.jsonl
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class PlainSpider(CrawlSpider):
    name = "plain"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url]
        self.allowed_domains = [urlsplit(url).hostname or ""]

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[dict[str, Any]]:  # noqa: ARG002 -- Scrapy's signature
        yield from self.parse_page(response)

    def parse_page(self, response: Response) -> Iterator[dict[str, Any]]:
        if isinstance(response, HtmlResponse):
            title = response.css("title::text").get()
            yield {"url": response.url, "title": title, "html": response.text}
