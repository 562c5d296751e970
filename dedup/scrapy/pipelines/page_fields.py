"""Pipeline 310: fills in the fields that `DEDUP_PAGE_FIELDS` names."""

from __future__ import annotations

import codecs
import logging
from dataclasses import replace

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from dedup.fields.registry import preference_rows
from dedup.preferences.hosts import DeclaredOfPages
from dedup.scrapy.component import Component
from dedup.scrapy.item_fields import fill, get
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.page_fields import PageFieldReader
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.store import Page

logger = logging.getLogger(__name__)


class PageFields(Component):
    """Computes fields of the pages that are kept, and sets them in their items.

    Items of the project's own spiders have the fields that are named. Those of other spiders get a
    value only in an empty field of that name. If a page cannot be read in time, its fields stay
    empty.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._names = self._job.config.page_fields
        if not self._names:
            raise NotConfigured
        self._declared = DeclaredOfPages(self._job.store.learned.preferences.of_host)
        self._reader = PageFieldReader(self._job.config)

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- 2.13
        page, extracted = self._job.pages.judge.page_of(item)
        if page is None:
            return item
        try:
            values = {**self._reader.values(_with_body(page, item), self._names)}
        except ReadingError as error:
            logger.warning("The fields of %s are not known: %s", page.url, error)
            return item
        if _PREFERENCES in values:
            declared = self._declared.of(page.url, page.preferences)
            values[_PREFERENCES] = preference_rows(declared)
        is_ours = isinstance(item, PageItem)
        for name, value in values.items():
            if not is_ours:
                fill(item, name, value, instead_of=extracted.get(name))
            elif name not in _STORED:
                setattr(item, name, value)
        return item

    def close_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- 2.13
        self._reader.close()


_PREFERENCES = "preferences"
_STORED = frozenset(PageItem.__slots__) - {"language"}
"""Fields that items have anyway."""


def _with_body(page: Page, item: object) -> Page:
    """The page of an item, whose HTML may be a text."""
    html = get(item, "html")
    if page.body is not None or not isinstance(html, str):
        return page
    return replace(page, body=codecs.BOM_UTF8 + html.encode("utf-8", "replace"))
