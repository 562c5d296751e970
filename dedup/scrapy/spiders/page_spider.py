"""What the project's spiders share: they read a response, yield its item, and follow links."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from functools import cached_property, partial
from hashlib import sha256
from typing import ClassVar, Self
from urllib.parse import urljoin, urlsplit, urlunsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY, REVISIT
from dedup.scrapy.internals.engine import requests_queued, send_items, start_coroutine
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.failure_reasons import NotSentError
from dedup.scrapy.job.in_pipelines import item_of
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.urls import first_url
from dedup.scrapy.middlewares.redirect import NotFollowed
from dedup.scrapy.reading.reading import Reading, header
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.scrapy.rendering.browser import Browser
from dedup.scrapy.rendering.choice import RenderedPages
from dedup.scrapy.rendering.order import ArrivalOrder, Place
from dedup.scrapy.rendering.places import Places
from dedup.scrapy.spiders.arguments import flag, split_urls, whole_number
from dedup.scrapy.spiders.download_errors import outcome_of_error, outcome_of_visit, request_of
from dedup.scrapy.spiders.link_filter import LinkFilter
from dedup.scrapy.spiders.outside_hosts import OutsideHosts
from dedup.scrapy.spiders.scope import Scope, host_key, is_loopback
from dedup.scrapy.spiders.site_hints import SiteHints
from dedup.scrapy.spiders.site_reader import SiteReader
from dedup.scrapy.spiders.visits import Visits
from dedup.store.records import DUPLICATE_LINK_RANK, TRAP_RANK
from dedup.urls.credentials import credentials_of, without_credentials
from dedup.urls.parts import host_of, remove_dot_segments, with_ascii_host
from dedup.urls.routes import is_route, without_place

_MAX_REFRESH_CHARACTERS = 500
"""A page with less text than this that refreshes to another page only leads there."""


_QUEUEING_SECONDS = 0.0002
"""CPU time of this process for a link that is queued."""

_HINT_SECONDS = 60.0
_HINT_SHARE = 0.25
"""Of the time that a refresh has: visits wait for what sites say, and have the rest."""

_MIN_SKIPPED = 1_000
_SKIPPED_FOR_A_PAGE = 10
"""Pages that are skipped and lead to others, up to which a crawl with `max_pages` goes on. Sites
have a few of them (lists of tags) for many pages."""


class PageSpider(Spider):
    """Yields a `PageItem` for each HTML page, and records what became of every other URL.

    Args:
        url: where to start; several are separated by commas.
        allow, deny: regular expressions that narrow the scope, see `Scope`.
        max_pages: the crawl stops when the job has this number of pages, kept or dropped as
            duplicates; errors, redirects and what is skipped do not count. With `refresh`: when
            this number of pages was visited or found; those are visited first that have most
            likely changed. 0: no limit.
        max_seconds: the crawl stops after this time. 0: no limit.
        job: name of the job.
        restart: "1": start a new job; the existing one is kept under another name.
        refresh: "1": visit the pages of a finished job again, and store those that have changed.

    Raises:
        ValueError: an argument is wrong; the message names it and its rule.
    """

    follows_links: ClassVar[bool] = False
    always_new: bool = False

    def __init__(
        self,
        url: str = "",
        allow: str = "",
        deny: str = "",
        max_pages: str | int = 0,
        max_seconds: str | int = 0,
        job: str = "",
        restart: str = "",
        refresh: str = "",
        **kwargs: object,
    ) -> None:
        if kwargs:
            known = "url, allow, deny, max_pages, max_seconds, job, restart, refresh"
            raise ValueError(f"spider arguments must be among {known}, got {', '.join(kwargs)}")
        super().__init__()
        given = split_urls(url)
        self.urls = [without_credentials(each) for each in given]
        credentials = zip(self.urls, map(credentials_of, given), strict=True)
        self.credentials = {each: found for each, found in credentials if any(found)}
        """Name and password by start URL, for `dedup.scrapy.middlewares.log_in`."""
        self.scope = Scope(self.urls, allow=allow, deny=deny)
        self.outside = OutsideHosts(self.scope)
        self.max_pages = whole_number("max_pages", max_pages)
        self.max_seconds = whole_number("max_seconds", max_seconds)
        self.job = job
        self.restart = flag("restart", restart)
        self.refresh = flag("refresh", refresh)
        self._n_skipped = 0
        self._put_off: set[bytes] = set()
        """Keys of visits that are counted, and made once more later."""
        self._order = ArrivalOrder()
        self._arguments = {"url": ",".join(self.urls), "allow": allow, "deny": deny}
        self._is_plain = not (allow or deny)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._close_reader, signals.spider_closed)
        crawler.signals.connect(spider._open_rendering, signals.spider_opened)
        crawler.signals.connect(spider._stop_if_spent, signals.spider_idle)
        if spider.max_seconds:
            crawler.settings.set("CLOSESPIDER_TIMEOUT", spider.max_seconds, priority="spider")
        first_urls = spider.first_urls()
        if first_urls and all(map(is_loopback, first_urls)):  # no other server is burdened
            crawler.settings.set("AUTOTHROTTLE_ENABLED", False, priority="spider")
            crawler.settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 16, priority="spider")
        return spider

    def first_urls(self) -> list[str]:
        """The start URLs; of a long list, the first."""
        return self.urls

    @property
    def job_name(self) -> str:
        """The default name of the job, made from the arguments: equal commands are one job."""
        host = host_key(self.urls[0]).replace(":", "-") if self.urls else ""
        if self._is_plain and len(self.urls) == 1 and self.urls[0].count("/") <= 3:
            return f"{self.name}-{host}"
        arguments = "\n".join(self._arguments.values()).encode("utf-8", "replace")
        digest = sha256(arguments).hexdigest()[:8]
        return "-".join(filter(None, [self.name, host, digest]))

    @property
    def former_job_name(self) -> str:
        """The default name in earlier releases; "": the same."""
        return ""

    @property
    def job_arguments(self) -> dict[str, str]:
        """The arguments that identify the job: with others it is another job."""
        return self._arguments

    def is_in_scope(self, url: str, request: Request | None = None) -> bool:
        """May `url` be fetched? `request`: the one that is redirected to it."""
        if request is not None and request.url in self.urls:
            self.scope.follow_start(url, request.url)
        return url in self.scope

    def page_request(self, url: str, *, depth: int = 0) -> Request:
        """The request for a page.

        Dot segments are resolved, as browsers do: a server may refuse them, and the key of the URL
        is the same without them.
        """
        url = without_place(with_ascii_host(without_credentials(url)))
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

    async def hear_sites(self) -> None:
        """In a refresh with a budget, have pages come first that their sites say have changed.

        Visits wait for that, up to a minute, or a quarter of `max_seconds`.
        """
        job = self.dedup_job
        if job is None or job.visit_order is None:
            return
        frontier = job.urls.requests.frontier
        hosts = {urlsplit(url).hostname or "" for url in self.urls}
        for host in hosts:
            frontier.pause(host)
        hints = SiteHints(self.crawler, job.visit_order, self._reader)
        share = _HINT_SHARE * self.max_seconds
        try:
            try:
                async with asyncio.timeout(min(_HINT_SECONDS, share or _HINT_SECONDS)):
                    await hints.read(self.urls)
            except TimeoutError:
                self.logger.info("Some sitemaps or search indexes did not arrive in time")
            job.visit_order.hear(hints.said)
            if self.max_pages:
                self._n_pages += hints.said.n_fragments
        finally:
            for host in hosts:
                frontier.resume(host)

    async def parse(self, response: Response) -> AsyncIterator[Request | PageItem]:
        response = self._at_route(response)
        place = self._order.place(host_of(response.url))
        try:
            async for found in self._found(response, place):
                yield found
        finally:
            place.leave()

    async def _found(self, response: Response, place: Place) -> AsyncIterator[Request | PageItem]:
        self._count_visit(response.meta)
        try:
            reading = await self._reader.read(response)
            if reading is not None and self._places is not None:
                reading, response = self._places.at_address(reading, response)
            self._take(reading, response)
            if reading is not None and self._rendering is not None:
                place.take()
                if await self._rendering.is_as_before(response, reading):
                    self._note_unchanged(response)
                    return
                reading = await self._rendering.read(response, reading)
                await place.come()
            is_duplicate = reading is not None and self._is_duplicate(reading, response)
            links = [] if reading is None else self._links_of(reading, response, is_duplicate)
        except CloseSpider:
            raise
        except ReadingError as error:
            if error.traceback:
                self.logger.debug("%s cannot be read:\n%s", response.url, error.traceback)
            self._skip(response, error.reason, str(error))
            return
        except Exception as error:  # one bad page never ends a crawl
            self.logger.debug("%s cannot be read:", response.url, exc_info=True)
            self._skip(response, "parse_error", f"{type(error).__name__}: {error}")
            return
        # The links come first: the page's URL is done only when its links are queued.
        depth = response.meta.get("depth", 0) + 1
        for url in links:
            yield self._ranked(self.page_request(url, depth=depth), depth, is_duplicate)
        await requests_queued()
        if not response.body or response.body.isspace():
            self._skip(response, "empty", "")
        elif reading is None:
            self._skip(response, "not_html", header(response, "Content-Type"))
        elif self._visits is not None and self._visits.is_recorded(reading, response):
            pass
        elif reason := self._reason_to_skip(reading):
            self._skip(response, reason, reading.html.refresh_url or "")
        else:
            for item in self._sent_together(await self._ready(reading, response, place)):
                yield item

    def _at_route(self, response: Response) -> Response:
        """The response at the route of its request: what Scrapy gives has no fragment."""
        fragment = "" if response.request is None else response.request.url.partition("#")[2]
        if not (CrawlConfig.of(self.crawler).has_routes and is_route(fragment)):
            return response
        return response.replace(url=f"{response.url.partition('#')[0]}#{fragment}")

    def _note_unchanged(self, response: Response) -> None:
        if self._visits is not None:
            self._visits.note_unchanged(response)

    def _sent_together(self, items: list[PageItem]) -> list[PageItem]:
        """Send all items but the last, where items share a turn; return those that are left."""
        at_once = 1 if self.dedup_job is None else self.dedup_job.turns.items_at_once
        if at_once == 1 or len(items) < 2:
            return items
        start_coroutine(send_items(self.crawler, items[:-1], at_once=at_once))
        return items[-1:]

    def _ranked(self, request: Request, depth: int, is_duplicate: bool) -> Request:
        """The request, deferred if its URL looks like a trap, or was found on a duplicate."""
        traps = None if self.dedup_job is None else self.dedup_job.urls.budgets.traps
        if traps is not None and (reason := traps.reason_to_defer(request.url, depth)):
            self.crawler.stats.inc_value(f"dedup/url/deferred/{reason}")
            return request.replace(priority=request.priority - TRAP_RANK)
        if is_duplicate:
            return request.replace(priority=request.priority - DUPLICATE_LINK_RANK)
        return request

    def _is_duplicate(self, reading: Reading, response: Response) -> bool:
        """Is this a page whose links are put off, as it has an original?"""
        job = self.dedup_job
        if job is None or job.urls.duplicate_links is None or KEY not in response.meta:
            return False
        return not self._reason_to_skip(reading) and job.urls.duplicate_links.is_duplicate(reading)

    def failed(self, failure: Failure) -> None:
        """Record a URL whose request ended with an error."""
        error, request = failure.value, request_of(failure)
        if error is None or isinstance(error, NotSentError):
            return
        if isinstance(error, HttpError) or REVISIT in request.meta:
            self._count_visit(request.meta)
        if isinstance(error, NotFollowed) and error.reason == "redirect_offsite":
            self._note_redirect(first_url(request), error.target, request)
        if self.dedup_job is None:
            return
        outcome = outcome_of_visit if REVISIT in request.meta else outcome_of_error
        if (found := outcome(error, request)) is not None:
            self.dedup_job.record(found)
            if found.reason == type(error).__name__:  # an unknown failure: it may be a bug
                self.logger.error("%s: %s", found.url, failure.getTraceback())

    def _note_redirect(self, url: str, target: str, request: Request) -> None:
        """Note a redirect to another host, if the crawl begins at the URL."""
        if url in (self.page_request(each).url for each in self.urls):
            self.outside.note_redirect(url, target, target)
        elif request.callback != self.parse:  # a robots.txt or a sitemap, not one's own page
            self.outside.note_redirect(url, target, urljoin(target, "/"))

    # --- What a response gives ---------------------------------------------------------------

    @cached_property
    def dedup_job(self) -> Job | None:
        """The crawl's job; None where deduplication is off."""
        return Job.of(self.crawler) if CrawlConfig.of(self.crawler).is_enabled else None

    @cached_property
    def _reader(self) -> SiteReader:
        config = CrawlConfig.of(self.crawler)
        return SiteReader(config, self.dedup_job, follows_links=self.follows_links)

    async def _close_reader(self) -> None:
        if "_reader" in vars(self):  # a page has been read
            await self._reader.close()
        if self._rendering is not None:
            await self._rendering.close()

    @cached_property
    def _visits(self) -> Visits | None:
        if self.dedup_job is None:
            return None
        return Visits(self.dedup_job, is_skipped=self._reason_to_skip, take_back=self._take_back)

    def _take_back(self, request: Request, reading: Reading) -> None:
        """Count the page of a visit once that is made once more later."""
        is_revisit = REVISIT in request.meta
        is_counted = self._is_refreshing or not (is_revisit or self._reason_to_skip(reading))
        if self.max_pages and is_counted:
            self._put_off.add(request.meta[KEY])

    @cached_property
    def _rendering(self) -> RenderedPages | None:
        mode = CrawlConfig.of(self.crawler).render
        if mode == "off" or self.dedup_job is None:
            return None
        return RenderedPages(
            self.crawler,
            self.dedup_job,
            Browser.from_crawler(self.crawler),
            self._reader,
            mode=mode,
            order=self._order,
            is_skipped=self._reason_to_skip,
            is_in_scope=self.scope.__contains__,
        )

    @cached_property
    def _places(self) -> Places | None:
        if self._rendering is None or self.dedup_job is None:
            return None
        return Places(self.crawler, self.dedup_job)

    def _open_rendering(self) -> None:
        _ = self._rendering  # pages may be left to render, though none is fetched

    @cached_property
    def _links(self) -> LinkFilter:
        return LinkFilter(self.crawler, self.scope, self.dedup_job)

    @property
    def _is_robots_meta_obeyed(self) -> bool:
        return CrawlConfig.of(self.crawler).is_robots_meta_obeyed

    def is_full(self) -> bool:
        """Has the job `max_pages`, or the refresh spent them?"""
        return bool(self.max_pages) and self._n_pages >= self.max_pages

    def may_visit(self, n_in_flight: int) -> bool:
        """Has a refresh visits left, besides the requests in flight? It asks for no more pages."""
        return not (self._is_refreshing and 0 < self.max_pages <= self._n_pages + n_in_flight)

    def _stop_if_spent(self) -> None:
        """End a refresh, whose visits are spent and recorded; before, those that were put off come.

        Raises:
            CloseSpider: they are.
            DontCloseSpider: some were put off.
        """
        if self.may_visit(0):
            return
        if not self._put_off or self.dedup_job is None:
            raise CloseSpider("max_pages")
        self.dedup_job.urls.requests.visit_first(self._put_off)
        self._n_pages -= len(self._put_off)
        self._put_off.clear()
        raise DontCloseSpider

    @property
    def _is_refreshing(self) -> bool:
        job = self.dedup_job
        return self.refresh and job is not None and job.urls.revisits.number > 0

    def _count_visit(self, meta: Mapping[str, object]) -> None:
        """Count a response in a refresh that has a budget.

        Raises:
            CloseSpider: as `stop_if_full`.
        """
        if meta.get(KEY) in self._put_off:
            if REVISIT in meta or self._is_refreshing:
                self._put_off.discard(meta[KEY])
            return
        if REVISIT not in meta or self._is_refreshing:
            self.stop_if_full()
        if self._is_refreshing and self.max_pages:
            self._n_pages += 1

    def stop_if_full(self) -> None:
        """Stop at a response that arrives when there are `max_pages`.

        Raises:
            CloseSpider: the crawl stops; the URL of the response stays queued.
        """
        if self.is_full():
            raise CloseSpider("max_pages")

    def _take(self, reading: Reading | None, response: Response) -> None:
        """Count a page when it has been read: others are read before it is recorded.

        Pages that are skipped do not count, but their links are followed. A site may have such
        pages without end, and the crawl stops there, too.

        Raises:
            CloseSpider: as `stop_if_full`.
        """
        if reading is None or REVISIT in response.meta or not self.max_pages:
            return
        if self._is_refreshing:  # where every response counts, and this one has been counted
            return
        if (key := response.meta.get(KEY)) in self._put_off:
            self._put_off.discard(key)
            return
        self.stop_if_full()
        if not self._reason_to_skip(reading):
            self._n_pages += bool(response.body.strip())
            return
        self._n_skipped += 1
        if self._n_skipped > max(_MIN_SKIPPED, _SKIPPED_FOR_A_PAGE * self.max_pages):
            self.logger.warning("stopping: most pages are skipped as noindex or refresh")
            raise CloseSpider("max_pages")

    def note_pages(self) -> None:
        """Count the pages of other processes of the job, too."""
        self._n_pages = max(self._n_pages, self._stored_pages())

    @cached_property
    def _n_pages(self) -> int:
        return self._stored_pages()

    def _stored_pages(self) -> int:
        if self.dedup_job is None:
            return 0
        store = self.dedup_job.store
        return store.refreshes.fetched() if self._is_refreshing else store.stats.pages()

    def _links_of(self, reading: Reading, response: Response, is_duplicate: bool) -> list[str]:
        """The links that are to be requested."""
        html = reading.html
        if not self.follows_links:
            return []
        if reading.nofollow_links:
            self._links.leave_alone(reading.nofollow_links, response)
        if self._is_robots_meta_obeyed and html.is_nofollow:
            return []
        links = reading.links
        links = [html.refresh_url, *links] if html.refresh_url else links
        self.outside.note_links(links)
        return self._new_links(links, response, is_duplicate=is_duplicate)

    def _new_links(
        self, links: list[str], response: Response, *, is_duplicate: bool = False
    ) -> list[str]:
        """The links that are to be requested; what they cost is charged to the response's host."""
        began = time.process_time()
        found = self._links.new(links, response, is_duplicate=is_duplicate)
        if self.dedup_job is not None:
            seconds = time.process_time() - began + _QUEUEING_SECONDS * len(found)
            self.dedup_job.urls.shares.charge(urlsplit(response.url).hostname or "", seconds)
        return found

    def _reason_to_skip(self, reading: Reading) -> str:
        if reading.html.refresh_url and len(reading.page.text) < _MAX_REFRESH_CHARACTERS:
            return "refresh"  # generators mark such pages as noindex, too
        if self._is_robots_meta_obeyed and reading.html.is_noindex:
            return "noindex"
        return ""

    def _skip(self, response: Response, reason: str, detail: str) -> None:
        """Record a response without a page; the visit of a stored page has failed, or shows a move.

        The stored page stays as it is.
        """
        if REVISIT in response.meta and "redirect_urls" not in response.meta:
            if self._visits is not None:
                self._visits.note_skipped(response, reason, detail)
        elif self.dedup_job is not None:
            self.dedup_job.record_skipped(response, reason, detail)

    async def _ready(self, reading: Reading, response: Response, place: Place) -> list[PageItem]:
        """The items that are ready to be judged: the page, unless it waits, and other pages."""
        job = self.dedup_job
        if job is None:
            return [item_of(reading.page)]
        if job.turns.is_needed:
            place.leave()  # the next ones share its turn, and come after it
        while True:
            arrive = partial(self._arrive, job, reading, response)
            if (ready := await job.turns.run(arrive)) is not None:
                return ready
            reading = await self._reader.read_again(reading, response)

    def _arrive(self, job: Job, reading: Reading, response: Response) -> list[PageItem] | None:
        """The items that are ready; None: the page has to be read again first."""
        page, urls = reading.page, job.urls.of_responses
        revisits = None if "redirect_urls" in response.meta else response.meta.get(REVISIT)
        finishes = (
            *urls.finished(response),
            *urls.canonical(page.url or "", page.canonical_url),
        )
        return job.pages.arrivals.arrive(reading, finishes, revisits)
