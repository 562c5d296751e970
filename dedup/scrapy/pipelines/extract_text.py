"""Pipeline 100: main text, title, language and canonical link, where the item lacks them."""

from __future__ import annotations

from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.html import bounded, decode, parse_page
from dedup.html.page_text import page_text
from dedup.scrapy.item_fields import fill, get
from dedup.scrapy.job.job import Job


class ExtractText:
    """Reads `body` (bytes) or `html` (text) of items that have no text.

    The project's own spiders fill `text` in while they parse for links; this is for the items of
    other spiders. What is read is for the judgement; the item gets it only where it has an empty
    field of that name. Items with neither text nor HTML are not pages, and pass through all of the
    project's pipelines untouched.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._job = Job.of(crawler)
        self._fields = self._job.config.item_fields
        self._extractor = self._job.config.extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ExtractText:
        return cls(crawler)

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:  # noqa: ARG002 -- 2.13
        if self._job.has_text(item):
            return item
        html = get(item, "html")
        if not isinstance(html, str):
            body = get(item, "body")
            if not isinstance(body, bytes):
                return item
            html = decode(body, get(item, "content_type") or None).text
        url = self._fields.url_of(item) or ""
        bounds = bounded(html)
        page = parse_page(bounds, url)
        said = page_text(
            bounds, page.title, extractor=self._extractor, site=self._job.site(url) if url else None
        )
        found = {
            "text": said.text,
            "title": page.title,
            "language": page.language,
            "canonical_url": page.canonical_url,
        }
        self._job.note_extracted(item, found, said)
        for name, value in found.items():
            fill(item, name, value)
        return item
