"""From a response to what it says: decoded once, parsed once."""

from __future__ import annotations

import time
from typing import NamedTuple

from scrapy.http import HtmlResponse, Response

from crawler.items import PageItem
from dedup.html import HtmlPage, bounded, decode, extract_text, parse_page

_BINARY = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
"""How files begin that servers take for HTML."""


class Reading(NamedTuple):
    """An HTML page: its item, and its links and metadata."""

    item: PageItem
    page: HtmlPage


def read_page(response: Response, extractor: str) -> Reading | None:
    """Decode, parse, and take out the main text; None: the response carries no HTML."""
    if not isinstance(response, HtmlResponse):  # by header, URL and first bytes
        return None
    if response.body.startswith(_BINARY):
        return None
    content_type = header(response, "Content-Type")
    decoded = decode(response.body, content_type or None)
    robots = response.headers.getlist("X-Robots-Tag")
    html = bounded(decoded.text)
    page = parse_page(
        html,
        response.url,
        robots_headers=[value.decode("latin-1") for value in robots],
    )
    item = PageItem(
        url=response.url,
        text=extract_text(html, extractor=extractor),
        title=page.title,
        language=page.language or header(response, "Content-Language"),
        canonical_url=page.canonical_url,
        status=response.status,
        content_type=content_type,
        encoding=decoded.encoding,
        fetched_at=time.time(),
        depth=response.meta.get("depth", 0),
        body=response.body,
        etag=header(response, "ETag") or None,
        last_modified=header(response, "Last-Modified") or None,
    )
    return Reading(item, page)


def header(response: Response, name: str) -> str:
    """A header's value; "" where it is missing."""
    return (response.headers.get(name) or b"").decode("latin-1")
