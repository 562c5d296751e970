"""`scrapy crawl demo`: crawls the project's small demo site, which the spider serves itself."""

from __future__ import annotations

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler

from dedup.demo.server import DemoServer
from dedup.scrapy.spiders.site import SiteSpider


class DemoSpider(SiteSpider):
    """Crawls a site on loopback that has every kind of duplicate. Arguments: `job`."""

    name = "demo"
    always_new = True  # the port, and so every URL, changes with each crawl
    # One page after the other: the same copy of a page is the first in every run.
    custom_settings: dict[str, object] | None = {"CONCURRENT_REQUESTS": 1}  # noqa: RUF012 -- as Scrapy's

    def __init__(self, job: str = "", **kwargs: object) -> None:
        if kwargs:
            raise ValueError(f"spider arguments must be among job, got {', '.join(kwargs)}")
        self._server = DemoServer()
        self._server.start()
        super().__init__(url=self._server.url, job=job)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._server.stop, signals.engine_stopped)
        return spider

    @property
    def job_arguments(self) -> dict[str, str]:
        return {}  # the port changes with each crawl

    @property
    def job_name(self) -> str:
        return "demo"
