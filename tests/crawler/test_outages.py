"""Hosts that go away in the middle of a crawl, for a while or for good."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow

N_PAGES = 80
FAST_CLOCK = Path(__file__).with_name("fast_clock.py")


def _dropped(handler: Any) -> None:
    handler.close_connection = True
    handler.connection.close()


@pytest.fixture
def failing(site: WebSite, make: SimpleNamespace) -> Any:
    """A site of 80 pages that drops all connections from the 20th request on, for `site.seconds`.

    `site.go_away()` has it do so once more.
    """
    began: list[float] = []
    site.seconds = 2.0  # type: ignore[attr-defined]
    n_asked = 0

    def go_away() -> None:
        nonlocal n_asked
        n_asked = 0
        began.clear()

    site.go_away = go_away  # type: ignore[attr-defined]

    def route(body: bytes) -> Any:
        def answer(handler: Any) -> Any:
            nonlocal n_asked
            n_asked += 1
            if n_asked == 20:
                began.append(time.monotonic())
            if began and time.monotonic() - began[0] < site.seconds:  # type: ignore[attr-defined]
                return _dropped(handler)
            return body

        return answer

    pages = {f"/{number}": make.page(f"page {number}") for number in range(N_PAGES)}
    site.routes = {target: route(body) for target, body in pages.items()}
    site.routes["/"] = route(make.page("start", *pages))
    site.routes["/robots.txt"] = route(b"User-agent: *\nDisallow: /none\n")
    return site


def test_outage_of_a_host_loses_no_page(crawl: Crawler, failing: Any) -> None:
    crawled = crawl("site", url=failing.url)
    assert crawled.status == 0
    assert len(crawled.stored()) == N_PAGES + 1
    assert crawled.skipped() == {}
    assert "is no longer reachable" in crawled.output
    assert "is reachable again after" in crawled.output


def test_unreachable_host_is_reported(crawl: Crawler, failing: Any) -> None:
    failing.seconds = 1e9
    crawled = crawl("site", "-s", "DEDUP_HOST_WAIT_SECONDS=4", url=failing.url)
    assert crawled.status == 1
    assert "giving up" in crawled.output
    assert f"dedup retry {crawled.folder} requeues them" in crawled.output
    failed = crawled.stats["failed"]
    assert failed["host_unreachable"] > 50
    assert len(crawled.stored()) + sum(failed.values()) == N_PAGES + 1
    failing.seconds = 0.0
    from dedup.cli import main

    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["retry", str(crawled.folder)]))
    assert not ended.value.code
    again = crawl("site", url=failing.url)
    assert (again.status, len(again.stored())) == (0, N_PAGES + 1)


def test_outages_of_minutes_lose_nothing(crawl: Crawler, failing: Any) -> None:
    """Of 300 seconds in a crawl and in a refresh, by a clock that runs 150 times as fast."""
    fast = (str(FAST_CLOCK), "150")
    crawled = crawl("site", url=failing.url, python=fast)
    assert crawled.status == 0, crawled.output
    assert len(crawled.stored()) == N_PAGES + 1
    assert crawled.skipped() == {}
    assert "is reachable again after" in crawled.output
    failing.go_away()
    again = crawl("site", url=failing.url, refresh=1, python=fast)
    assert again.status == 0, again.output
    assert "is reachable again after" in again.output
    assert len(again.stored()) == N_PAGES + 1
    assert again.stats["refresh"] == {"number": 1, "unchanged": N_PAGES + 1}


def test_refresh_of_unreachable_host_keeps_all_pages(crawl: Crawler, failing: Any) -> None:
    failing.seconds = 0.0
    assert crawl("site", url=failing.url).status == 0
    failing.go_away()
    failing.seconds = 1e9
    again = crawl("site", url=failing.url, refresh=1, python=(str(FAST_CLOCK), "300"))
    assert again.status == 1, again.output
    assert "giving up" in again.output
    assert len(again.stored()) == N_PAGES + 1
    refresh = again.stats["refresh"]
    assert refresh["failed"] > 50
    assert refresh["failed"] + refresh["unchanged"] == N_PAGES + 1
    assert f"visits that failed: {refresh['failed']};" in again.output
    failing.seconds = 0.0
    later = crawl("site", url=failing.url, refresh=1)
    assert later.status == 0
    assert later.stats["refresh"] == {"number": 2, "unchanged": N_PAGES + 1}


def test_single_failing_url_is_not_an_outage(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = {"/": make.page("start", "/1", "/2", "/3"), "/1": _dropped, "/2": _dropped}
    site.routes["/3"] = make.page("3")
    crawled = crawl("site", url=site.url)
    assert crawled.status == 0
    assert crawled.skipped(site) == {"/1": "connection_failed", "/2": "connection_failed"}
    assert "cannot be reached" not in crawled.output
