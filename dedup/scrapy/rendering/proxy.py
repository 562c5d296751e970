"""The only way from the browser to any server: a proxy on loopback, in the crawl's own process.

A page has too many ways to send a request for each to be watched in the browser: elements, scripts,
workers, frames, sockets, hints, redirects. So the browser resolves no names and opens no connection
but those to this proxy. It resolves each name itself, checks the addresses, and connects to one of
those that it has checked, so that a name cannot mean another address a moment later.
"""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from secrets import token_urlsafe
from urllib.parse import urlsplit

from dedup.scrapy.addresses import resolved_host
from dedup.scrapy.rendering.reach import Reach

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve = Callable[[str, int], Awaitable[list[str]]]
Connect = Callable[[str, int], Awaitable[Streams]]

WARM_UP_URL = "http://warm-up.invalid/"
"""Answered by the proxy itself: a browser context that has asked for it knows its password, for
which requests of workers and sockets could not ask."""

_CONNECT_SECONDS = 10.0
_MAX_HEAD_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_ASK_NAME = 'Proxy-Authenticate: Basic realm="crawl"'
_HOP_BY_HOP = (b"connection:", b"keep-alive:", b"proxy-")


class _NotAllowedError(Exception):
    pass


class FilteringProxy:
    """An HTTP proxy whose users are browser contexts; what each may reach is its `Reach`."""

    def __init__(self, *, resolve: Resolve | None = None, connect: Connect | None = None) -> None:
        self._resolve = resolve or _resolve
        self._connect = connect or asyncio.open_connection
        self._users: dict[str, Reach] = {}
        self._connections: dict[str, set[asyncio.StreamWriter]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start to listen, unless it does already."""
        if self._server is not None:
            return
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, limit=_MAX_HEAD_BYTES
        )

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("the proxy must be started")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        for name in list(self._users):
            self.remove(name)
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connections are closed in the next round of the loop

    def add(self, reach: Reach) -> str:
        """Make a user of the proxy; return its name, which is its password as well."""
        name = token_urlsafe(24)
        self._users[name] = reach
        self._connections[name] = set()
        return name

    def remove(self, name: str) -> None:
        """End a user, and its connections."""
        self._users.pop(name, None)
        for writer in self._connections.pop(name, ()):
            writer.transport.abort()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, ValueError, EOFError, asyncio.LimitOverrunError, TimeoutError):
            pass  # either end has gone, or what it sends is not HTTP
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; may another one follow on this connection?"""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
        name = _user_name(head)
        reach = self._users.get(name)
        if reach is None:
            writer.write(_reply("407 Proxy Authentication Required", _ASK_NAME))
            return True
        if target.startswith(WARM_UP_URL):
            writer.write(_reply("200 OK"))
            return True
        try:
            upstream = await self._open(reach, method, target)
        except _NotAllowedError:
            writer.write(_reply("403 Forbidden", "Connection: close"))
            return False
        except (OSError, TimeoutError):
            writer.write(_reply("502 Bad Gateway", "Connection: close"))
            return False
        await self._pass_on(name, reach, (reader, writer), upstream, head, method, target)
        return False

    async def _open(self, reach: Reach, method: str, target: str) -> Streams:
        """Connect to an address that the user may reach."""
        url = f"https://{target}/" if method == "CONNECT" else target
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise _NotAllowedError
        host, port = resolved_host(url), parts.port or 80
        if not reach.may_ask(parts.scheme, host, port):
            raise _NotAllowedError
        async with asyncio.timeout(_CONNECT_SECONDS):
            found = await self._resolve(host, port)
            allowed = [each for each in found if reach.may_use(parts.scheme, host, port, each)]
            if found and not allowed:
                raise _NotAllowedError
            for address in allowed:
                with suppress(OSError):
                    return await self._connect(address, port)
        raise OSError(f"cannot connect to {host}")

    async def _pass_on(
        self,
        name: str,
        reach: Reach,
        client: Streams,
        upstream: Streams,
        head: bytes,
        method: str,
        target: str,
    ) -> None:
        if name not in self._users:  # it was removed while the connection was made
            upstream[1].transport.abort()
            return
        writers = {client[1], upstream[1]}
        self._connections[name].update(writers)
        try:
            if method == "CONNECT":
                client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                answer = _pipe(upstream[0], client[1], reach)
            else:
                upstream[1].write(_for_server(head, method, target))
                answer = _pipe_answer(upstream[0], client[1], reach)
            await _until_either(answer, _pipe(client[0], upstream[1], reach))
        finally:
            upstream[1].transport.abort()
            self._connections.get(name, set()).difference_update(writers)


async def _until_either(answer: Awaitable[None], question: Awaitable[None]) -> None:
    """Run both until the answer has ended, or until the question cannot be passed on."""
    tasks = [asyncio.ensure_future(answer), asyncio.ensure_future(question)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not tasks[0].done() and tasks[1].exception() is None:
            await tasks[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pipe_answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reach: Reach
) -> None:
    """Pass on the answer to one request, and say that no other can follow on the connection."""
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        is_final = not head.split(b" ", 2)[1].startswith(b"1")
        if not reach.passed(len(head)):
            return
        writer.write(_closing(head.split(b"\r\n")[:-2]) if is_final else head)
        if is_final:
            break
    await _pipe(reader, writer, reach)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reach: Reach) -> None:
    while data := await reader.read(_CHUNK_BYTES):
        if not reach.passed(len(data)):
            raise EOFError("the page has passed all bytes that it may")
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def _for_server(head: bytes, method: str, target: str) -> bytes:
    """The head of a request as a server expects it: without its scheme and host."""
    parts = urlsplit(target)
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    lines = head.split(b"\r\n")[:-2]
    lines[0] = f"{method} {path}{query} HTTP/1.1".encode("ascii")
    return _closing(lines)


def _closing(lines: list[bytes]) -> bytes:
    kept = [line for line in lines[1:] if not line.lower().startswith(_HOP_BY_HOP)]
    return b"\r\n".join([lines[0], *kept, b"Connection: close", b"", b""])


def _user_name(head: bytes) -> str:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"proxy-authorization: basic "):
            with suppress(ValueError):
                user = base64.b64decode(line.split(b" ", 2)[2], validate=True)
                return user.partition(b":")[0].decode("ascii")
    return ""


def _reply(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Content-Length: 0", "", ""]).encode()


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
