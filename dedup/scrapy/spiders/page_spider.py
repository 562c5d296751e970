"""What the project's spiders share: from a response to an item and to the links to follow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit, urlunsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import REVISIT
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.failures import NotSentError, reason_of
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import Outcome, OutcomeKind
from dedup.scrapy.job.urls import finished_request, first_url
from dedup.scrapy.middlewares.redirect import AlreadyRecorded, NotFollowed
from dedup.scrapy.reading.exchange import ReadingError
from dedup.scrapy.reading.page import Wanted
from dedup.scrapy.reading.reader import PageReader
from dedup.scrapy.reading.reading import Reading, header
from dedup.scrapy.spiders.arguments import flag, split_urls, whole_number
from dedup.scrapy.spiders.link_filter import LinkFilter
from dedup.scrapy.spiders.scope import Scope, host_key, is_loopback
from dedup.store.records import TRAP_RANK
from dedup.urls.credentials import credentials_of, without_credentials
from dedup.urls.parts import remove_dot_segments, with_ascii_host

_SIGNPOST_CHARACTERS = 500  # a page with less text than this that refreshes to another is one


class PageSpider(Spider):
    """Yields a `PageItem` for each HTML page, and records what becomes of every other URL.

    Args:
        url: where to start; several are separated by commas.
        allow, deny: regular expressions that narrow the scope, see `Scope`.
        max_pages: stop after so many fetched pages; 0: no limit.
        job: name of the job.
        restart: "1": begin anew; the job that exists is kept under another name.
        refresh: "1": visit the pages of a finished job again, and store what has changed.

    Raises:
        ValueError: an argument is wrong; the message says which and how to mend it.
    """

    follows_links: ClassVar[bool] = False
    always_new: bool = False

    def __init__(
        self,
        url: str = "",
        allow: str = "",
        deny: str = "",
        max_pages: str | int = 0,
        job: str = "",
        restart: str = "",
        refresh: str = "",
        **kwargs: Any,
    ) -> None:
        if kwargs:
            known = "url, allow, deny, max_pages, job, restart, refresh"
            raise ValueError(f"spider arguments must be among {known}, got {', '.join(kwargs)}")
        super().__init__()
        given = split_urls(url)
        self.urls = [without_credentials(each) for each in given]
        said = zip(self.urls, map(credentials_of, given), strict=True)
        self.credentials = {each: found for each, found in said if any(found)}
        """Name and password by start URL, for `dedup.scrapy.middlewares.log_in`."""
        self.scope = Scope(self.urls, allow=allow, deny=deny)
        self.max_pages = whole_number("max_pages", max_pages)
        self.job = job
        self.restart = flag("restart", restart)
        self.refresh = flag("refresh", refresh)
        self._arguments = {"url": ",".join(self.urls), "allow": allow, "deny": deny}
        self._is_plain = not (allow or deny)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._close_reader, signals.spider_closed)
        first_urls = spider.first_urls()
        if first_urls and all(map(is_loopback, first_urls)):  # nobody to be polite to
            crawler.settings.set("AUTOTHROTTLE_ENABLED", False, priority="spider")
            crawler.settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 16, priority="spider")
        return spider

    def first_urls(self) -> list[str]:
        """Where the crawl begins; of very many, the first."""
        return self.urls

    @property
    def job_name(self) -> str:
        """Made from the arguments that say what is crawled, so the same command is the same job."""
        host = host_key(self.urls[0]).replace(":", "-") if self.urls else ""
        if self._is_plain and len(self.urls) == 1 and self.urls[0].count("/") <= 3:
            return f"{self.name}-{host}"
        arguments = "\n".join(self._arguments.values()).encode("utf-8", "replace")
        digest = sha256(arguments).hexdigest()[:8]
        return "-".join(filter(None, [self.name, host, digest]))

    @property
    def job_arguments(self) -> dict[str, str]:
        """The arguments that say what is crawled: with others it is another job."""
        return self._arguments

    def is_in_scope(self, url: str, request: Request | None = None) -> bool:
        """May `url` be fetched? `request`: the one that is redirected to it."""
        if request is not None and request.url in self.urls:
            self.scope.follow_start(url, request.url)
        return url in self.scope

    def page_request(self, url: str, *, depth: int = 0) -> Request:
        """The request for a page.

        Dot segments are resolved as browsers do; a server may refuse them, and by its key the URL
        is the same as without them.
        """
        url = with_ascii_host(without_credentials(url))
        if "/." in url:
            url = urlunsplit(
                (parts := urlsplit(url))._replace(path=remove_dot_segments(parts.path))
            )
        return Request(
            url,
            callback=self.parse,
            errback=self.failed,
            meta={"depth": depth} if depth else None,
        )

    async def parse(self, response: Response) -> AsyncIterator[Request | PageItem]:
        self.take_page()
        try:
            reading = await self._read(response)
            links = [] if reading is None else self._links_to_follow(reading, response)
        except CloseSpider:
            raise
        except ReadingError as error:
            self._skip(response, error.reason, str(error))
            return
        except Exception as error:  # noqa: BLE001 -- one bad page never ends a crawl
            self._skip(response, "parse_error", f"{type(error).__name__}: {error}")
            return
        # Links first: the page's URL must not be done before its links are queued.
        depth = response.meta.get("depth", 0) + 1
        for url in links:
            yield self._later_if_trap(self.page_request(url, depth=depth), depth)
        if not response.body or response.body.isspace():
            self._skip(response, "empty", "")
        elif reading is None:
            self._skip(response, "not_html", header(response, "Content-Type"))
        elif self._is_unchanged(reading, response):
            self._visited(response, "unchanged")
        elif reason := self._reason_to_skip(reading):
            self._skip(response, reason, reading.page.refresh_url or "")
        else:
            for item in await self._ready(reading, response):
                yield item

    async def _read(self, response: Response) -> Reading | None:
        """Read a page by what is known of its host."""
        job = self.dedup_job
        if job is None:
            return await self.reader.read(response)
        known = job.arrivals
        site, encoding = known.site(response.url), known.encoding(response)
        reading = await self.reader.read(response, site, encoding)
        if reading is None:
            return None
        encoding = known.encoding(response)
        if not reading.is_encoding_sure and encoding != reading.raw.host_encoding:
            # Learned in the meantime: the answer must not depend on how long reading takes.
            site = known.site(response.url)
            reading = await self.reader.decode_again(reading, response, site, encoding)
        if reading.is_encoding_sure:
            known.note_encoding(response, reading.item.encoding)
        return reading

    def _later_if_trap(self, request: Request, depth: int) -> Request:
        """The request, put off if its URL looks like a trap."""
        traps = None if self.dedup_job is None else self.dedup_job.budgets.traps
        if traps is not None and (reason := traps.reason_to_defer(request.url, depth)):
            self.crawler.stats.inc_value(f"dedup/url/deferred/{reason}")
            return request.replace(priority=request.priority - TRAP_RANK)
        return request

    def _is_unchanged(self, reading: Reading, response: Response) -> bool:
        """Is this a stored page, visited again and as it was? A new version is noted as one."""
        number = response.meta.get(REVISIT)
        if number is None or self.dedup_job is None:
            return False
        if "redirect_urls" in response.meta:
            url = response.meta["redirect_urls"][0]
            self.dedup_job.record(Outcome(kind="visited", url=url, reason="moved"))
            return False
        item = reading.item
        return self.dedup_job.revisits.is_as_stored(number, item.title, item.text)

    def _visited(self, response: Response, result: str) -> None:
        if self.dedup_job is not None:
            finishes = self.dedup_job.response_urls.finished(response)
            self.dedup_job.record(
                Outcome(kind="visited", url=response.url, finishes=finishes, reason=result)
            )

    def failed(self, failure: Failure) -> None:
        """Record a URL that no page came from."""
        error, request = failure.value, _request_of(failure)
        if error is None or isinstance(error, NotSentError):
            return
        if isinstance(error, HttpError) and REVISIT not in request.meta:
            self.take_page()
        if self.dedup_job is None:
            return
        outcome = _failed_visit if REVISIT in request.meta else _failed
        if (found := outcome(error, request)) is not None:
            self.dedup_job.record(found)
            if found.reason == type(error).__name__:  # none of the known failures: a bug, perhaps
                self.logger.error("%s: %s", found.url, failure.getTraceback())

    # --- What a response gives ---------------------------------------------------------------

    @cached_property
    def dedup_job(self) -> Job | None:
        """The crawl's job; None where deduplication is off."""
        return Job.of(self.crawler) if CrawlConfig.of(self.crawler).is_enabled else None

    @cached_property
    def reader(self) -> PageReader:
        """Reads this crawl's pages."""
        config = CrawlConfig.of(self.crawler)
        job = self.dedup_job
        stages = [] if job is None else [each.stage for each in job.content.detectors]
        wanted = Wanted(
            config.extractor,
            links=self.follows_links,
            is_nofollow_obeyed=self._is_robots_meta_obeyed,
            bodies=job is not None and job.store.keep_bodies,
            stages=frozenset(stages),
            detection=config.detection,
            cpu_seconds=config.read_cpu_seconds,
            memory_mb=config.read_memory_mb,
        )
        reader = PageReader(wanted, config.read_processes)
        if job is not None:
            job.reader = reader
        return reader

    async def _close_reader(self) -> None:
        if "reader" in vars(self):  # a page has come
            await self.reader.close()

    @cached_property
    def _links(self) -> LinkFilter:
        return LinkFilter(self.crawler, self.scope, self.dedup_job)

    @property
    def _is_robots_meta_obeyed(self) -> bool:
        return CrawlConfig.of(self.crawler).is_robots_meta_obeyed

    def is_full(self) -> bool:
        """Have `max_pages` been fetched?"""
        return bool(self.max_pages) and self._n_taken >= self.max_pages

    def take_page(self) -> None:
        """Count a response when it comes: others arrive before the page is recorded.

        Raises:
            CloseSpider: it is one too many; its URL stays queued.
        """
        if self.is_full():
            raise CloseSpider("max_pages")
        self._n_taken += 1

    @cached_property
    def _n_taken(self) -> int:
        return self.dedup_job.ledger.fetched if self.dedup_job is not None else 0

    def _links_to_follow(self, reading: Reading, response: Response) -> list[str]:
        page = reading.page
        if not self.follows_links:
            return []
        if reading.nofollow_links:
            self._links.leave_alone(reading.nofollow_links, response)
        if self._is_robots_meta_obeyed and page.is_nofollow:
            return []
        links = reading.links
        links = [page.refresh_url, *links] if page.refresh_url else links
        return self._links.new(links, response)

    def _reason_to_skip(self, reading: Reading) -> str:
        if self._is_robots_meta_obeyed and reading.page.is_noindex:
            return "noindex"
        if reading.page.refresh_url and len(reading.item.text) < _SIGNPOST_CHARACTERS:
            return "refresh"
        return ""

    def _skip(self, response: Response, reason: str, detail: str) -> None:
        if self.dedup_job is not None:
            self.dedup_job.record_skipped(response, reason, detail)

    async def _ready(self, reading: Reading, response: Response) -> list[PageItem]:
        """The items that are ready to be judged: the page, if it need not wait, and others."""
        job = self.dedup_job
        if job is None:
            return [reading.item]
        site = job.arrivals.site(response.url)
        if site is not None and len(site.templates) != reading.n_templates:
            # They were learned in the meantime. Where a second reading fails, the first one counts.
            with suppress(ReadingError):
                reading = await self.reader.read_again(reading, site)
        item, urls = reading.item, job.response_urls
        finishes = (*urls.finished(response), *urls.canonical(item.url, item.canonical_url))
        revisits = None if "redirect_urls" in response.meta else response.meta.get(REVISIT)
        return job.arrivals.arrive(item, reading.facts, finishes, revisits)


def _failed(error: BaseException, request: Request) -> Outcome | None:
    """What became of a URL by an error; None: nothing new."""
    url, finishes = first_url(request), finished_request(request)
    if isinstance(error, AlreadyRecorded):
        if error.target == url:
            return None
        return Outcome(
            kind="alias", url=url, finishes=finishes, target=error.target, reason="redirect"
        )
    kind: OutcomeKind = "skipped" if isinstance(error, HttpError) else "failed"
    return Outcome(
        kind=kind,
        url=url,
        finishes=finishes,
        reason=error.reason if isinstance(error, NotFollowed) else reason_of(error),
        detail=str(error),
        size_bytes=len(error.response.body) if isinstance(error, HttpError) else 0,
    )


def _failed_visit(error: BaseException, request: Request) -> Outcome:
    """What became of the visit of a stored page by an error; what is stored stays as it is."""
    result = "failed"
    if isinstance(error, HttpError):
        results = {304: "unchanged", 404: "gone", 410: "gone"}
        result = results.get(error.response.status, "failed")
    elif isinstance(error, AlreadyRecorded):
        result = "moved"
    elif isinstance(error, NotFollowed) and error.reason.startswith("redirect_"):
        result = "moved"  # with another reason the host is not there
    return Outcome(
        kind="visited", url=first_url(request), finishes=finished_request(request), reason=result
    )


def _request_of(failure: Failure) -> Request:
    """The request that Scrapy hangs on a failure."""
    request: Request = getattr(failure, "request")  # noqa: B009 -- no attribute that Twisted names
    return request
