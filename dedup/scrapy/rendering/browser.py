"""The browser of a crawl: it renders pages that were fetched without it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response

from dedup.extras import load_extra
from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.chromium import check_settings, launch_options
from dedup.scrapy.rendering.proxy import FilteringProxy
from dedup.scrapy.rendering.reach import IsInScope, Reach
from dedup.scrapy.rendering.record import Rendering, RenderingError
from dedup.scrapy.spiders.scope import host_key

_TRIES = 2
"""Of a page that goes down with the browser, which may be another page's doing."""


class Browser:
    """Renders pages within bounds; it is started when the first page comes, and replaced if it dies.

    It is scrapy-playwright that starts it, with the user's settings `PLAYWRIGHT_…`. Pages do not pass
    its download handler: that intercepts each request, which switches the browser's cache off, so
    that each page of a host would fetch the site's scripts again, and it reads a page's markup
    whatever its size. Requests with `meta={"playwright": True}` remain with that handler.
    """

    def __init__(self, crawler: Crawler, bounds: Bounds | None = None) -> None:
        self._settings = crawler.settings
        self._bounds = bounds or Bounds()
        self._policy = AddressPolicy.of(crawler)
        self._is_in_scope = _scope_of(crawler)
        self._slots = asyncio.Semaphore(self._bounds.pages_at_once)
        self._starting = asyncio.Lock()
        self._proxy: FilteringProxy | None = None
        self._run: Any = None

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
            for n_left in reversed(range(_TRIES)):
                try:
                    return _rendered(response, *await self._try(response))
                except RenderingError as error:
                    if error.reason != "crashed" or not n_left:
                        raise
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """End the browser."""
        if self._run is not None:
            await self._run.close()
        if self._proxy is not None:
            await self._proxy.close()

    async def _try(self, response: Response) -> tuple[str, str, Rendering]:
        from playwright.async_api import Error as PlaywrightError

        run = None
        try:
            run = await self._running()
            return await run.render(response, urlsplit(response.url).netloc)
        except PlaywrightError as error:
            if run is not None:
                run.is_broken = True
            raise RenderingError("crashed", error.message.partition("\n")[0]) from error
        finally:
            if run is not None and run is not self._run and not run.n_open:
                await run.close()

    async def _running(self) -> Any:
        """The browser, started if it does not run; a new one after so many pages."""
        async with self._starting:
            run = self._run
            if run is not None and not (
                run.is_broken or run.n_pages >= self._bounds.pages_per_browser
            ):
                return run
            self._run = None
            if run is not None and not run.n_open:
                await run.close()
            self._run = await self._start()
            return self._run

    async def _start(self) -> Any:
        from scrapy_playwright.handler import Config

        from dedup.scrapy.rendering.contexts import BrowserRun

        if self._proxy is None:
            self._proxy = FilteringProxy()
            await self._proxy.start()
        config = replace(
            Config.from_settings(self._settings),
            launch_options=launch_options(self._settings, self._bounds, self._proxy.url),
        )
        run = BrowserRun(config, self._proxy, self._make_reach, self._is_in_scope, self._bounds)
        try:
            await run.start()
        except BaseException:
            await run.close()
            raise
        return run

    def _make_reach(self) -> Reach:
        return Reach(self._policy, self._is_in_scope, max_bytes=self._bounds.max_bytes)


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
