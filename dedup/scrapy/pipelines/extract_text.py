"""Pipeline 100: extracts text, title, language and canonical link if the item has none."""

from __future__ import annotations

import codecs
from typing import cast

from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.html import HtmlPage, bounded, decode, parse_page
from dedup.html.page_text import PageText, page_text
from dedup.scrapy.component import Component
from dedup.scrapy.item_fields import fill, get
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import Content, RawPage, Wanted
from dedup.scrapy.reading.page_reader import is_small
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.sites.site import Site
from dedup.urls.parts import host_of


class ExtractText(Component):
    """Reads `body` (bytes) or `html` (text) of items that have no text.

    The project's own spiders yield items with text; this pipeline is for the items of other
    spiders. The extracted values are used to judge the item; the item itself gets a value only if
    it has an empty field of that name. Items with neither text nor HTML are not pages: all
    pipelines of this package pass them on unchanged. An item whose page cannot be read in time is
    recorded as `too_complex`, is not judged, and is passed on as well.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._fields = self._job.config.item_fields
        config = self._job.config
        self._extractor = config.extractor
        self._worker = BlockingWorker(
            Wanted(
                config.extractor,
                links=False,
                is_nofollow_obeyed=False,
                bodies=False,
                stages=frozenset(),
                detection=config.detection,
                cpu_seconds=config.read_cpu_seconds,
                memory_mb=config.read_memory_mb,
            )
        )

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- 2.13
        if isinstance(item, PageItem) or (self._fields.text_of(item) or "").strip():
            return item
        html, body = get(item, "html"), get(item, "body")
        if isinstance(html, str):
            body = codecs.BOM_UTF8 + html.encode("utf-8", "replace")
        elif not isinstance(body, bytes):
            return item
        url = self._fields.url_of(item) or ""
        site = self._job.pages.arrivals.site(url) if url else None
        try:
            page, extracted = self._read(body, url, _word(get(item, "content_type")), site)
        except ReadingError as error:
            self._job.pages.judge.record_unread(item, error.reason, str(error))
            return item
        found = {
            "text": extracted.text,
            "title": page.title,
            "language": page.language,
            "canonical_url": page.canonical_url,
        }
        self._job.pages.judge.note_extracted(item, found, extracted)
        for name, value in found.items():
            fill(item, name, value)
        return item

    def close_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- 2.13
        self._worker.close()

    def _read(
        self, body: bytes, url: str, content_type: str, site: Site | None
    ) -> tuple[HtmlPage, PageText]:
        """Read a page: in this process if it is small, else in another one.

        Raises:
            ReadingError: the page cannot be read, or takes longer than a page may.
        """
        if is_small(body):
            html = bounded(decode(body, content_type or None).text)
            page = parse_page(html, url)
            return page, page_text(html, page.title, extractor=self._extractor, site=site, url=url)
        raw = RawPage(body, url, content_type, (), None)
        host = None if site is None else host_of(url)
        content = cast("Content", self._worker.read(raw, host, site))
        return content.page, content.extracted


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
