"""Pipeline 900: stores the page, with its body."""

from __future__ import annotations

import logging

from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.scrapy.pipelines.content import ContentPipeline
from dedup.scrapy.reading.page_fields import PageFieldReader
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.store import Page
from dedup.store.records import Claims

logger = logging.getLogger(__name__)


class StorePage(ContentPipeline):
    """Stores the pages that the other content pipelines pass on, with their bodies.

    Of copies of other hosts' pages, it has recorded what they say of where they are from.

    With `DEDUP_STORE_BODIES` off, what fields are computed from is stored in place of a body.

    Without this pipeline the last content pipeline stores only texts and signatures, which later
    comparisons need.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._reader = PageFieldReader(self._job.config)
        self._job.pages.judge.claim = self._claim
        self._job.store.keep_bodies = self._job.config.is_store_bodies
        if not self._job.config.is_store_bodies:
            self._job.pages.judge.reduce = self._reduce

    def close_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- 2.13
        self._reader.close()

    def _reduce(self, page: Page, is_final: bool) -> None:
        try:
            page.take_reduced(self._reader.reduced(page, is_final=is_final))
        except ReadingError as error:
            logger.warning("Only the text of %s is stored: %s", page.url, error)

    def _claim(self, page: Page) -> None:
        claims = Claims(canonical_url=page.canonical_url)
        if page.body:
            try:
                claims = self._reader.claims(page) or claims
            except ReadingError as error:
                logger.warning("The date and sources of %s are not known: %s", page.url, error)
        page.take_claims(claims)
