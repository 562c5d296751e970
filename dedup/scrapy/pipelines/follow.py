"""The first pipeline: identifies an item, also if later pipelines replace it."""

from __future__ import annotations

import logging

from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.scrapy.component import Component
from dedup.scrapy.job.job import Job

logger = logging.getLogger(__name__)


class FollowItem(Component):
    """Changes nothing; at the end it warns of fields named in settings that no item had.

    Without it, an object that replaces an item counts as another item.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._job = Job.of(crawler)

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- 2.13
        self._job.pages.judge.follow(item)
        return item

    def close_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- 2.13
        for sentence in self._job.pages.judge.unknown_fields():
            logger.warning("%s", sentence)
