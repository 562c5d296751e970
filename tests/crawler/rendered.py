"""A browser whose proxy resolves and connects by the test: nothing leaves the machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.utils.test import get_crawler

from dedup.scrapy.rendering.browser import Browser
from dedup.scrapy.rendering.chromium import find_program
from dedup.scrapy.rendering.proxy import FilteringProxy

if TYPE_CHECKING:
    from dedup.scrapy.rendering.bounds import Bounds


def has_chromium() -> bool:
    with suppress(ValueError):
        find_program({})
        return True
    return False


needs_chromium = pytest.mark.skipif(not has_chromium(), reason="Chromium is not installed")

PUBLIC, PRIVATE = "93.184.216.34", "10.0.0.7"


class Web:
    """All names and addresses that the proxy knows; public ones are answered by `routes`.

    Names that end in "private.example" have a private address; those that end in
    "rebinding.example" a public one at first, then that of this machine.
    """

    def __init__(self) -> None:
        self.routes: dict[str, tuple[str, str]] = {}
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.resolved: list[str] = []
        self.connected: list[str] = []
        self.on_ask: Callable[[str], object] = lambda path: None
        self._starting = asyncio.Lock()
        self._server: asyncio.Server | None = None

    async def resolve(self, host: str, port: int) -> list[str]:
        is_again = host in self.resolved
        self.resolved.append(host)
        if host.endswith("rebinding.example") and is_again:
            return ["127.0.0.1"]
        if host[0].isdigit() or ":" in host:
            return [host]
        return [PRIVATE if host.endswith("private.example") else PUBLIC]

    async def connect(self, address: str, port: int) -> Any:
        self.connected.append(address)
        if address != PUBLIC or port != 80:
            raise OSError("there is no server")
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return await asyncio.open_connection(*self._server.sockets[0].getsockname())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        except EOFError:
            writer.close()
            return
        head = self.heads[-1].decode("latin-1")
        path = head.split(" ")[1]
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        self.asked.append(f"{host}{path}")
        self.on_ask(path)
        kind, body = self.routes.get(path.partition("?")[0], ("text/plain", "nothing"))
        status = "200 OK" if kind != "redirect" else f"302 Found\r\nLocation: {body}"
        cors = "Access-Control-Allow-Origin: *\r\nCache-Control: no-store"
        length = f"Content-Length: {len(body.encode())}"
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{cors}\r\n{length}\r\n\r\n".encode()
            + body.encode()
        )
        writer.close()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        await asyncio.sleep(0)


class Rendered:
    """A browser in a thread of its own, for tests that are not coroutines."""

    def __init__(self, bounds: Bounds) -> None:
        self.web = Web()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        crawler = get_crawler(settings_dict={"DEDUP_ALLOW_PRIVATE": False})
        proxy = FilteringProxy(resolve=self.web.resolve, connect=self.web.connect)
        self.browser = self.run(_made(crawler, bounds, proxy))

    def render(self, html: str, url: str = "http://site.example/", **headers: str) -> HtmlResponse:
        rendered: HtmlResponse = self.run(self.browser.render(response(html, url, **headers)))
        return rendered

    def render_all(self, pages: dict[str, str]) -> list[Any]:
        """Pages at the same time, by URL: their responses or errors."""

        async def render() -> list[Any]:
            coming = [self.browser.render(response(html, url)) for url, html in pages.items()]
            return await asyncio.gather(*coming, return_exceptions=True)

        found: list[Any] = self.run(render())
        return found

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(300)

    def close(self) -> None:
        self.run(self.browser.close())
        self.run(self.web.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _made(crawler: Any, bounds: Bounds, proxy: FilteringProxy) -> Browser:
    return Browser(crawler, bounds, proxy)


def response(html: str, url: str, **headers: str) -> HtmlResponse:
    named = {"Content-Type": "text/html; charset=utf-8"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request(url, headers={"User-Agent": "a crawler"})
    return HtmlResponse(url, headers=named, body=html.encode(), request=request)


def descendants(process: int) -> dict[int, str]:
    """The command lines of the processes that a process has started, and theirs, by number."""
    found = {}
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has just ended
            for child in map(int, children.read_text().split()):
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
                found |= descendants(child)
    return found


def is_running(process: int) -> bool:
    """Is it a process that has not ended, whether or not somebody has waited for it?"""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
