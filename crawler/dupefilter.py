"""Scrapy's dupefilter over a job's URLs: `DUPEFILTER_CLASS`."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter

from crawler.job import Job


class DedupDupeFilter(BaseDupeFilter):
    """Filters requests whose URL the job has seen, and queues the others in its store."""

    def __init__(self, crawler: Crawler) -> None:
        self._job = Job.of(crawler)
        self._fingerprinter = crawler.request_fingerprinter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DedupDupeFilter:
        return cls(crawler)

    def request_seen(self, request: Request) -> bool:
        key = self._fingerprinter.fingerprint(request)
        if not self._job.seen.unseen([key]):
            return True
        self._job.queue(key, request)
        return False

    def log(self, request: Request, spider: Spider) -> None:  # noqa: ARG002 -- Scrapy's signature
        self._job.count_filtered(1)
