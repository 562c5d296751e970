"""The browser of a crawl: it renders pages that were fetched without it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from dedup.extras import load_extra
from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.downloads import count_requests
from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.chromium import check_settings
from dedup.scrapy.rendering.proxy import FilteringProxy
from dedup.scrapy.rendering.reach import IsInScope, Reach
from dedup.scrapy.rendering.record import Rendering, RenderingError
from dedup.scrapy.spiders.scope import host_key

if TYPE_CHECKING:
    from dedup.scrapy.rendering.run import BrowserRun

_MAX_COUNTED = 10
"""Requests of a page to its own host that count for the delay between requests, of one page. The
first page of a host fetches all scripts of its site; the others have them from the cache."""


class Browser:
    """Renders pages within bounds; it starts with the first page, and is replaced if it dies.

    scrapy-playwright starts it, with the user's settings `PLAYWRIGHT_…`. Pages do not pass its
    download handler: that intercepts each request, which switches the browser's cache off, so that
    each page of a host would fetch the site's scripts again, and it reads the markup of a page
    whatever its size. Requests with `meta={"playwright": True}` remain with that handler.
    """

    def __init__(
        self, crawler: Crawler, bounds: Bounds | None = None, proxy: FilteringProxy | None = None
    ) -> None:
        config = CrawlConfig.of(crawler)
        self._crawler = crawler
        self._bounds = bounds or Bounds(
            seconds=config.render_seconds,
            pages_at_once=config.render_pages,
            process_bytes=config.render_memory_mb * 2**20,
            max_scrolls=config.render_scrolls,
        )
        self._has_third_parties = config.has_render_third_parties
        self._policy = AddressPolicy.of(crawler)
        self._is_in_scope = _scope_of(crawler)
        self._slots = asyncio.Semaphore(self._bounds.pages_at_once)
        self._starting = asyncio.Lock()
        self._proxy = proxy or FilteringProxy()
        self._run: BrowserRun | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Browser:
        """The browser of a crawl, which is not started yet.

        Raises:
            ValueError: the extra `render` or Chromium is missing, or the settings name a browser
                that cannot be bounded; the message says what to do.
        """
        try:
            load_extra("scrapy_playwright.handler", extra="render", purpose="DEDUP_RENDER")
        except ImportError as error:
            raise ValueError(str(error)) from None
        check_settings(crawler.settings)
        return cls(crawler)

    async def render(self, response: Response) -> HtmlResponse:
        """The page of a response, as it is after its scripts have run.

        The body is the DOM in UTF-8; `meta["rendering"]` has a `Rendering`, `flags` has "rendered".

        Raises:
            RenderingError: it could not be rendered.
        """
        async with self._slots:
            try:
                return _rendered(response, *await self._try(response))
            except RenderingError as error:
                if error.reason != "crashed":  # which may be another page's doing
                    raise
            return _rendered(response, *await self._try(response))

    async def close(self) -> None:
        """End the browser."""
        if self._run is not None:
            await self._run.close()
        await self._proxy.close()

    async def _try(self, response: Response) -> tuple[str, str, Rendering]:
        run = await self._running()
        rendered = await run.render(response)
        if response.request is not None and (slot := response.meta.get("download_slot")):
            most = _MAX_COUNTED + rendered[-1].n_scrolls
            count_requests(self._crawler, slot, min(rendered[-1].n_own, most))
        return rendered

    async def _running(self) -> BrowserRun:
        """The browser, started if it does not run; a new one after so many pages.

        The pages of the old one end first: two browsers would starve each other of the processor.
        """
        async with self._starting:
            run = self._run
            if run is not None and not (
                run.is_broken or run.n_pages >= self._bounds.pages_per_browser
            ):
                return run
            if run is not None:
                await run.close_unused()
                self._run = None
            self._run = await self._start()
            return self._run

    async def _start(self) -> BrowserRun:
        from dedup.scrapy.rendering.run import BrowserRun  # needs the extra

        await self._proxy.start()
        run = BrowserRun(
            self._crawler.settings, self._bounds, self._proxy, self._make_reach, self._is_in_scope
        )
        await run.start()
        return run

    def _make_reach(self) -> Reach:
        return Reach(
            self._policy,
            self._is_in_scope,
            max_bytes=self._bounds.max_bytes,
            has_third_parties=self._has_third_parties,
        )


def _scope_of(crawler: Crawler) -> IsInScope:
    """Is the host of a URL, with its port, one that the crawl may take pages from?"""

    def is_in_scope(url: str) -> bool:
        hosts: set[str] = getattr(getattr(crawler.spider, "scope", None), "hosts", set())
        return host_key(url) in hosts

    return is_in_scope


def _rendered(response: Response, html: str, url: str, record: Rendering) -> HtmlResponse:
    request = response.request
    if request is not None:
        request = request.copy()
        request.meta["rendering"] = record
    headers = response.headers.copy()
    headers["Content-Type"] = "text/html; charset=utf-8"
    return HtmlResponse(
        url,
        status=response.status,
        headers=headers,
        body=html.encode(),
        flags=[*response.flags, "rendered"],
        request=request,
        certificate=response.certificate,
        ip_address=response.ip_address,
        protocol=response.protocol,
        encoding="utf-8",
    )
