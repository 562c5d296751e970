"""The browser's proxy, asked as a browser asks it; the test resolves and connects."""

from __future__ import annotations

import asyncio
import base64

import pytest

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.rendering.proxy import WARM_UP_URL, FilteringProxy, Streams
from dedup.scrapy.rendering.reach import Reach
from tests.crawler.rendered import PUBLIC, Web

GET = "GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\n"

ANSWERS = [
    # request, is the user known, status
    (GET, False, 407),
    (f"GET {WARM_UP_URL} HTTP/1.1\r\n", False, 407),
    (f"GET {WARM_UP_URL} HTTP/1.1\r\n", True, 200),
    (GET, True, 200),
    ("CONNECT a.example:80 HTTP/1.1\r\n", True, 200),
    ("CONNECT a.example:443 HTTP/1.1\r\n", True, 502),  # no server
    ("CONNECT a.private.example:443 HTTP/1.1\r\n", True, 403),
    ("CONNECT 127.0.0.1:80 HTTP/1.1\r\n", True, 403),
    ("CONNECT 0x7f.1:80 HTTP/1.1\r\n", True, 403),
    ("CONNECT [::ffff:10.0.0.1]:80 HTTP/1.1\r\n", True, 403),
    ("CONNECT localhost:80 HTTP/1.1\r\n", True, 403),
    ("CONNECT www.google-analytics.com:443 HTTP/1.1\r\n", True, 403),
    ("GET ftp://a.example/ HTTP/1.1\r\n", True, 403),
    ("GET /x HTTP/1.1\r\nHost: a.example\r\n", True, 403),
    ("nonsense\r\n", True, None),
    ("GET http://[ HTTP/1.1\r\n", True, None),
    ("CONNECT a.example:99999 HTTP/1.1\r\n", True, None),
]


async def ask(
    request: str, *, is_known: bool, web: Web, reach: Reach, is_removed: bool = False
) -> bytes:
    """The proxy's answer; `is_removed`: the user, while the proxy connects for it."""

    async def connect(address: str, port: int) -> Streams:
        made: Streams = await web.connect(address, port)
        if is_removed:
            proxy.remove(name)
        return made

    proxy = FilteringProxy(resolve=web.resolve, connect=connect)
    await proxy.start()
    name = proxy.add(reach) if is_known else "unknown"
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    credentials = base64.b64encode(f"{name}:{name}".encode()).decode()
    writer.write(f"{request}Proxy-Authorization: Basic {credentials}\r\n\r\n".encode())
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await proxy.close()
    await web.close()
    return answer


def reach(max_bytes: int = 1000) -> Reach:
    return Reach(AddressPolicy(), lambda url: False, max_bytes=max_bytes)


@pytest.mark.parametrize(("request_", "is_known", "status"), ANSWERS)
def test_answers(request_: str, is_known: bool, status: int | None) -> None:
    web = Web()
    answer = asyncio.run(ask(request_, is_known=is_known, web=web, reach=reach()))
    assert (int(answer.split(b" ")[1]) if answer else None) == status
    assert set(web.connected) <= {PUBLIC}


def test_a_server_gets_no_password_and_one_request() -> None:
    web, counted = Web(), reach()
    answer = asyncio.run(ask(GET, is_known=True, web=web, reach=counted))
    assert web.asked == ["a.example/x?y"]
    assert b"proxy-" not in web.heads[0].lower()
    assert b"\r\nConnection: close\r\n" in answer
    assert answer.endswith(b"nothing")
    assert counted.third_parties == ("a.example",)
    assert counted.n_bytes > 7


def test_no_more_bytes_pass_than_allowed() -> None:
    web, counted = Web(), reach(max_bytes=200)
    web.routes["/x"] = ("text/plain", "a" * 1000)
    exhausted: list[bool] = []
    counted.on_exhausted = lambda: exhausted.append(True)
    answer = asyncio.run(ask(GET, is_known=True, web=web, reach=counted))
    assert b"aaa" not in answer
    assert exhausted


@pytest.mark.parametrize("request_", [GET, "CONNECT a.example:80 HTTP/1.1\r\n"])
def test_a_user_that_is_removed_while_its_connection_is_made_gets_nothing(request_: str) -> None:
    # A coroutine that is made and never awaited is an error of the test.
    web = Web()
    answer = asyncio.run(ask(request_, is_known=True, web=web, reach=reach(), is_removed=True))
    assert answer == b""
    assert web.connected == [PUBLIC]
