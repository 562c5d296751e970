"""From a response to a page item: read in other processes, or in this one."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeGuard, cast
from urllib.parse import urlsplit

from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response

from dedup.documents.formats import format_of, is_said_pdf
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import Content, ContentReader, RawPage, Unread, Wanted
from dedup.scrapy.reading.exchange import exchange_of
from dedup.scrapy.reading.host_shares import HostShares
from dedup.scrapy.reading.reading import Reading, header, reading_of
from dedup.scrapy.reading.search_index import RawSearchIndex
from dedup.scrapy.reading.sitemap_file import RawSitemap, Sitemap
from dedup.scrapy.reading.slow_lane import SlowLane
from dedup.scrapy.reading.worker_process import WorkerProcess
from dedup.scrapy.reading.worker_protocol import (
    Found,
    NotReadError,
    Raw,
    ReadingError,
    TooSlowError,
)
from dedup.sites.site import Site
from dedup.urls.parts import host_of

logger = logging.getLogger(__name__)

_BINARY = (b"%PDF-", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b")
"""The first bytes of files that servers send as HTML by mistake."""

_SMALL_BYTES = 128 * 1024
_SMALL_TAGS = 2_000
"""A page up to these sizes takes at most half a second, whatever it contains (the worst case: 1,000
formatting elements that are opened again in 1,000 paragraphs), and normally 2 ms."""

_LARGE_BYTES = 2_000_000
_LARGE_TAGS = 100_000
"""A larger page may take seconds, and counts as slow from the beginning."""

_MIN_CPU_SECONDS = 0.5  # for a slow page that is read a second time

_LOOK_PAGES = 50
"""Pages after which the reader decides whether it starts one more process."""

_MIN_WAITING_PAGES = 4
"""Pages that wait, for each process, from which the processes are behind."""

_MIN_BEHIND_SHARE = 0.8
"""Share of the pages at whose arrival the processes were behind, for one more process."""

_MAX_BUSY_SHARE = 0.5
"""Share of the time that the crawl's process is busy, up to which another process helps."""


class PageReader:
    """Reads pages in other processes; small pages also in this one, while no process is ready.

    Larger pages and documents are not read in this process: one would block the crawl. Slow pages
    are large ones and those that have taken a second. One slow page is read at a time, and another
    process stays free for the other pages: one more than `processes` if necessary.

    Args:
        wanted: what is to be read from pages.
        processes: maximum number of processes that read pages, besides this one. The first starts
            with the first page, others when they are needed. 0: this process reads small pages,
            and one process the others. Without an asyncio event loop this process waits for each
            page that is not small.
        shares: counts the CPU time of each host; None: only this reader counts it.
        documents: formats of documents that are read, see `dedup.documents.formats`.
    """

    def __init__(
        self,
        wanted: Wanted,
        processes: int,
        shares: HostShares | None = None,
        documents: Collection[str] = (),
    ) -> None:
        self._wanted = wanted
        self._documents = documents
        self._shares = shares or HostShares(processes)
        # In this process features are computed when a detector asks for them; some are not needed.
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
        """The number of pages that are not read yet."""
        return sum(map(len, self._workers))

    @property
    def n_slow(self) -> int:
        """The number of slow pages that wait until another slow page is read."""
        return self._lane.waiting

    async def read(
        self, response: Response, site: Site | None = None, host_encoding: str | None = None
    ) -> Reading | None:
        """Read a page with the knowledge of its site; None: it is neither HTML nor a document.

        Args:
            response: of the page.
            site: what is known of its site.
            host_encoding: the encoding of the host's other pages.

        Raises:
            ReadingError: the page cannot be read.
            CloseSpider: `abandon` has been called.
        """
        is_pdf = is_said_pdf(header(response, "Content-Type"), response.url)
        format_ = format_of(response.body, self._documents, is_said_pdf=is_pdf)
        if not format_ and not _is_html(response):
            return None
        robots = response.headers.getlist("X-Robots-Tag")
        raw = RawPage(
            response.body,
            response.url,
            header(response, "Content-Type"),
            tuple(value.decode("latin-1") for value in robots),
            host_encoding,
            format_,
        )
        content = await self._read_page(raw, site)
        if content.n_links_left:
            logger.warning(
                "%s: %d links beyond the first %d are not followed",
                response.url,
                content.n_links_left,
                len(content.links),
            )
        return self._reading(response, raw, content)

    async def decode_again(
        self, reading: Reading, response: Response, site: Site | None, host_encoding: str | None
    ) -> Reading:
        """Read a page again, with another encoding for its host.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        raw = reading.raw._replace(host_encoding=host_encoding)
        return self._reading(response, raw, await self._read_now(raw, site))

    async def read_again(self, reading: Reading, site: Site) -> Reading:
        """Read a page again, with the current knowledge of its site.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        content = await self._read_now(reading.raw, site)
        return reading._replace(
            page=content.complete(reading.page),
            outline=content.extracted.outline,
            contribution=content.extracted.contribution,
            site_version=content.site_version,
        )

    def abandon(self) -> None:
        """Stop reading: for the pages that wait, `read` raises CloseSpider."""
        self._is_abandoned = True
        for worker in self._workers:
            worker.abandon()

    async def close(self) -> None:
        """End the processes."""
        if self._blocking is not None:
            self._blocking.close()
        await asyncio.gather(*(worker.close() for worker in self._workers))

    def _reading(self, response: Response, raw: RawPage, content: Content) -> Reading:
        exchange = exchange_of(response) if self._wanted.bodies else None
        return reading_of(response, raw, content, exchange)

    async def _read_now(self, raw: RawPage, site: Site | None) -> Content:
        if _may_be_read_here(raw):
            return self._read_here(raw, site)
        return await self._read_page(raw, site)

    def _read_here(self, raw: RawPage, site: Site | None) -> Content:
        began = time.process_time()
        try:
            return self._here.read(raw, site)
        finally:
            self._shares.note_page(_slot(raw), time.process_time() - began)

    async def read_sitemap(self, response: Response) -> Sitemap:
        """Read a sitemap, never in this process.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        return cast("Sitemap", await self._read(RawSitemap(response.body, response.url), None))

    async def read_search_index(self, body: bytes, base: str) -> dict[str, str]:
        """Read a search index that names pages from `base`, never in this process.

        Raises:
            ReadingError, CloseSpider: as `read`.
        """
        return cast("dict[str, str]", await self._read(RawSearchIndex(body, base), None))

    async def _read_page(self, raw: RawPage, site: Site | None) -> Content:
        return cast("Content", await self._read(raw, site))

    async def _read(self, raw: Raw, site: Site | None) -> Found:
        is_cut = False
        try:
            return await self._read_anywhere(raw, site)
        except ReadingError as error:
            is_cut = error.reason == "too_complex"
            raise
        finally:
            self._shares.note_end(_slot(raw), is_cut=is_cut)

    async def _read_anywhere(self, raw: Raw, site: Site | None) -> Found:
        host = None if site is None else host_of(raw.url)
        if not _has_event_loop():
            return self._read_blocking(raw, host, site)
        cpu_seconds = self._wanted.cpu_seconds
        is_slow = self._shares.is_slow(_slot(raw)) and not _may_be_read_here(raw)
        if not (is_slow or _is_large(raw.body)):
            try:
                return await self._read_next(raw, host, site)
            except TooSlowError as error:
                cpu_seconds = max(cpu_seconds - error.seconds, _MIN_CPU_SECONDS)
        async with self._lane:
            return await self._read_next(raw, host, site, slow_seconds=cpu_seconds)

    async def _read_next(
        self, raw: Raw, host: str | None, site: Site | None, slow_seconds: float | None = None
    ) -> Found:
        """Read a page by the process with the least work; `slow_seconds`: CPU time of a slow one.

        Raises:
            TooSlowError: the page is slow, and has to wait for the lane.
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
                    note_seconds=partial(self._shares.note_page, _slot(raw)),
                )
        if self._is_abandoned:
            raise CloseSpider("shutdown")
        if _may_be_read_here(raw):
            return self._read_here(raw, site)
        raise ReadingError(Unread("too_complex", "no process could be started to read it"))

    def _worker_for(self, raw: Raw) -> WorkerProcess | None:
        """The process that is to read a page; None: no other than this one."""
        if self._is_abandoned:
            return None
        workers = self._workers
        quick = [each for each in workers if not (each.is_gone or each.is_slow)]
        ready = [each for each in quick if each.is_ready]
        if len(ready) == len(workers) < self._max_processes and self._is_another_needed():
            workers.append(WorkerProcess(self._wanted))
        if (not ready or not self._max_processes) and _may_be_read_here(raw):
            return None
        # There may be no process, or all of them may read slow pages.
        if not quick and len(workers) < max(self._max_processes + 1, 2):
            workers.append(WorkerProcess(self._wanted))
        usable = ready or quick or [each for each in workers if not each.is_gone]
        return min(usable, key=lambda each: each.load) if usable else None

    def _read_blocking(self, raw: Raw, host: str | None, site: Site | None) -> Found:
        if _may_be_read_here(raw):
            return self._read_here(raw, site)
        if self._blocking is None:
            self._blocking = BlockingWorker(self._wanted)
        return self._blocking.read(raw, host, site)

    def _is_another_needed(self) -> bool:
        """Would one more process make the crawl faster? Called once for each page.

        It would if pages wait for the processes, and this process is busy for less than half of the
        time.
        """
        if not self._workers:
            self._looked_at = _seconds()
            return True
        self._n_looks += 1
        self._n_behind += len(self) >= _MIN_WAITING_PAGES * len(self._workers)
        if self._n_looks < _LOOK_PAGES:
            return False
        now = _seconds()
        seconds, busy_seconds = now[0] - self._looked_at[0], now[1] - self._looked_at[1]
        is_behind = self._n_behind > _MIN_BEHIND_SHARE * _LOOK_PAGES
        self._n_looks, self._n_behind, self._looked_at = 0, 0, now
        return is_behind and busy_seconds < _MAX_BUSY_SHARE * seconds


def _is_html(response: Response) -> bool:
    """Is it HTML by header, URL and first bytes?"""
    return isinstance(response, HtmlResponse) and not response.body.startswith(_BINARY)


def _seconds() -> tuple[float, float]:
    """The time by the clock, and the CPU time of this process."""
    return time.monotonic(), time.process_time()


def _slot(raw: Raw) -> str:
    return urlsplit(raw.url).hostname or ""


def _may_be_read_here(raw: Raw) -> TypeGuard[RawPage]:
    return isinstance(raw, RawPage) and not raw.format and is_small(raw.body)


def is_small(body: bytes) -> bool:
    """May the page be read in the process that crawls?"""
    return len(body) <= _SMALL_BYTES and body.count(b"<") <= _SMALL_TAGS


def _is_large(body: bytes) -> bool:
    return len(body) > _LARGE_BYTES or body.count(b"<") > _LARGE_TAGS


def _has_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # another reactor than asyncio's
        return False
    return True
