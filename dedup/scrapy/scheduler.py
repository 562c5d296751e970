"""Scrapy's scheduler over the queue in a job's store: `SCHEDULER`."""

from __future__ import annotations

from typing import Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.misc import build_from_crawler, load_object

from dedup.errors import StateError
from dedup.scrapy.job.job import Job

_MANY_SLOW = 64


class DedupScheduler(BaseScheduler):
    """Queues requests in the store, whether or not `JOBDIR` is set, and takes them from there.

    Priorities hold within a host, and hosts take turns, as with Scrapy's default priority queue.
    Requests of the same priority are fetched in the order of discovery; `SCHEDULER_*_QUEUE` are not
    looked at. A request comes out of the store as a copy of what went in, as with Scrapy's `JOBDIR`
    queues; one that cannot be stored stays in memory, is counted, and ends with the process.
    """

    def __init__(self, crawler: Crawler) -> None:
        dupefilter = load_object(crawler.settings["DUPEFILTER_CLASS"])
        self._crawler = crawler
        self._job = Job.of(crawler)
        self._dupefilter: Any = build_from_crawler(dupefilter, crawler)
        self._stats = crawler.stats
        self._spider: Any = crawler.spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DedupScheduler:
        return cls(crawler)

    def open(self, spider: Spider) -> Any:
        self._spider = spider
        return self._dupefilter.open()

    def close(self, reason: str) -> Any:
        return self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        return bool(self._job.requests.frontier)

    def __len__(self) -> int:
        return len(self._job.requests.frontier)

    def enqueue_request(self, request: Request) -> bool:
        try:
            return self._enqueue(request)
        except StateError:  # the job stops; Scrapy's scraper would wait for this one for ever
            return False

    def _enqueue(self, request: Request) -> bool:
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._spider)
            return False
        where = "disk" if self._job.requests.add(request) else "memory"
        self._stats.inc_value(f"scheduler/enqueued/{where}")
        self._stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Request | None:
        downloader = self._crawler.engine.downloader
        downloads = downloader.slots

        def n_active(slot: str) -> int:
            return len(downloads[slot].active) if slot in downloads else 0

        # Pages that wait for being read count as under way, so that a kill costs no more of them.
        if self._job.reader is not None:
            scraping: Any = self._crawler.engine.scraper.slot
            n_under_way = len(downloader.active) + len(scraping.queue) + len(scraping.active)
            # Others do not wait for slow pages; their size is bounded by Scrapy.
            n_under_way -= min(self._job.reader.n_slow, _MANY_SLOW)
            if n_under_way >= downloader.total_concurrency:
                return None
        if self._job.failure or self._job.arrivals.is_closing:
            return None
        try:
            request = self._job.requests.next(n_active)
        except StateError:
            return None
        if request is not None:
            self._stats.inc_value("scheduler/dequeued")
        return request
