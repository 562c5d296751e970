"""What sites say of changes as a refresh with a budget begins: sitemaps and search indexes."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from random import shuffle
from typing import TypeVar
from urllib.parse import urljoin

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from dedup.revisits import section_of
from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.internals.engine import download
from dedup.scrapy.job.visit_order import UNREAD, Said, VisitOrder
from dedup.scrapy.middlewares.redirect import REDIRECT_STATUSES
from dedup.scrapy.reading.pagefind import is_pagefind
from dedup.scrapy.reading.search_index import MAX_PAGES, index_addresses, spellings
from dedup.scrapy.robots_file import sitemaps_in_robots
from dedup.scrapy.spiders.site_reader import SiteReader
from dedup.urls.parts import host_of, redirect_target

logger = logging.getLogger(__name__)

_MAX_SITEMAPS = 50
"""Of a site, for each refresh: a file has up to 50,000 pages."""

_MAX_PAGES = 20
"""Of a site, that are looked at for the addresses of search indexes: one of each section."""

_MAX_FILES = 100
"""Of search indexes of a site, beside fragments."""

_FRAGMENTS_AT_ONCE = 4
_FRAGMENT_SECONDS = 15.0
"""For the answer to each."""

_MAX_CHARACTERS = 1_000_000
"""Of such a page; the addresses are in its head, or at its end."""

_URLS_AT_ONCE = 1_000
"""Between them other responses have their turn, and the time is looked at."""

_MAX_REDIRECTS = 5

_OK, _GONE = HTTPStatus.OK, (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)

_Found = TypeVar("_Found")


class SiteHints:
    """Reads what sites say of their pages, which is `said`; what cannot be read is left out."""

    def __init__(self, crawler: Crawler, order: VisitOrder, reader: SiteReader) -> None:
        self.said = Said()
        self._crawler = crawler
        self._order = order
        self._reader = reader
        self._asked: defaultdict[str, set[str]] = defaultdict(set)
        """The files of indexes that were asked for, by host."""
        self._some_sites = asyncio.Semaphore(crawler.settings.getint("CONCURRENT_REQUESTS"))
        """The downloader bounds the connections of a host alone."""

    async def read(self, urls: Iterable[str]) -> None:
        """Read what the sites of start URLs say, many at the same time."""
        sites: dict[str, list[str]] = {}
        for url in urls:
            sites.setdefault(urljoin(url, "/"), []).append(url)
        reading = (self._read_site(root, starts) for root, starts in sites.items())
        await asyncio.gather(*map(self._if_readable, reading, sites))

    async def _read_site(self, root: str, starts: Iterable[str]) -> None:
        async with self._some_sites:
            await asyncio.gather(
                self._read_indexes(root, starts), self._read_sitemaps(urljoin(root, "/robots.txt"))
            )

    async def _read_sitemaps(self, robots: str) -> None:
        """The sitemaps that a robots.txt names; if it names none, /sitemap.xml is tried."""
        answer = await self._fetched(robots)
        named = sitemaps_in_robots(answer.body) if answer else []
        queue = _joined(robots, named or ["/sitemap.xml"])
        for number, url in enumerate(queue):
            if number >= _MAX_SITEMAPS or (response := await self._fetched(url, robots)) is None:
                continue
            sitemap = await self._if_readable(self._reader.read_sitemap(response), url)
            if sitemap is None:
                continue
            pairs = ((_absolute(url, page), at) for page, at in sitemap.lastmods.items())
            self.said.lastmods |= await self._of_pages(dict(pairs))
            if sitemap.is_index:
                listed = _joined(url, sitemap.urls[:_MAX_SITEMAPS])
                queue += [each for each in listed if each not in queue]

    async def _read_indexes(self, root: str, starts: Iterable[str]) -> None:
        """Read the search indexes of the start pages, and of other sections.

        A site that has told nothing yet is looked at as a whole: a start page may have none.
        """
        pages = list({section_of(url): url for url in starts}.values())[:_MAX_PAGES]
        hosts = [await self._read_indexes_of(url, root) for url in pages]
        for host in dict.fromkeys(filter(None, hosts)):
            if host in map(host_of, self.said.texts) or self._order.may_have_index(host):
                looked_at: set[str] = set()
                while len(looked_at) < _MAX_PAGES:
                    sections = self._order.sections_without(self.said.texts, host)
                    left = [url for url in sections if url not in looked_at]  # an index has more
                    if not left:
                        break
                    looked_at.add(left[0])
                    await self._read_indexes_of(left[0], root)
            self.said.heard.add(host)

    async def _read_indexes_of(self, url: str, root: str) -> str:
        """Read the indexes of a page; return its host, which may be another; "": none."""
        page = await self._fetched(url, root)
        if not isinstance(page, HtmlResponse):
            return ""
        host = host_of(page.url)  # with `www.`, where the start URL redirects there
        asked = self._asked[host]
        for address in index_addresses(page.text[:_MAX_CHARACTERS], page.url):
            if asked.intersection(address.urls) or {*map(host_of, address.urls)} != {host}:
                continue
            asked.update(address.urls)
            if is_pagefind(address.urls[0]):
                await self._read_fragments(address.urls[0])
            else:
                told = await self._index_at(address.urls, address.base)
                found = await self._of_pages(told, spellings)
                self.said.texts.update(found)
        return host

    async def _read_fragments(self, entry: str) -> None:
        """Hear of pages whose fragments are new, or have gone, and that the others are as before.

        Of those that are new as many are read, in place of visits, as the budget has, and as far as
        such pages had changed. If most are new, or no page of one is known, the index was made
        anew: one is read to see whether that can be done, and nothing is compared.
        """
        said, root, listed = self.said, urljoin(entry, ".."), await self._fragments_listed(entry)
        if not listed:
            return
        known = self._order.fragments_in(urljoin(entry, "fragment/"))
        new = [each for each in listed if each not in known]
        is_made_anew = None in known.values() or not any(known.values())
        is_made_anew |= 2 * len(new) > len(listed)
        said.listed |= listed.keys()
        if is_made_anew:
            said.remade.update(self._order.pages_below(root))
            limit, new = 1, [*listed]
        else:
            said.fragments |= {each: known.get(each) or "" for each in listed.keys() - new}
            await self._say_as_before(listed, known, root)
            limit = self._order.max_fragments_below(root)
        shuffle(new)  # some may fail each time
        new = new[:limit]
        while part := new[: min(_FRAGMENTS_AT_ONCE, self._order.max_fragments - said.n_fragments)]:
            said.n_fragments += len(part)  # of all sites, which are read at the same time
            new = new[len(part) :]
            reading = (self._read_fragment(each, listed[each], root) for each in part)
            have_answered = await asyncio.gather(*reading)
            said.n_fragments -= have_answered.count(False)
        if is_made_anew:
            found = {each: said.fragments.get(each, "") for each in listed}
            said.fragments |= found
            if any(found.values()):
                await self._say_as_before(listed, found, root)

    async def _say_as_before(
        self, listed: Mapping[str, str], pages: Mapping[str, str | None], root: str
    ) -> None:
        """Say of all pages below `root` that they are as before, but for those of lost fragments.

        Args:
            listed: the names of fragments.
            pages: those whose page is known, and others.
            root: the folder above that of the index.
        """
        names = {page: listed.get(each, "") for each, page in pages.items() if page}
        of_pages = await self._of_pages(names, spellings)
        below = dict.fromkeys(self._order.pages_below(root), UNREAD)
        for url, name in (below | of_pages).items():
            self.said.texts.setdefault(url, name)  # another index has the text itself

    async def _read_fragment(self, fragment: str, name: str, root: str) -> bool:
        """Hear which page has another text; a fragment that fails is read another time.

        Returns:
            Did an answer come?
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_FRAGMENT_SECONDS):
                answer = await self._answer(fragment, root)
                if answer is not None and answer.status == _OK:
                    page = await self._page_of(answer.body, fragment, root)
                    found = await self._of_pages({page: name}, spellings)
                    self.said.fragments[fragment] = page
                    for url in found:
                        if self.said.texts.get(url, UNREAD) in (UNREAD, ""):
                            self.said.texts[url] = name
                elif answer is not None and answer.status in _GONE:
                    self.said.fragments[fragment] = ""
                return answer is not None
        return False

    async def _fragments_listed(self, entry: str) -> dict[str, str]:
        """The names of the fragments of an index, by URL; none, if not all of them are told."""
        listed: dict[str, str] = {}
        asked = self._asked[host_of(entry)]
        for language in await self._index_at([entry], entry):
            asked.add(language)
            fragments = await self._index_at([language], language)
            listed |= fragments
            if not fragments or len(asked) > _MAX_FILES or len(listed) > MAX_PAGES:
                return {}
        return listed

    async def _page_of(self, body: bytes, fragment: str, root: str) -> str:
        """The URL of the page that a fragment is of; "": it is none below `root`."""
        found = await self._if_readable(self._reader.read_search_index(body, fragment), fragment)
        page = next(iter(found or ()), "")
        return page if page.startswith(root) else ""

    async def _index_at(self, urls: Sequence[str], base: str) -> dict[str, str]:
        """What an index says, which may be in several files; nothing, if it cannot be read."""
        files = [await self._answer(url, base) for url in urls]
        bodies = [file.body for file in files if file is not None and file.status == _OK]
        if len(bodies) == len(files):
            reading = self._reader.read_search_index(b"\n".join(bodies), base)
            return await self._if_readable(reading, urls[0]) or {}
        if not all(file is not None and file.status in (_OK, *_GONE) for file in files):
            self.said.unread.add(host_of(urls[0]))
        return {}

    async def _of_pages(
        self, values: Mapping[str, str], spelt_as: Callable[[str], list[str]] = lambda url: [url]
    ) -> dict[str, str]:
        """The values of pages that may be visited, of those that are listed with any spelling."""
        found: dict[str, str] = {}
        listed = [(spelt, value) for url, value in values.items() for spelt in spelt_as(url)]
        for start in range(0, len(listed), _URLS_AT_ONCE):
            part = dict(listed[start : start + _URLS_AT_ONCE])
            found |= {page: part[spelt] for spelt, page in self._order.pages_at(part).items()}
            await asyncio.sleep(0)
        return found

    async def _if_readable(self, reading: Awaitable[_Found], url: str) -> _Found | None:
        try:
            return await reading
        except Exception as error:  # noqa: BLE001 -- any; hints are no condition of a refresh
            logger.info("%s cannot be read: %s", url, error)
            return None

    async def _fetched(self, url: str, base: str = "") -> Response | None:
        """What is at a URL that a site names at `base`; None: nothing, or it cannot be had now."""
        answer = await self._answer(url, base)
        return answer if answer is not None and answer.status == _OK else None

    async def _answer(self, url: str, base: str = "") -> Response | None:
        """The response at a URL that a site names at `base`; None: none came.

        Redirects are followed to the same host, and to those of pages that may be visited.
        """
        for _ in range(_MAX_REDIRECTS):
            if base and not AddressPolicy.of(self._crawler).may_follow(url, base):
                return None
            request = Request(url, callback=NO_CALLBACK, meta={"dont_redirect": True})
            try:
                response = await download(self._crawler, request)
                target = redirect_target(url, response.headers.get("Location") or b"")
            except Exception as error:  # noqa: BLE001 -- any, see above
                logger.info("%s was not fetched: %s", url, error)
                return None
            if response.status not in REDIRECT_STATUSES:
                return response
            if host_of(target) != host_of(url) and not self._order.has_pages_of(host_of(target)):
                return None
            base, url = url, target
        return None


def _joined(base: str, urls: Iterable[str]) -> list[str]:
    """The absolute URLs, each once, without what is no URL."""
    return list(filter(None, dict.fromkeys(_absolute(base, url) for url in urls)))


def _absolute(base: str, url: str) -> str:
    """The absolute URL; "": it is none."""
    try:
        return urljoin(base, url)
    except ValueError:
        return ""
