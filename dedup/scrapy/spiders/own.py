"""Which spiders are the project's own.

For these, pages are read in other processes, links are queued without `Request` objects, and pages
wait for others of their site. Spiders of other projects yield items of any kind, which are judged
at once.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol, TypeGuard

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.items import PageItem


class OwnSpider(Protocol):
    """A spider of the project's own; `PageSpider` documents each part.

    Attributes:
        name: of the spider.
        job: the name that the user gave to the job; "": the name is made from the arguments.
        job_name: the default name of the job.
        former_job_name: the default name that earlier releases gave; "": the same.
        always_new: is each crawl a job of its own?
        max_pages, max_seconds: when the crawl stops; 0: no limit.
    """

    name: str
    job: str
    always_new: bool
    restart: bool
    refresh: bool
    max_pages: int
    max_seconds: int

    @property
    def job_name(self) -> str: ...

    @property
    def former_job_name(self) -> str: ...

    @property
    def job_arguments(self) -> Mapping[str, str]: ...

    def first_urls(self) -> list[str]: ...

    def page_request(self, url: str, *, depth: int = 0) -> Request: ...

    def may_visit(self, n_in_flight: int) -> bool: ...

    def is_in_scope(self, url: str, request: Request | None = None) -> bool: ...

    def parse(self, response: Response) -> AsyncIterator[Request | PageItem]: ...


def is_own(spider: object) -> TypeGuard[OwnSpider]:
    """Is it a spider of the project's own?

    Own spiders have `page_request`, which makes a request from a queued URL; see `PageSpider`.
    """
    return hasattr(spider, "page_request")


def own_spider(crawler: Crawler) -> OwnSpider:
    """The crawler's spider, where it is one of the project's own.

    Raises:
        TypeError: it is another project's.
    """
    spider = crawler.spider
    if not is_own(spider):
        raise TypeError(f"the spider must be one of the project's own, got {spider!r}")
    return spider


def is_own_class(spider_class: type[Spider]) -> bool:
    """Is it a class of spiders of the project's own?"""
    return hasattr(spider_class, "page_request")
