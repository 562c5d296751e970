"""`DEPTH_LIMIT`: what it leaves out is counted, and fetched once a higher limit allows it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dedup.cli import main

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


@pytest.fixture
def chain(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Each page links to the next, from / to /5; /1 to two that lead nowhere."""
    site.routes |= {f"/{number}": make.page(f"{number}", f"/{number + 1}") for number in range(5)}
    site.routes |= {"/": make.page("start", "/1"), "/1": make.page("1", "/2", "/2?x", "/0")}
    site.routes |= {target: make.page(target) for target in ("/5", "/2?x", "/0")}
    return site


def test_a_raised_limit_is_followed_by_a_finished_job(crawl: Crawler, chain: WebSite) -> None:
    first = crawl("site", "-s", "DEPTH_LIMIT=1", url=chain.url)
    assert first.status == 0, first.output
    assert first.stored(chain) == {"/", "/1"}
    assert first.stats["urls"]["too_deep"] == 3
    assert first.stats["urls"]["seen"] == 2
    assert "excluded by DEPTH_LIMIT: 3 URLs; rerun with a higher limit" in first.output
    chain.asked.clear()
    same = crawl("site", "-s", "DEPTH_LIMIT=1", url=chain.url)
    assert "nothing is fetched and feeds are unchanged" in same.output
    assert chain.pages_asked() == []
    raised = crawl("site", "-s", "DEPTH_LIMIT=3", url=chain.url, feed=True)
    assert raised.status == 0, raised.output
    assert sorted(chain.pages_asked()) == ["/0", "/2", "/2?x", "/3"]
    assert raised.stats["urls"]["too_deep"] == 1
    assert raised.stored(chain) == {"/", "/1", "/0", "/2", "/2?x", "/3"}
    raised.check_reconciled()
    chain.asked.clear()
    unlimited = crawl("site", url=chain.url)
    assert chain.pages_asked() == ["/4", "/5"]
    assert unlimited.stats["urls"]["too_deep"] == 0
    assert "DEPTH_LIMIT" not in unlimited.output


def test_what_a_shorter_way_leads_to_later_is_fetched(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    has_left_out = threading.Event()

    def late(handler: object) -> bytes:
        has_left_out.wait(10)
        return bytes(make.page("late", "/x"))

    site.routes |= {
        "/": make.page("start", "/late", "/1"),
        "/late": late,
        "/1": make.page("1", "/2", "/3", "/4"),
        "/2": make.page("2", "/x"),  # it is read before /4 is asked for
        **{target: make.page(target) for target in ("/3", "/4", "/x")},
    }
    site.on_request = lambda target: has_left_out.set() if target == "/4" else None
    options = ("-s", "DEPTH_LIMIT=2", "-s", "CONCURRENT_REQUESTS=2", "-s", "LOG_LEVEL=INFO")
    crawled = crawl("site", *options, url=site.url)
    assert "'dedup/url/too_deep': 1" in crawled.output
    assert crawled.stored(site) == {"/", "/late", "/1", "/2", "/3", "/4", "/x"}
    assert crawled.stats["urls"]["too_deep"] == 0


def test_why_explains_a_too_deep_url(
    crawl: Crawler, chain: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled = crawl("site", "-s", "DEPTH_LIMIT=1", url=chain.url)
    assert main(["why", str(crawled.folder), f"{chain.url}2"]) == 0
    assert "excluded by DEPTH_LIMIT" in capsys.readouterr().out
