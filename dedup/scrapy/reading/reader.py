"""From a response to a page item: read in other processes, or in this one."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from dedup.html import HtmlPage
from dedup.scrapy.items import PageItem
from dedup.scrapy.reading.page import Content, ContentReader, PageFacts, RawPage, Unread, Wanted
from dedup.scrapy.reading.process import (
    BlockingWorker,
    NotReadError,
    ReadingError,
    SlowLane,
    TooSlowError,
    WorkerProcess,
)
from dedup.templates.site import Site
from dedup.urls.parts import host_of

logger = logging.getLogger(__name__)

_BINARY = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
"""How files begin that servers take for HTML."""

_SMALL_BYTES = 128 * 1024
_SMALL_TAGS = 2_000
"""A page of no more takes half a second at most, whatever it is made of (1,000 formatting elements
opened anew in 1,000 paragraphs), and 2 ms as pages go."""

_LARGE_BYTES = 2_000_000
_LARGE_TAGS = 100_000
"""A page of more may take seconds, and is slow from the beginning."""

_LEAST_CPU_SECONDS = 0.5  # for a slow page that is read a second time

_LOOK_PAGES = 50  # after so many it is asked whether one more process is needed
_MANY_WAITING = 4  # pages, for each process
_BEHIND_SHARE = 0.8
_BUSY_SHARE = 0.5


class Reading(NamedTuple):
    """An HTML page: its item, its metadata, its links, and what else is known of its item.

    Attributes:
        nofollow_links: those that are left alone because robots are asked not to follow them.
        raw: the page as received.
        is_encoding_sure: see `Decoded`.
        n_templates: how many templates of its host were known when it was read.
    """

    item: PageItem
    page: HtmlPage
    links: list[str]
    nofollow_links: list[str]
    facts: PageFacts
    raw: RawPage
    is_encoding_sure: bool
    n_templates: int


class PageReader:
    """Reads pages: in processes of their own, small ones also here while no process is ready.

    No other page is read in this process, which would stand still over a page made to take long.
    Of slow pages, large ones or those that have taken a second, one is read at a time, and always
    another process is there for the others: one more than `processes` if need be.

    Args:
        wanted: what is to be read from pages.
        processes: that read pages beside this one, at most; 0: small pages are read here, others
            in one process. The first starts with the first page, others when they are needed.
            Without an asyncio event loop pages that are not small are waited for.
    """

    def __init__(self, wanted: Wanted, processes: int) -> None:
        self._wanted = wanted
        # Here the features are computed when they are asked for, and some never are.
        self._here = ContentReader(replace(wanted, stages=frozenset()))
        self._max_processes = processes
        self._lane = SlowLane()
        self._blocking: BlockingWorker | None = None
        self._n_looks = 0
        self._n_behind = 0
        self._looked_at = (0.0, 0.0)
        self._workers: list[WorkerProcess] = []
        self._is_abandoned = False

    def __len__(self) -> int:
        """Pages that wait for being read."""
        return sum(map(len, self._workers))

    @property
    def n_slow(self) -> int:
        """Slow pages that wait for the one that is being read."""
        return self._lane.waiting

    async def read(
        self, response: Response, site: Site | None = None, host_encoding: str | None = None
    ) -> Reading | None:
        """What the page says, by what is known of its site; None: the response carries no HTML.

        `host_encoding` is that of the host's other pages.

        Raises:
            ReadingError: it cannot be read.
            CloseSpider: it is not to be read any more; see `abandon`.
        """
        if not isinstance(response, HtmlResponse):  # by header, URL and first bytes
            return None
        if response.body.startswith(_BINARY):
            return None
        robots = response.headers.getlist("X-Robots-Tag")
        raw = RawPage(
            response.body,
            response.url,
            header(response, "Content-Type"),
            tuple(value.decode("latin-1") for value in robots),
            host_encoding,
        )
        content = await self._read(raw, site)
        if content.n_links_left:
            logger.warning(
                "%s: %d links are not followed, beyond the first %d",
                response.url,
                content.n_links_left,
                len(content.links),
            )
        return _reading(response, raw, content)

    async def decode_again(
        self, reading: Reading, response: Response, site: Site | None, host_encoding: str | None
    ) -> Reading:
        """Read a page once more, by what is known now of its host.

        Raises:
            As `read`.
        """
        raw = reading.raw._replace(host_encoding=host_encoding)
        return _reading(response, raw, await self._read_now(raw, site))

    async def read_again(self, reading: Reading, site: Site) -> Reading:
        """Read a page once more, by what has been learned of its site since.

        Raises:
            As `read`.
        """
        content = await self._read_now(reading.raw, site)
        item = replace(reading.item, text=content.said.text)
        facts = PageFacts(item.text, item.title, item.body, content.said, content.features)
        return reading._replace(item=item, facts=facts, n_templates=content.n_templates)

    def abandon(self) -> None:
        """Read nothing more: what waits raises CloseSpider."""
        self._is_abandoned = True
        for worker in self._workers:
            worker.abandon()

    async def close(self) -> None:
        """End the processes."""
        if self._blocking is not None:
            self._blocking.close()
        await asyncio.gather(*(worker.close() for worker in self._workers))

    async def _read_now(self, raw: RawPage, site: Site | None) -> Content:
        return self._here.read(raw, site) if is_small(raw.body) else await self._read(raw, site)

    async def _read(self, raw: RawPage, site: Site | None) -> Content:
        host = None if site is None else host_of(raw.url)
        if not _has_event_loop():
            return self._read_blocking(raw, host, site)
        cpu_seconds = self._wanted.cpu_seconds
        if not _is_large(raw.body):
            try:
                return await self._read_next(raw, host, site)
            except TooSlowError as error:
                cpu_seconds = max(cpu_seconds - error.seconds, _LEAST_CPU_SECONDS)
        async with self._lane:
            return await self._read_next(raw, host, site, slow_seconds=cpu_seconds)

    async def _read_next(
        self, raw: RawPage, host: str | None, site: Site | None, slow_seconds: float | None = None
    ) -> Content:
        """Read a page where it is done soonest; `slow_seconds`: what is left for one in the lane.

        Raises:
            TooSlowError: it is to wait for the lane.
        """
        while True:
            worker = self._worker_for(raw)
            if worker is None:
                break
            with suppress(NotReadError):
                return await worker.read(
                    raw,
                    host,
                    site,
                    lane=self._lane,
                    cpu_seconds=slow_seconds,
                    is_slow=slow_seconds is not None,
                )
        if self._is_abandoned:
            raise CloseSpider("shutdown")
        if not is_small(raw.body):
            raise ReadingError(Unread("too_complex", "no process can be started to read it in"))
        return self._here.read(raw, site)

    def _worker_for(self, raw: RawPage) -> WorkerProcess | None:
        """The process that is to read a page; None: this one, or none can be started."""
        if self._is_abandoned:
            return None
        workers = self._workers
        quick = [each for each in workers if not (each.is_gone or each.is_slow)]
        ready = [each for each in quick if each.is_ready]
        if len(ready) == len(workers) < self._max_processes and self._is_another_needed():
            workers.append(WorkerProcess(self._wanted))
        if (not ready or not self._max_processes) and is_small(raw.body):
            return None
        # There may be none, or all that there are may be busy with slow pages.
        if not quick and len(workers) < max(self._max_processes + 1, 2):
            workers.append(WorkerProcess(self._wanted))
        usable = ready or quick or [each for each in workers if not each.is_gone]
        return min(usable, key=lambda each: each.load) if usable else None

    def _read_blocking(self, raw: RawPage, host: str | None, site: Site | None) -> Content:
        if is_small(raw.body):
            return self._here.read(raw, site)
        if self._blocking is None:
            self._blocking = BlockingWorker(self._wanted)
        return self._blocking.read(raw, host, site)

    def _is_another_needed(self) -> bool:
        """Asked for each page while there might be one more: would that make the crawl faster?

        It would where pages wait for the processes that there are, while this one has half of its
        time left.
        """
        if not self._workers:
            self._looked_at = _seconds()
            return True
        self._n_looks += 1
        self._n_behind += len(self) >= _MANY_WAITING * len(self._workers)
        if self._n_looks < _LOOK_PAGES:
            return False
        now = _seconds()
        seconds, busy_seconds = now[0] - self._looked_at[0], now[1] - self._looked_at[1]
        is_behind = self._n_behind > _BEHIND_SHARE * _LOOK_PAGES
        self._n_looks, self._n_behind, self._looked_at = 0, 0, now
        return is_behind and busy_seconds < _BUSY_SHARE * seconds


def _seconds() -> tuple[float, float]:
    """Those that have passed, and those of them that this process was busy."""
    return time.monotonic(), time.process_time()


def is_small(body: bytes) -> bool:
    """May the page be read in the process that crawls?"""
    return len(body) <= _SMALL_BYTES and body.count(b"<") <= _SMALL_TAGS


def _is_large(body: bytes) -> bool:
    return len(body) > _LARGE_BYTES or body.count(b"<") > _LARGE_TAGS


def header(response: Response, name: str) -> str:
    """A header's value; "" where it is missing."""
    return (response.headers.get(name) or b"").decode("latin-1")


def _reading(response: Response, raw: RawPage, content: Content) -> Reading:
    item = _item(response, raw, content)
    return Reading(
        item=item,
        page=content.page,
        links=content.links,
        nofollow_links=content.nofollow_links,
        facts=PageFacts(item.text, item.title, item.body, content.said, content.features),
        raw=raw,
        is_encoding_sure=content.is_encoding_sure,
        n_templates=content.n_templates,
    )


def _item(response: Response, raw: RawPage, content: Content) -> PageItem:
    return PageItem(
        url=response.url,
        text=content.said.text,
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


def _has_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # another reactor than asyncio's
        return False
    return True
