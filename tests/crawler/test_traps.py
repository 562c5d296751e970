"""Traps beside good pages: those come first and whole, and the traps stop at their budget."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

N_GOOD = 40


def _calendar(make: SimpleNamespace, numbers: Any) -> Any:
    def answer(handler: Any) -> bytes:
        month = int(handler.path.partition("=")[2])
        links = [f"/calendar?year={month + more}" for more in (1, 2)]
        return bytes(make.page(f"year {month}", *links))

    return answer


def _sessions(make: SimpleNamespace, numbers: Any) -> Any:
    def answer(handler: Any) -> bytes:
        links = [f"/shop?sid={next(numbers)}" for _ in range(3)]
        return bytes(make.page("shop", *links))

    return answer


def _growing(make: SimpleNamespace, numbers: Any) -> Any:
    def answer(handler: Any) -> bytes:
        path = handler.path.rstrip("/")
        return bytes(make.page(f"at {path}", f"{path}/in", f"{path}/out"))

    return answer


@pytest.mark.parametrize(
    ("start", "prefix", "trap"),
    [
        ("/calendar?year=2026", "/calendar", _calendar),
        ("/shop?sid=0", "/shop", _sessions),
        ("/deep/in", "/deep", _growing),
    ],
    ids=["calendar", "sessions", "growing paths"],
)
def test_a_trap_comes_last_and_to_an_end(
    start: str, prefix: str, trap: Any, crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    answer = trap(make, count(1))
    good = {f"/{number}": make.page(f"good {number}") for number in range(N_GOOD)}
    chain = [f"/chain/{number}" for number in range(N_GOOD)]
    for target, following in zip(chain, [*chain[1:], "/"], strict=True):
        good[target] = make.page(target, following)
    site.routes = {**good, "/": make.page("start", start, *list(good)[:N_GOOD], chain[0])}
    plain = site.answer

    def route(handler: Any) -> None:
        if handler.path.startswith(prefix):
            site.routes[handler.path] = answer
        plain(handler)

    site.answer = route  # type: ignore[method-assign]
    crawled = crawl("site", "-s", "DEDUP_TRAP_PAGES=20", url=site.url)
    assert crawled.status == 0, crawled.output
    assert set(good) <= crawled.stored(site)
    trapped = [target for target in site.asked if target.startswith(prefix)]
    assert len(trapped) < 400
    assert "trap" in crawled.stats["failed"]
    assert "looks like a trap" in crawled.output


def test_a_page_of_200_cookies_costs_no_other(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    sizes: list[int] = []

    def start(handler: Any) -> None:
        body = make.page("start", *(f"/{number}" for number in range(20)))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Set-Cookie", "kept=1")
        for number in range(200):
            handler.send_header("Set-Cookie", f"c{number}={'x' * 4000}")
        handler.end_headers()
        handler.wfile.write(body)

    def linked(handler: Any) -> Any:
        sizes.append(len(handler.headers["Cookie"] or ""))
        assert "kept=1" in handler.headers["Cookie"]
        if sizes[-1] > 8190:
            return make.Answer(b"", 400)
        return make.page(handler.path)

    site.routes = {f"/{number}": linked for number in range(20)}
    site.routes["/"] = start
    crawled = crawl("site", url=site.url)
    assert len(crawled.stored()) == 21
    assert max(sizes) <= 8000
