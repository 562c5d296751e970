"""A page as it was read: its item, its links, and what else is known of it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

from scrapy.http import Response

from dedup.html import HtmlPage
from dedup.html.page_text import text_by_site
from dedup.scrapy.items import PageItem
from dedup.scrapy.reading.page import Content, PageFacts, RawPage
from dedup.sites.site import Site


class Reading(NamedTuple):
    """An HTML page: its item, its metadata, its links, and the facts about its item.

    Attributes:
        links: those to follow.
        nofollow_links: those that the page asks robots not to follow.
        raw: the page as received.
        is_encoding_sure: see `Decoded`.
        site_version: of what was known of its site when it was read.
    """

    item: PageItem
    page: HtmlPage
    links: list[str]
    nofollow_links: list[str]
    facts: PageFacts
    raw: RawPage
    is_encoding_sure: bool
    site_version: int


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
        site_version=content.site_version,
    )


def reread(reading: Reading, site: Site) -> Reading:
    """A page that was read with its outline, by what is known of its site now."""
    extracted, item = reading.facts.extracted, reading.item
    own = None
    if extracted.outline is not None:
        own = site.read(extracted.outline, item.title, item.url)
    if own is None:
        return reading._replace(site_version=site.version)
    item = replace(item, text=own.text)
    facts = PageFacts(
        item.text,
        item.title,
        item.body,
        text_by_site(own, None if site.is_settled else extracted.outline),
        None,
    )
    return reading._replace(item=item, facts=facts, site_version=site.version)


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
