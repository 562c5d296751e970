"""A page as it was read: its item, its links, and what else is known of it."""

from __future__ import annotations

import time
from typing import NamedTuple

from scrapy.http import Response

from dedup.html import HtmlPage
from dedup.scrapy.items import PageItem
from dedup.scrapy.reading.page import Content, PageFacts, RawPage


class Reading(NamedTuple):
    """An HTML page: its item, its metadata, its links, and the facts about its item.

    Attributes:
        links: those to follow.
        nofollow_links: those that the page asks robots not to follow.
        raw: the page as received.
        is_encoding_sure: see `Decoded`.
        n_templates: number of templates of its host that were known when it was read.
    """

    item: PageItem
    page: HtmlPage
    links: list[str]
    nofollow_links: list[str]
    facts: PageFacts
    raw: RawPage
    is_encoding_sure: bool
    n_templates: int


def header(response: Response, name: str) -> str:
    """A header's value; "" where it is missing."""
    return (response.headers.get(name) or b"").decode("latin-1")


def reading_of(response: Response, raw: RawPage, content: Content) -> Reading:
    item = _item(response, raw, content)
    return Reading(
        item=item,
        page=content.page,
        links=content.links,
        nofollow_links=content.nofollow_links,
        facts=PageFacts(item.text, item.title, item.body, content.extracted, content.features),
        raw=raw,
        is_encoding_sure=content.is_encoding_sure,
        n_templates=content.n_templates,
    )


def _item(response: Response, raw: RawPage, content: Content) -> PageItem:
    return PageItem(
        url=response.url,
        text=content.extracted.text,
        title=content.page.title,
        language=content.page.language or header(response, "Content-Language"),
        canonical_url=content.page.canonical_url,
        status=response.status,
        content_type=raw.content_type,
        encoding=content.encoding,
        fetched_at=time.time(),
        depth=response.meta.get("depth", 0),
        body=raw.body,
        etag=header(response, "ETag") or None,
        last_modified=header(response, "Last-Modified") or None,
    )
