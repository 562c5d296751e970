"""A page that was read, and its links."""

from __future__ import annotations

import time
from typing import NamedTuple

from scrapy.http import Response

from dedup.html import HtmlPage
from dedup.preferences.declarations import of_headers, of_meta, to_json
from dedup.rendering.sketch import RawTemplate
from dedup.scrapy.reading.content import Content, RawPage
from dedup.sites.counts import Contribution
from dedup.sites.outline import Outline
from dedup.sites.site import Site
from dedup.store import Page
from dedup.store.records import with_text


class Reading(NamedTuple):
    """An HTML page that was read.

    Attributes:
        page: as it is judged and stored.
        html: what its markup declares.
        links: those to follow.
        nofollow_links: those that the page asks robots not to follow.
        outline: from which it can be read again once more is known of its site.
        contribution: what it adds to what is known of its site; None: nothing is known yet.
        raw: the page as received.
        is_encoding_sure: see `Decoded`.
        site_version: of what was known of its site when it was read.
        template: of its markup; None: it is not asked for.
    """

    page: Page
    html: HtmlPage
    links: list[str]
    nofollow_links: list[str]
    outline: Outline | None
    contribution: Contribution | None
    raw: RawPage
    is_encoding_sure: bool
    site_version: int
    template: RawTemplate | None = None


def header(response: Response, name: str) -> str:
    """A header's value; "" where it is missing."""
    return (response.headers.get(name) or b"").decode("latin-1")


def reading_of(
    response: Response, raw: RawPage, content: Content, exchange: bytes | None
) -> Reading:
    """The page of a response, with what was read from it and the headers to store."""
    in_markup = of_meta(content.page.preferences)
    page = Page(
        id="",
        text="",
        url=response.url,
        body=raw.body,
        size_bytes=len(raw.body),
        language=header(response, "Content-Language"),
        status=response.status,
        content_type=raw.content_type,
        fetched_at=time.time(),
        depth=response.meta.get("depth", 0),
        etag=header(response, "ETag") or None,
        last_modified=header(response, "Last-Modified") or None,
        exchange=exchange,
        preferences=to_json([*of_headers(response.headers.getlist), *in_markup]),
    )
    return Reading(
        page=content.complete(page),
        html=content.page,
        links=content.links,
        nofollow_links=content.nofollow_links,
        outline=content.extracted.outline,
        contribution=content.extracted.contribution,
        raw=raw,
        is_encoding_sure=content.is_encoding_sure,
        site_version=content.site_version,
        template=content.template,
    )


def reread(reading: Reading, site: Site) -> Reading:
    """Read a page again from its outline, with the current knowledge of its site."""
    page, own = reading.page, None
    if reading.outline is not None:
        own = site.read(reading.outline, page.title, page.url or "")
    if own is None:
        return reading._replace(site_version=site.version)
    return reading._replace(
        page=with_text(page, own),
        outline=None if site.is_settled else reading.outline,
        contribution=own.contribution,
        site_version=site.version,
    )
