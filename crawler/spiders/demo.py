"""`scrapy crawl demo`: the small site that ships with the project, served by the spider itself."""

from __future__ import annotations

from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.demo.server import DemoServer
from crawler.spiders.site import SiteSpider


class DemoSpider(SiteSpider):
    """Crawls a site on loopback that has every kind of duplicate in it. Arguments: `job`."""

    name = "demo"
    always_new = True  # the port, and so every URL, is another one each time
    # One page after the other: which of two copies comes first is the same in every run.
    custom_settings: dict[str, Any] | None = {"CONCURRENT_REQUESTS": 1}  # noqa: RUF012 -- as Scrapy's

    def __init__(self, job: str = "", **kwargs: Any) -> None:
        if kwargs:
            raise ValueError(f"spider arguments must be among job, got {', '.join(kwargs)}")
        self._server = DemoServer()
        self._server.start()
        super().__init__(url=self._server.url, job=job)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._server.stop, signals.engine_stopped)
        return spider

    @property
    def job_arguments(self) -> dict[str, str]:
        return {}  # the port is another one each time

    @property
    def job_name(self) -> str:
        return "demo"
