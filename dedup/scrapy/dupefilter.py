"""Scrapy's dupefilter over a job's URLs: `DUPEFILTER_CLASS`."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import load_object

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job


class DedupDupeFilter(BaseDupeFilter):
    """Filters requests whose URL the job has seen.

    Raises:
        ValueError: another scheduler than the project's is set. It would not store what is queued,
            and an interrupted job would lose it without a word.
    """

    def __init__(self, crawler: Crawler) -> None:
        _check_scheduler(crawler)
        self._job = Job.of(crawler)
        self._fingerprinter = crawler.request_fingerprinter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DedupDupeFilter:
        return cls(crawler)

    def request_seen(self, request: Request) -> bool:
        self._job.count_link_of(request)
        key = self._fingerprinter.fingerprint(request)
        if not self._job.seen.unseen([key]):
            return True
        self._job.seen.mark([key])
        request.meta[KEY] = key  # under which the scheduler queues it
        return False

    def log(self, request: Request, spider: Spider) -> None:  # noqa: ARG002 -- Scrapy's signature
        self._job.count_filtered(1)


def _check_scheduler(crawler: Crawler) -> None:
    from dedup.scrapy.scheduler import DedupScheduler  # which builds a dupefilter

    scheduler = load_object(crawler.settings["SCHEDULER"])
    # Not by issubclass: Scrapy's schedulers answer that by the names of their methods.
    if DedupScheduler not in scheduler.__mro__:
        raise ValueError(
            "SCHEDULER must be dedup.scrapy.scheduler.DedupScheduler or a subclass of it while"
            f" DEDUP_URL_ENABLED is on, got {crawler.settings['SCHEDULER']!r}"
        )
