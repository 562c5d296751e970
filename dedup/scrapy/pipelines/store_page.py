"""Pipeline 900: keeps the page, with its body."""

from __future__ import annotations

from scrapy.crawler import Crawler

from dedup.scrapy.pipelines.content import ContentPipeline


class StorePage(ContentPipeline):
    """Stores what the other content pipelines let through, bodies too (`DEDUP_STORE_BODIES`).

    Without this pipeline the store keeps only what a second check needs: texts and signatures.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._job.store.keep_bodies = self._job.config.is_store_bodies
