"""What the sitemaps of a site say of when its pages changed, read as a refresh begins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from urllib.parse import urljoin

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.internals.engine import download
from dedup.scrapy.reading.sitemap_file import Sitemap
from dedup.scrapy.robots_file import sitemaps_in_robots

logger = logging.getLogger(__name__)

_MAX_FILES = 50
"""Of a site, for each refresh: a file has up to 50,000 pages."""

_URLS_AT_ONCE = 1_000
"""Between them other responses have their turn, and the time is looked at."""

Read = Callable[[Response], Awaitable[Sitemap]]

PagesAt = Callable[[Iterable[str]], Mapping[str, str]]
"""Gives the pages at URLs, each with the URL that the store has for it."""


async def lastmods(
    crawler: Crawler, urls: Iterable[str], pages_at: PagesAt, read: Read
) -> dict[str, str]:
    """The `lastmod` of pages, by URL, in the sitemaps that the robots.txt of these sites name.

    If that names none, /sitemap.xml is tried. What cannot be read is left out.
    """
    found: dict[str, str] = {}
    for robots in dict.fromkeys(urljoin(url, "/robots.txt") for url in urls):
        answer = await _fetched(crawler, robots)
        named = sitemaps_in_robots(answer.body) if answer else []
        queue = _joined(robots, named or ["/sitemap.xml"])
        for number, url in enumerate(queue):
            if number >= _MAX_FILES or not AddressPolicy.of(crawler).may_follow(url, robots):
                continue
            sitemap = await _sitemap(crawler, url, read)
            if sitemap is None:
                continue
            told = list(sitemap.lastmods.items())
            for start in range(0, len(told), _URLS_AT_ONCE):
                part = dict(told[start : start + _URLS_AT_ONCE])
                found |= {page: part[listed] for listed, page in pages_at(part).items()}
                await asyncio.sleep(0)
            if sitemap.is_index:
                listed = _joined(url, sitemap.urls[:_MAX_FILES])
                queue += [each for each in listed if each not in queue]
    return found


def _joined(base: str, urls: Iterable[str]) -> list[str]:
    """The absolute URLs, each once, without what is no URL."""
    found: dict[str, None] = {}
    for url in urls:
        with suppress(ValueError):
            found[urljoin(base, url)] = None
    return list(found)


async def _sitemap(crawler: Crawler, url: str, read: Read) -> Sitemap | None:
    response = await _fetched(crawler, url)
    try:
        return None if response is None else await read(response)
    except Exception as error:  # noqa: BLE001 -- any; a site's hints are no condition of a refresh
        logger.info("The sitemap %s cannot be read: %s", url, error)
        return None


async def _fetched(crawler: Crawler, url: str) -> Response | None:
    try:
        response = await download(crawler, Request(url, callback=NO_CALLBACK))
    except Exception as error:  # noqa: BLE001 -- any, see above
        logger.info("%s was not fetched: %s", url, error)
        return None
    return response if response.status == 200 else None
