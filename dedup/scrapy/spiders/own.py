"""Which spiders are the project's own.

They read pages in processes of their own, queue links without `Request` objects, and let pages wait
for their template. The items of all other spiders are taken as they come.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol, TypeGuard

from scrapy import Request, Spider
from scrapy.http import Response

from dedup.scrapy.items import PageItem


class OwnSpider(Protocol):
    """A spider of the project's own; `PageSpider` says what each part is.

    Attributes:
        name: the spider's.
        job: name given to the job; "": it is made from the arguments.
        always_new: is each crawl a job of its own?
    """

    name: str
    job: str
    always_new: bool
    restart: bool
    refresh: bool

    @property
    def job_name(self) -> str: ...

    @property
    def job_arguments(self) -> Mapping[str, str]: ...

    def page_request(self, url: str, *, depth: int = 0) -> Request: ...

    def is_in_scope(self, url: str, request: Request | None = None) -> bool: ...

    def parse(self, response: Response) -> AsyncIterator[Request | PageItem]: ...


def is_own(spider: object) -> TypeGuard[OwnSpider]:
    """Is it a spider of the project's own?

    Those have `page_request`, which makes a request anew from a queued URL; see `PageSpider`.
    """
    return hasattr(spider, "page_request")


def is_own_class(spider_class: type[Spider]) -> bool:
    """Is it a class of spiders of the project's own?"""
    return hasattr(spider_class, "page_request")
