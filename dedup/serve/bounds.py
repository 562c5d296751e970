"""What the server grants clients: who may ask, how much, how long, and how many at a time."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_BODY_BYTES = 4 << 20
MAX_TEXT_CHARACTERS = 1_000_000
MAX_URL_CHARACTERS = 8_192
MAX_BATCH = 256

_MAX_ANSWERING = 512
"""Requests in flight."""

_MAX_READ_BYTES = 128 << 20
"""Bodies of all requests in flight."""

MAX_CONNECTIONS = 1_024
SECONDS = 15.0
"""For a request's head, for its body, and for the answer."""

_LOOPBACK = frozenset(["127.0.0.1", "localhost", "::1"])


class Refused(Exception):  # noqa: N818 -- what the client gets, not what went wrong here
    """A request that is not answered: its status, and why in one sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def is_loopback(host: str) -> bool:
    return host in _LOOPBACK


class Guard:
    """Middleware: refuses who may not ask, and requests beyond the bounds.

    Without a token, the address is loopback's. A page in a browser on this machine could ask there,
    too, by a name of its own that leads to 127.0.0.1: so `Host` must be loopback's, and so must
    `Origin`, if there is one.
    """

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self._app = app
        self._token = None if token is None else token.encode()
        self._answering = 0
        self._read_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._answering += 1
        body = _Body(receive, self._may_read)
        has_begun = False

        async def send_on(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            self._check(request := Request(scope))
            declared = request.headers.get("content-length", "")
            _check_size(float(declared) if declared.isdecimal() else 0)
            async with asyncio.timeout(2 * SECONDS):
                await self._app(scope, body.receive, send_on)
        except ClientDisconnect:  # before it had sent all
            pass
        except Refused as refused:
            if not has_begun:
                await refusal(refused)(scope, receive, send)
        except TimeoutError:
            late = Refused(503, f"No answer within {2 * SECONDS:g} seconds.")
            if not has_begun:
                await refusal(late)(scope, receive, send)
        finally:
            self._answering -= 1
            self._read_bytes -= body.size_bytes

    def _check(self, request: Request) -> None:
        if self._answering > _MAX_ANSWERING:
            raise Refused(503, "Too many requests at a time: ask again in a second.")
        if self._token is not None:
            kind, _, given = request.headers.get("authorization", "").partition(" ")
            is_right = secrets.compare_digest(given.strip().encode("latin-1"), self._token)
            if not (is_right and kind.lower() == "bearer"):
                raise Refused(401, "Authorization must be Bearer and the token of this server.")
            return
        headers = request.headers
        if not all(map(_names_loopback, headers.getlist("host") or [""])):
            raise Refused(403, "Host must be 127.0.0.1, localhost or [::1].")
        is_own = headers.get("origin", (own := f"http://{headers['host']}")) == own
        if not is_own or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, "Pages of other origins may not ask.")

    def _may_read(self, size_bytes: int) -> bool:
        self._read_bytes += size_bytes
        return self._read_bytes <= _MAX_READ_BYTES


def _names_loopback(host: str) -> bool:
    """Is a `Host` header this machine's, with a port or without?"""
    try:
        parts = urlsplit(f"//{host}")
        return parts.netloc == host and parts.port != 0 and is_loopback(parts.hostname or "")
    except ValueError:  # no port, or no address
        return False


def _check_size(size_bytes: float) -> None:
    if size_bytes > MAX_BODY_BYTES:
        raise Refused(413, f"The body must have at most {MAX_BODY_BYTES:,} bytes.")


class _Body:
    """The body of a request, as it arrives, within its bounds."""

    def __init__(self, receive: Receive, may_read: Callable[[int], bool]) -> None:
        self._receive = receive
        self._may_read = may_read
        self._end = asyncio.get_running_loop().time() + SECONDS
        self._is_complete = False
        self.size_bytes = 0

    async def receive(self) -> Message:
        if self._is_complete:  # then it waits for the client to disconnect
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            raise Refused(408, f"The body took more than {SECONDS:g} seconds.") from None
        size_bytes = len(message.get("body", b""))
        self.size_bytes += size_bytes
        may_read = self._may_read(size_bytes)
        _check_size(self.size_bytes)
        if not may_read:
            raise Refused(503, "Too much is being asked at a time: ask again in a second.")
        self._is_complete = not message.get("more_body", False)
        return message


def refusal(refused: Refused) -> JSONResponse:
    """The answer to a request that is refused."""
    headers = {"Connection": "close"} if refused.status in (408, 413) else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if refused.status == 503:
        headers["Retry-After"] = "1"
    return JSONResponse({"error": str(refused)}, refused.status, headers)


class BoundedProtocol(HttpToolsProtocol):
    """HTTP that ends a connection whose next request's head does not arrive in time.

    What is no HTTP is refused in JSON, as all else.
    """

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def on_message_begin(self) -> None:
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        body = bytes(JSONResponse({"error": msg}).body)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        status = b"HTTP/1.1 400 Bad Request\r\n"
        self.transport.write(b"%b%bconnection: close\r\n\r\n%b" % (status, head.encode(), body))
        self.transport.close()

    def _expect_head(self) -> None:
        self._stop_waiting()
        self._head = self.loop.call_later(SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._head is not None:
            self._head.cancel()
