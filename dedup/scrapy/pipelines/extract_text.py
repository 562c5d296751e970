"""Pipeline 100: main text, title, language and canonical link, where the item lacks them."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy import Spider
from scrapy.crawler import Crawler

from dedup.html import bounded, decode, parse_page
from dedup.html.page_text import page_text
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.page import Known


class ExtractText:
    """Reads `body` (bytes) or `html` (text) of items that have no `text`.

    The project's own spiders fill `text` in while they parse for links; this is for the items of
    other spiders. Items with none of the three fields are not pages, and pass through all of the
    project's pipelines untouched.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._job = Job.of(crawler)
        self._extractor = self._job.config.extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ExtractText:
        return cls(crawler)

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:  # noqa: ARG002 -- 2.13
        adapter = ItemAdapter(item)
        if isinstance(adapter.get("text"), str):
            return item
        html = adapter.get("html")
        if not isinstance(html, str):
            body = adapter.get("body")
            if not isinstance(body, bytes):
                return item
            html = decode(body, adapter.get("content_type") or None).text
        url = adapter.get("url") or ""
        bounds = bounded(html)
        page = parse_page(bounds, url)
        site = self._job.site(url) if isinstance(url, str) else None
        said = page_text(bounds, page.title, extractor=self._extractor, site=site)
        found = {
            "text": said.text,
            "title": page.title,
            "language": page.language,
            "canonical_url": page.canonical_url,
        }
        for name, value in found.items():
            if not adapter.get(name) and _takes(adapter, name):
                adapter[name] = value
        known = Known(said.text, page.title, adapter.get("body"), said, None)
        self._job.note_known(item, known, outline=said.outline)
        return item


def _takes(adapter: ItemAdapter, name: str) -> bool:
    """Items with declared fields refuse others; a dict takes all."""
    return isinstance(adapter.item, dict) or name in adapter.field_names()
