"""The first pipeline: identifies an item, also if later pipelines replace it."""

from __future__ import annotations

from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.scrapy.job.job import Job


class FollowItem:
    """Changes nothing. Without it, an object that replaces an item counts as another item."""

    def __init__(self, crawler: Crawler) -> None:
        self._job = Job.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FollowItem:
        return cls(crawler)

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- 2.13
        self._job.judge.follow(item)
        return item
