"""One run of the browser: its driver, its processes, and a context for each host."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy_playwright.handler import Config
from scrapy_playwright.provider import PlaywrightBrowserProvider

from dedup.scrapy.rendering.answers import Answers, ScriptKey
from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.chromium import launch_options
from dedup.scrapy.rendering.driver import drivers, wait_for_end
from dedup.scrapy.rendering.memory import watch_memory
from dedup.scrapy.rendering.page import PageVisit
from dedup.scrapy.rendering.proxy import FilteringProxy
from dedup.scrapy.rendering.reach import IsInScope, Reach
from dedup.scrapy.rendering.record import Rendering, RenderingError

T = TypeVar("T")

_ANSWER_SECONDS = 60.0
"""For what the browser does by itself, such as to open or close a context; then it counts as dead.
It takes up to two seconds on a busy machine, and more than ten on one with a load of fifteen for
each processor, where another browser beside it would make things worse."""

_CLOSE_SECONDS = 10.0
"""For a browser to end in order; and for the answers of one that counts as dead."""

_IDLE_SECONDS = 60.0
"""Without a page, after which a context is closed."""


@dataclass(eq=False, slots=True)
class HostContext:
    """A browser context: cache, cookies and storage of one host; it shows one page at a time.

    Attributes:
        first_tab: which stays open, so that pages are tabs of one window: a window of its own takes
            as long as a page.
        scripts: digests of those that it has loaded.
    """

    host: str
    context: BrowserContext
    reach: Reach
    password: str
    first_tab: Page | None = None
    scripts: dict[ScriptKey, str] = field(default_factory=dict)
    used: float = 0.0


class BrowserRun:
    """Chromium from its start to its end.

    Attributes:
        n_pages: that were begun.
        n_open: that are being rendered.
        is_broken: has it ended, or does it not answer any more?
    """

    def __init__(
        self,
        settings: BaseSettings,
        bounds: Bounds,
        proxy: FilteringProxy,
        make_reach: Callable[[], Reach],
        is_in_scope: IsInScope,
    ) -> None:
        options = launch_options(settings, bounds, proxy.url)
        config = replace(Config.from_settings(settings), launch_options=options)
        self._provider = PlaywrightBrowserProvider(config)
        self._bounds = bounds
        self._proxy = proxy
        self._make_reach = make_reach
        self._is_in_scope = is_in_scope
        self._browser: Chromium | None = None
        self._idle: list[HostContext] = []
        self._visits: set[PageVisit] = set()
        self._watches: list[asyncio.Future[None]] = []
        self._is_unused = asyncio.Event()
        self._is_unused.set()
        self._n_ended = 0
        """Processes that have been ended for their memory, whose pages have not been told."""
        self.n_pages = self.n_open = 0
        self.is_broken = False

    async def start(self) -> None:
        """Start the browser.

        Raises:
            RenderingError: it does not start.
        """
        others = drivers()
        try:
            await self._provider.start()
            self._begin(wait_for_end(drivers() - others), self._note_driver)
            self._browser = await self._provider.launch_browser()
            self._browser.on("disconnected", self._note_end)
            session = await self._browser.new_browser_cdp_session()
            session.on("Target.targetCrashed", self._note_crash)
            await session.send("Target.setDiscoverTargets", {"discover": True})
        except PlaywrightError as error:
            await self.close()
            raise RenderingError("failed", f"Chromium does not start: {error.message}") from error
        watching = watch_memory(session, self._bounds.process_bytes, self._note_memory)
        self._begin(watching, self._note_watch)

    async def render(self, response: Response) -> tuple[str, str, Rendering]:
        """The markup of the rendered page, its URL, and the record of the rendering.

        Raises:
            RenderingError: see `PageVisit`.
        """
        self.n_pages += 1
        self.n_open += 1
        self._is_unused.clear()
        try:
            context = await self._answer(self._context(urlsplit(response.url).netloc, response))
            return await self._render(context, response)
        except RenderingError:
            raise
        except Exception as error:  # the error of a driver that has ended has no class of its own
            self.is_broken = True
            raise RenderingError("crashed", str(error).partition("\n")[0]) from error
        finally:
            self.n_open -= 1
            if not self.n_open:
                self._is_unused.set()

    async def close_unused(self) -> None:
        """End the browser when the pages that it renders now have ended."""
        await self._is_unused.wait()
        await self.close()

    async def close(self) -> None:
        """End the browser and its driver, in order if they answer."""
        self.is_broken = True
        for watch in self._watches:
            watch.cancel()
        for context in self._idle:
            self._proxy.remove(context.password)
        for close in (self._browser.close if self._browser else None, self._provider.close):
            with suppress(Exception):  # either may have gone, with whatever error
                async with asyncio.timeout(_CLOSE_SECONDS):
                    if close is not None:
                        await close()

    async def _render(self, context: HostContext, response: Response) -> tuple[str, str, Rendering]:
        visit = self._visit(context)
        is_sound = False
        self._visits.add(visit)
        try:
            rendered = await visit.render(response)
            is_sound = rendered[-1].stopped_by in (None, "budget")
            return rendered
        finally:
            self._visits.discard(visit)
            await self._put_back(context, is_sound=is_sound)

    async def _context(self, host: str, response: Response) -> HostContext:
        for context in reversed(self._idle):
            if context.host == host:
                self._idle.remove(context)
                return context
        while self._idle and len(self._idle) + self.n_open > self._bounds.max_contexts:
            await self._close_context(self._idle.pop(0))
        return await self._new_context(host, response)

    async def _new_context(self, host: str, response: Response) -> HostContext:
        if self._browser is None:
            raise RuntimeError("the browser must be started")
        options: dict[str, Any] = {}
        if response.request is not None and (agent := response.request.headers.get("User-Agent")):
            options["user_agent"] = agent.decode("latin-1")
        made = await self._browser.new_context(
            accept_downloads=False, service_workers="block", **options
        )
        reach = self._make_reach()
        context = HostContext(host, made, reach, self._proxy.add(reach))
        context.first_tab = await self._visit(context).warm_up()
        return context

    def _visit(self, context: HostContext) -> PageVisit:
        return PageVisit(
            context.context,
            context.reach,
            context.password,
            self._is_in_scope,
            self._bounds,
            Answers(self._is_in_scope, context.scripts),
        )

    async def _put_back(self, context: HostContext, *, is_sound: bool) -> None:
        """Keep the context for the host's next page, if its tabs can be closed."""
        if not is_sound:
            await self._close_context(context)
            return
        try:
            for page in context.context.pages:
                if page is not context.first_tab:
                    await self._answer(page.close())
        except Exception:  # noqa: BLE001 -- a driver that has ended has errors of its own
            await self._close_context(context)
            return
        context.used = time.monotonic()
        self._idle.append(context)
        while context.used - self._idle[0].used > _IDLE_SECONDS:
            await self._close_context(self._idle.pop(0))

    async def _close_context(self, context: HostContext) -> None:
        self._proxy.remove(context.password)
        with suppress(Exception):
            await self._answer(context.context.close())

    async def _answer(self, asked: Awaitable[T]) -> T:
        """What the browser answers; one that does not is broken."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS if self.is_broken else _ANSWER_SECONDS):
                return await asked
        except TimeoutError:
            self.is_broken = True
            raise RenderingError("crashed", "the browser does not answer") from None

    def _begin(
        self, watching: Coroutine[Any, Any, None], note: Callable[[asyncio.Future[None]], object]
    ) -> None:
        watch = asyncio.ensure_future(watching)
        watch.add_done_callback(note)
        self._watches.append(watch)

    def _note_driver(self, watch: asyncio.Future[None]) -> None:
        if not watch.cancelled():
            self._note_end(watch)

    def _note_watch(self, watch: asyncio.Future[None]) -> None:
        """Note the end of the driver, which only those learn that ask it for something."""
        if not watch.cancelled() and watch.exception() is not None:
            self._note_end(watch)

    def _note_memory(self) -> None:
        self._n_ended += 1

    def _note_crash(self, event: dict[str, Any]) -> None:
        """Tell the page: has its process been ended for its memory, or by somebody else?"""
        is_for_memory = event["status"] == "killed" and self._n_ended > 0
        self._n_ended -= is_for_memory
        for visit in self._visits:
            visit.note_crash(event["targetId"], is_for_memory=is_for_memory)

    def _note_end(self, _: object) -> None:
        self.is_broken = True
        for visit in self._visits:
            visit.fail("crashed", "the browser has ended")
