"""Traps beside good pages: those come first and whole, and the traps stop at their budget."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import groups_of

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


def _refreshing(make: SimpleNamespace, numbers: Any) -> Any:
    def answer(handler: Any) -> bytes:
        number = int(handler.path.partition("=")[2]) + 1
        return f"<meta http-equiv=refresh content='0; url=/hop?at={number}'>{number}".encode()

    return answer


_TRAPS = [
    pytest.param("/calendar?year=2026", _calendar, id="calendar"),
    pytest.param("/shop?sid=0", _sessions, id="sessions"),
    pytest.param("/deep/in", _growing, id="growing paths"),
    pytest.param("/hop?at=0", _refreshing, id="meta refresh"),
]


def _set_trap(site: WebSite, prefix: str, answer: Any) -> None:
    """Answer everything below a prefix by a trap."""
    plain = site.answer

    def route(handler: Any) -> None:
        if handler.path.startswith(prefix):
            site.routes[handler.path] = answer
        plain(handler)

    site.answer = route  # type: ignore[method-assign]


@pytest.mark.slow
@pytest.mark.parametrize(("start", "trap"), _TRAPS)
def test_a_trap_on_another_host_comes_after_all_good_pages(
    start: str, trap: Any, crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    n_good, budget = 500, 60
    good = {f"/{number}": make.page(f"good {number}") for number in range(n_good)}
    site.routes = {**good, "/": make.page("start", *good)}
    prefix = start.partition("?")[0].removesuffix("/in")
    with make.WebSite() as other:
        order: list[str] = []
        answer = trap(make, count(1))

        def later(handler: Any) -> Any:
            while len(site.asked) < 20:  # the good pages are known by then
                time.sleep(0.01)
            return answer(handler)

        site.on_request = lambda _: order.append("good")
        other.on_request = lambda _: order.append("trap")
        _set_trap(other, prefix, later)
        trapped = other.url.replace("127.0.0.1", "localhost") + start.removeprefix("/")
        crawled = crawl("site", "-s", f"DEDUP_TRAP_PAGES={budget}", url=f"{site.url},{trapped}")
        n_trapped = sum(target.startswith(prefix) for target in other.asked)
    assert crawled.status == 0, crawled.output
    assert {*good, "/"} <= crawled.stored(site)
    assert crawled.stats["failed"]["trap"] > 0
    assert n_trapped < 420
    last_good = len(order) - order[::-1].index("good")
    # Sixteen requests are under way at once; what did not look like a trap took its turns.
    assert order[last_good:].count("trap") >= budget - 32, order


def test_a_budget_outlives_the_process(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    budget = 40
    year = datetime.now(UTC).year
    site.routes["/"] = make.page("start", f"/calendar?year={year}")
    _set_trap(site, "/calendar", _calendar(make, count()))

    def fetched() -> set[str]:
        far = year + 4  # from which on they are put off
        years = {target.partition("=")[2] for target in site.asked}
        return {number for number in years if number and int(number) >= far}

    options = ("-s", f"DEDUP_TRAP_PAGES={budget}")
    for n_before in (12, 24):
        crawling = crawl.start("site", *options, url=site.url, python=groups_of(5))
        while len(fetched()) < n_before and crawling.process.poll() is None:
            time.sleep(0.02)
        crawling.process.kill()
        crawling.finish()
    assert len(fetched()) < budget
    crawled = crawl("site", *options, url=site.url)
    assert crawled.status == 0, crawled.output
    assert len(fetched()) == budget
    assert crawled.stats["failed"]["trap"] > 0


def test_a_host_has_a_limit_of_pages(crawl: Crawler, site: WebSite, make: SimpleNamespace) -> None:
    good = {f"/{number}": make.page(f"good {number}") for number in range(30)}
    site.routes = {**good, "/": make.page("start", *good)}
    crawled = crawl("site", "-s", "DEDUP_HOST_PAGES=10", url=site.url)
    assert crawled.status == 0, crawled.output
    assert len(site.pages_asked()) == len(crawled.stored()) == 10
    assert crawled.stats["failed"] == {"host_pages": 21}
    assert "the limit set by DEDUP_HOST_PAGES" in crawled.output
    from dedup.cli import main

    assert not main(["retry", str(crawled.folder), "--reason", "host_pages"])
    again = crawl("site", "-s", "DEDUP_HOST_PAGES=15", url=site.url)
    assert len(site.pages_asked()) == len(again.stored()) == 15
    assert again.stats["failed"] == {"host_pages": 16}
    refreshed = crawl("site", "-s", "DEDUP_HOST_PAGES=15", url=site.url, refresh=1)
    assert refreshed.stats["refresh"]["unchanged"] == 15


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
    _set_trap(site, prefix, answer)
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
