"""Pipeline 900: stores the page, with its body."""

from __future__ import annotations

from scrapy.crawler import Crawler

from dedup.scrapy.pipelines.content import ContentPipeline


class StorePage(ContentPipeline):
    """Stores the pages that the other content pipelines pass on (`DEDUP_STORE_BODIES`: bodies too).

    Without this pipeline the last content pipeline stores only texts and signatures, which later
    comparisons need.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._job.store.keep_bodies = self._job.config.is_store_bodies
