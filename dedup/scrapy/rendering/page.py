"""Rendering one page: its markup comes from the crawl, everything else by the proxy."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urldefrag, urlsplit

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Request as BrowserRequest
from scrapy.http import Response

from dedup.scrapy.rendering.answers import Answers
from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.proxy import WARM_UP_URL
from dedup.scrapy.rendering.reach import IsInScope, Reach
from dedup.scrapy.rendering.record import Reason, Rendering, RenderingError, StoppedBy
from dedup.scrapy.rendering.shown import ShownDocument
from dedup.urls.routes import route_of

_NOT_PASSED_ON = {
    "connection", "content-disposition", "content-encoding", "content-length", "keep-alive",
    "transfer-encoding",
}  # fmt: skip
"""Headers of the answer that the crawl got which do not hold for its decoded body."""

_QUIET_SECONDS = 0.5
"""Without a request, after which a page counts as complete, as for Playwright; if its scripts rest,
too: on a busy machine they may not have run before."""

_LOOK_SECONDS = 0.2
"""Between looks at a page without text; one takes a millisecond."""

_BUSY_TIMES = 3
"""Where the markup took more than a second to be read, a page that never stops asking has so many
times as long: its host or this machine is slow."""

_INTERCEPTED = [
    {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"},
    {"urlPattern": "*", "resourceType": "Media", "requestStage": "Request"},
    {"urlPattern": "*/favicon.ico", "requestStage": "Request"},
]
"""Interception of all requests would switch the browser's cache off."""


class PageVisit:
    """One page in a tab of its own, in the browser context of its host.

    The browser shows the bytes that the crawl has fetched, so that the page is asked for once, and
    both readings are of the same version. Only this document may be the tab's: when a script, a
    form or a refresh would lead to another page, this is noted and not done, since whether that
    page may be fetched (robots.txt, scope, seen before) is for the crawl to decide.
    """

    def __init__(
        self,
        context: BrowserContext,
        reach: Reach,
        password: str,
        is_in_scope: IsInScope,
        bounds: Bounds,
        answers: Answers,
    ) -> None:
        self._context = context
        self._reach = reach
        self._password = password
        self._is_in_scope = is_in_scope
        self._bounds = bounds
        self._answers = answers
        self._page: Page | None = None
        self._frame = ""
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: set[str] = set()
        self._n_requests = self._n_loads = self._n_popups = 0
        self._leads_to: str | None = None
        self._kept: tuple[str, str] | None = None
        """The markup and the URL of a page that is being scrolled, as they were read last."""
        self._n_scrolls = 0
        self._stopped_by: StoppedBy | None = None
        self._parsed = asyncio.Event()
        self._in_flight: set[BrowserRequest] = set()
        self._changed = time.monotonic()

    async def warm_up(self) -> Page:
        """Let the context ask the proxy for its password; the tab that did it."""
        page, _ = await self._open(None)
        await page.goto(WARM_UP_URL)
        return page

    async def render(self, response: Response) -> tuple[str, str, Rendering]:
        """The markup of the rendered page, its URL, and the record of the rendering.

        A page that reaches a bound while it is scrolled is returned as it was before.

        Raises:
            RenderingError: a bound was reached, or the page cannot be shown.
            PlaywrightError: the browser has gone.
        """
        began = time.monotonic()
        self._reach.begin(response.url)
        self._answers.begin(response.url)
        self._reach.on_exhausted = lambda: self.fail(
            "too_large", f"more than {self._bounds.max_bytes} bytes passed"
        )
        self._context.on("page", self._close_popup)
        rendering = asyncio.ensure_future(self._render(response))
        try:
            html, url = await self._within_bounds(rendering)
        except RenderingError as error:
            if self._kept is None:
                raise
            html, url = self._kept
            self._stopped_by = error.reason
            self._answers.spoil()
        finally:
            rendering.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(rendering, *self._tasks, return_exceptions=True)
            self._context.remove_listener("page", self._close_popup)
            self._reach.on_exhausted = None
            self._failed.cancel()
        return html, url, self._record(time.monotonic() - began)

    async def _within_bounds(self, rendering: asyncio.Future[tuple[str, str]]) -> tuple[str, str]:
        try:
            async with asyncio.timeout(self._bounds.seconds):
                waiting: list[asyncio.Future[Any]] = [rendering, self._failed]
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                if self._failed.done():
                    self._failed.result()
                return await rendering
        except TimeoutError:
            raise RenderingError("timeout", f"{self._bounds.seconds:g} seconds") from None

    async def _render(self, response: Response) -> tuple[str, str]:
        page, session = await self._open(response)
        began = time.monotonic()
        try:
            await page.goto(response.url, wait_until="commit", timeout=0)  # the bound holds
            await self._parsed.wait()
            await self._settle(session, time.monotonic() - began)
        except PlaywrightError as error:
            if "net::" not in error.message:
                raise
            raise RenderingError("failed", error.message.partition("\n")[0]) from error
        document = await ShownDocument.of(session, self._bounds)
        if self._bounds.max_scrolls:
            await document.watch()
        html, url = await document.read()
        shown = html, self._shown_url(response.url, url)
        if self._bounds.max_scrolls:
            self._kept = shown
            await self._scroll(session, document, shown[1])
        if await document.keeps_data():
            self._answers.spoil()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return self._kept or shown

    async def _settle(self, session: CDPSession, taken: float = 0.0) -> None:
        """Wait until the page has asked for nothing for a while, for a few seconds at most.

        `taken`: seconds until its markup was read.
        """
        self._changed = time.monotonic()
        until = self._changed + max(self._bounds.idle_seconds, _BUSY_TIMES * taken)
        is_quiet = False
        while (now := time.monotonic()) < until:
            quiet = now - self._changed if not self._in_flight else 0.0
            is_quiet = quiet >= _QUIET_SECONDS and await self._rests(session)
            if is_quiet and not await self._is_empty(session):
                return
            left = _LOOK_SECONDS if is_quiet else max(_QUIET_SECONDS - quiet, 0.0)
            await asyncio.sleep(min(left, until - now))
        if not is_quiet:
            self._answers.spoil()  # it is read while it still asks

    async def _is_empty(self, session: CDPSession) -> bool:
        """Does it show hardly any text? A timer may bring its view without asking for anything."""
        with suppress(PlaywrightError):  # the page loads itself again
            return await (await ShownDocument.of(session, self._bounds)).is_empty()
        return True

    async def _rests(self, session: CDPSession) -> bool:
        """Let the page's scripts do what there is to do; have they asked for nothing?"""
        n_requests = self._n_requests
        try:
            await (await ShownDocument.of(session, self._bounds)).rest()
        except PlaywrightError:  # the page loads itself again
            self._changed = time.monotonic()
            return False
        return self._n_requests == n_requests

    async def _open(self, response: Response | None) -> tuple[Page, CDPSession]:
        await self._take_cookies(response)
        page = self._page = await self._context.new_page()
        page.on("request", self._count)
        page.on("requestfinished", self._note_answer)
        page.on("requestfailed", self._note_failed)
        page.on("websocket", self._answers.spoil)
        page.on("worker", self._answers.spoil)
        session = await self._context.new_cdp_session(page)
        tree = await session.send("Page.getFrameTree")
        frame = self._frame = tree["frameTree"]["frame"]["id"]
        session.on(
            "Fetch.requestPaused",
            lambda event: self._start(self._decide, session, event, frame, response),
        )
        session.on(
            "Fetch.authRequired", lambda event: self._start(self._authenticate, session, event)
        )
        session.on("Page.domContentEventFired", lambda _: self._parsed.set())
        session.on("Page.frameStoppedLoading", lambda event: self._note_stop(event, frame))
        await session.send("Page.enable")
        await session.send("Fetch.enable", {"handleAuthRequests": True, "patterns": _INTERCEPTED})
        await session.send("Page.setPrerenderingAllowed", {"isAllowed": False})
        return page, session

    async def _take_cookies(self, response: Response | None) -> None:
        """Give the browser the cookies that the crawl has sent."""
        if response is None or response.request is None:
            return
        header = (response.request.headers.get("Cookie") or b"").decode("latin-1")
        pairs = [pair.partition("=") for pair in header.split("; ") if "=" in pair]
        await self._context.add_cookies(
            [{"name": name, "value": value, "url": response.url} for name, _, value in pairs]
        )

    async def _decide(
        self, session: CDPSession, event: dict[str, Any], frame: str, response: Response | None
    ) -> None:
        """Answer the request for a document: the page's own, that of a frame, or another page."""
        request, number = event["request"], {"requestId": event["requestId"]}
        url = request["url"] + request.get("urlFragment", "")
        if event["resourceType"] != "Document":
            allowed = False
        elif event["frameId"] != frame or response is None:
            allowed = urlsplit(url).scheme in ("http", "https", "data", "blob", "about")
        elif request["method"] == "GET" and _same_page(url, response.url):
            self._n_loads += 1
            if self._kept is not None:
                pass  # what scrolling has brought would be lost
            elif self._n_loads > self._bounds.max_loads:
                self.fail("failed", "the page loads itself again and again")
            else:
                await session.send("Fetch.fulfillRequest", {**number, **_as_fulfilled(response)})
                return
            allowed = False
        else:
            self._leads_to = self._leads_to or url
            allowed = False
        if allowed:
            await session.send("Fetch.continueRequest", number)
        else:  # "Aborted" leaves the document that is shown
            await session.send("Fetch.failRequest", {**number, "errorReason": "Aborted"})

    async def _authenticate(self, session: CDPSession, event: dict[str, Any]) -> None:
        """Give the proxy its password, once for each request: a second try would fail, too."""
        answer: dict[str, str] = {"response": "CancelAuth"}
        is_first = event["requestId"] not in self._asked
        self._asked.add(event["requestId"])
        if is_first and event["authChallenge"].get("source") == "Proxy":
            answer = {
                "response": "ProvideCredentials",
                "username": self._password,
                "password": self._password,
            }
        await session.send(
            "Fetch.continueWithAuth",
            {"requestId": event["requestId"], "authChallengeResponse": answer},
        )

    async def _scroll(self, session: CDPSession, document: ShownDocument, url: str) -> None:
        """Ask the page for more until nothing new comes; it is kept as it is read last."""
        for _ in range(self._bounds.max_scrolls):
            if not (
                await self._brings_more(session, document, document.scroll)
                or await self._brings_more(session, document, document.press)
            ):
                return
            html, _ = await document.read()
            self._kept = html, url
            self._n_scrolls += 1
        self._stopped_by = "budget"

    async def _brings_more(
        self, session: CDPSession, document: ShownDocument, ask: Callable[[], Awaitable[bool]]
    ) -> bool:
        if not await ask():
            return False
        await self._settle(session)
        return await document.has_grown()

    def _shown_url(self, url: str, shown: str) -> str:
        """The page's URL; another one, if a script has named one of the same site for its state.

        At a route that a script has set, the page is another one, to which this one leads.
        """
        if _same_page(shown, url):
            if route_of(shown) not in ("", route_of(url)):
                self._leads_to = self._leads_to or shown
            return url
        if not self._is_in_scope(shown):
            raise RenderingError("refused", f"the page calls itself {shown}")
        return shown

    def _record(self, seconds: float) -> Rendering:
        return Rendering(
            seconds=seconds,
            n_requests=self._n_requests,
            n_bytes=self._reach.n_bytes,
            n_own=self._reach.n_own,
            third_parties=self._reach.third_parties,
            refused=self._reach.refused,
            data=self._answers.data,
            made_from=self._answers.made_from if self._n_loads == 1 else None,
            leads_to=self._leads_to,
            n_scrolls=self._n_scrolls,
            stopped_by=self._stopped_by,
        )

    # --- What the page does ----------------------------------------------------------------------

    def _note_stop(self, event: dict[str, Any], frame: str) -> None:
        """Note the end of the markup: a script that leads to another page cuts it off."""
        if event["frameId"] == frame and self._leads_to:
            self._parsed.set()

    def _count(self, request: BrowserRequest) -> None:
        self._in_flight.add(request)
        self._answers.ask(request)
        self._n_requests += 1
        if self._n_requests > self._bounds.max_requests:
            self.fail("too_many_requests", f"more than {self._bounds.max_requests}")

    def _note_end(self, request: BrowserRequest) -> None:
        self._in_flight.discard(request)
        self._changed = time.monotonic()

    def _note_failed(self, request: BrowserRequest) -> None:
        self._note_end(request)
        self._answers.fail(request)

    def _note_answer(self, request: BrowserRequest) -> None:
        self._note_end(request)
        if self._answers.is_wanted(request):
            self._start(self._answers.read, request)

    def _close_popup(self, page: Page) -> None:
        if page is self._page or self._page is None:
            return
        self._n_popups += 1
        if self._n_popups > self._bounds.max_popups:
            self.fail("failed", f"more than {self._bounds.max_popups} windows were opened")
        self._start(page.close)

    def note_crash(self, frame: str, *, is_for_memory: bool) -> None:
        """Note the end of the process that shows a frame."""
        if frame != self._frame:
            return
        if is_for_memory:
            self.fail("too_large", "its process took too much memory")
        else:
            self.fail("crashed", "the page's process has ended")

    def fail(self, reason: Reason, detail: str) -> None:
        """Let the rendering end with an error."""
        if not self._failed.done():
            self._failed.set_exception(RenderingError(reason, detail))

    def _start(self, call: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Run what an event asks for; a page that closes meanwhile needs no answer."""
        task = asyncio.ensure_future(_unless_closed(call, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _unless_closed(call: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    """Call it here: a coroutine made before would never be awaited if the task ends unstarted."""
    with suppress(PlaywrightError):
        await call(*arguments)


def _same_page(url: str, other: str) -> bool:
    return urldefrag(url).url == urldefrag(other).url


def _as_fulfilled(response: Response) -> dict[str, Any]:
    """The answer that the crawl got, for the browser."""
    headers = [
        {"name": name.decode("latin-1"), "value": value.decode("latin-1")}
        for name, values in response.headers.items()
        for value in values
        if name.decode("latin-1").lower() not in _NOT_PASSED_ON
    ]
    if "Content-Type" not in response.headers:
        headers.append({"name": "Content-Type", "value": "text/html"})
    return {
        "responseCode": 200,
        "responseHeaders": headers,
        "body": base64.b64encode(response.body).decode("ascii"),
    }
