"""The base of what Scrapy makes from a crawler."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler


class Component:
    """A middleware, pipeline, extension, scheduler or dupefilter."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)
