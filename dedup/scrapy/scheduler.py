"""Scrapy's scheduler over the queue in a job's store: `SCHEDULER`."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred

from dedup.errors import StateError
from dedup.scrapy.component import Component
from dedup.scrapy.internals.downloads import count_downloads, downloads_by_slot, max_downloads
from dedup.scrapy.internals.engine import count_in_spider
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own

_MAX_SLOW_PAGES = 64


class DedupScheduler(Component, BaseScheduler):
    """Queues requests in the job's store, whether or not `JOBDIR` is set.

    Priorities hold within a host, and hosts take turns, as with Scrapy's default priority queue.
    Requests of the same priority are fetched in the order of discovery; the settings
    `SCHEDULER_*_QUEUE` have no effect. A request comes out of the store as a copy, as from Scrapy's
    `JOBDIR` queues. One that cannot be stored is counted, and stays in memory: it is lost when the
    process ends.
    """

    queues_in_job = True
    """Tells this scheduler and its subclasses from others: see `is_queue_stored`."""

    def __init__(self, crawler: Crawler) -> None:
        dupefilter = load_object(crawler.settings["DUPEFILTER_CLASS"])
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._dupefilter: BaseDupeFilter = build_from_crawler(dupefilter, crawler)
        self._stats = crawler.stats

    def open(self, spider: Spider) -> Deferred[None] | None:  # noqa: ARG002 -- Scrapy's signature
        return self._dupefilter.open()

    def close(self, reason: str) -> Deferred[None] | None:
        return self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        if not self._may_visit(0):
            return False
        requests, turns = self._job.urls.requests, self._job.turns
        return bool(requests.frontier or requests.has_later or turns.is_pending)

    def __len__(self) -> int:
        return len(self._job.urls.requests.frontier)

    def enqueue_request(self, request: Request) -> bool:
        try:
            return self._enqueue(request)
        except StateError:  # the crawl stops; with an exception Scrapy's scraper would not end
            return False

    def _enqueue(self, request: Request) -> bool:
        if not request.dont_filter and self._dupefilter.request_seen(request):
            if self.crawler.spider is not None:
                self._dupefilter.log(request, self.crawler.spider)
            return False
        where = "disk" if self._job.urls.requests.add(request) else "memory"
        self._stats.inc_value(f"scheduler/enqueued/{where}")
        self._stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Request | None:
        if self._is_reader_busy() or self._job.failure or self._job.pages.arrivals.is_closing:
            return None
        if not self._may_visit(len(self._job.urls.requests.frontier.in_flight)):
            return None
        try:
            request = self._job.urls.gate.next(downloads_by_slot(self.crawler))
        except StateError:
            return None
        if request is not None:
            self._stats.inc_value("scheduler/dequeued")
        return request

    def _may_visit(self, n_in_flight: int) -> bool:
        spider = self.crawler.spider
        return not is_own(spider) or spider.may_visit(n_in_flight)

    def _is_reader_busy(self) -> bool:
        """Are as many requests and pages under way as there may be requests?

        Pages that wait to be read count: a process that is killed then loses no more of them than
        of requests. Slow pages do not count, up to `_MAX_SLOW_PAGES`: other pages need not wait for
        them, and `SCRAPER_SLOT_MAX_ACTIVE_SIZE` bounds their size.
        """
        if self._job.reader is None:
            return False
        n_slow = min(self._job.reader.n_slow, _MAX_SLOW_PAGES)
        n_under_way = count_downloads(self.crawler) + count_in_spider(self.crawler) - n_slow
        return n_under_way >= max_downloads(self.crawler)
