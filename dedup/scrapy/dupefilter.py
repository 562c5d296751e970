"""What decides which requests are the same: `DUPEFILTER_CLASS`."""

from __future__ import annotations

from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter

from dedup.scrapy.component import Component
from dedup.scrapy.config import is_queue_stored
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.own import is_own
from dedup.scrapy.url_keys import UrlKeys


class CanonicalDupeFilter(RFPDupeFilter):
    """Scrapy's dupefilter by the keys of `UrlKeys`, together with Scrapy's own scheduler."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        dupefilter = super().from_crawler(crawler)
        dupefilter.fingerprinter = UrlKeys.of(crawler)
        return dupefilter


class DedupDupeFilter(Component, BaseDupeFilter):
    """Filters requests whose URL the job has seen.

    Raises:
        ValueError: another scheduler than `DedupScheduler` is set. It would not store the queue, so
            an interrupted job would lose requests.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        _check_scheduler(crawler)
        self._job = Job.of(crawler)
        self._stats = crawler.stats
        self._spider = crawler.spider
        self._is_own = is_own(crawler.spider)
        self._keys = UrlKeys.of(crawler)
        self._log = RFPDupeFilter(
            debug=crawler.settings.getbool("DUPEFILTER_DEBUG"), fingerprinter=self._keys
        ).log

    def request_seen(self, request: Request) -> bool:
        self._count_link(request)
        key = self._keys.fingerprint(request)
        if not self._job.urls.seen.unseen([key]):
            return True
        self._job.urls.seen.mark([key])
        request.meta[KEY] = key  # under which the scheduler queues it
        return False

    def log(self, request: Request, spider: Spider) -> None:
        self._log(request, spider)
        self._stats.inc_value("dedup/url/filtered")

    def _count_link(self, request: Request) -> None:
        """Count a request as a link, unless its spider counts the links of the page."""
        is_counted = self._is_own and getattr(self._spider, "parse", None) == request.callback
        if request.meta.get("depth") and not is_counted:
            self._job.ledger.note_count(None, "links", 1)


def _check_scheduler(crawler: Crawler) -> None:
    if not is_queue_stored(crawler.settings):
        raise ValueError(
            "SCHEDULER must be dedup.scrapy.scheduler.DedupScheduler or a subclass if"
            " DUPEFILTER_CLASS is dedup.scrapy.dupefilter.DedupDupeFilter, got"
            f" {crawler.settings['SCHEDULER']!r}"
        )
