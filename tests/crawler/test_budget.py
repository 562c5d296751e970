"""Pages made to hold a crawl up, among good ones."""

from __future__ import annotations

import signal
import time
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from benchmarks.measurements.hostile_pages import PAGES

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("processes", ["auto", "0"])
def test_pages_that_took_minutes_are_read_or_recorded(
    processes: str, crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    n_good = 20
    hostile = {
        "/options": b"<select>" + b"<option>a" * 400_000,
        "/attributes": b"<p %s>" % b" ".join(b"a%d=1" % n for n in range(10_000)) * 50,
        "/tags": b"<i><p>" * 1_000_000,
        "/ligatures": b"<p>" + "\ufdfa".encode() * 3_000_000,
        "/links": b"".join(b"<a href=/none/%d>x</a>" % n for n in range(60_000)),
    }
    good = {f"/{number}": make.page(f"good {number}") for number in range(n_good)}
    site.routes = {**good, **hostile}
    hrefs = [target for pair in zip(good, [*hostile] * 4, strict=True) for target in pair]
    site.routes["/"] = make.page("start", *hrefs)
    options = ("-s", f"DEDUP_READ_PROCESSES={processes}", "-s", "DEDUP_READ_CPU_SECONDS=2")
    crawled = crawl("site", *options, url=site.url, deny="/none/")
    assert crawled.status == 0, crawled.output
    assert set(good) < crawled.stored(site)
    skipped = crawled.skipped(site)
    assert (skipped["/tags"], skipped["/ligatures"]) == ("too_complex", "too_complex")
    assert {*crawled.stored(site), *crawled.skipped(site)} == set(site.routes)
    details = dict(crawled.rows("SELECT url, detail FROM skipped"))
    assert details[f"{site.url}tags"] == "2,000,000 tags; the limit is 1,000,000"
    assert "takes" in details[f"{site.url}ligatures"]
    assert "no longer usable" not in crawled.output
    assert "10000 links beyond the first" in crawled.output


def test_a_crawl_with_every_kind_of_hostile_page_stores_all_good_ones(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """The same with 2,000 good pages: benchmarks/measurements/hostile_mix.py."""
    good = [f"/{number}.html" for number in range(200)]
    hostile = {f"/bad-{n}.html": body(300_000) for n, body in enumerate(PAGES.values())}
    links = [*good]
    for number, target in enumerate(hostile):
        links.insert(12 * number, target)
    site.routes = {target: make.page(f"good {target}") for target in good} | hostile
    site.routes["/"] = make.page("start", *links)
    crawled = crawl("site", url=site.url, deny=r"/x?\d+$")
    assert crawled.status == 0, crawled.output
    assert {"/", *good} <= crawled.stored(site)
    recorded = {"/" + url.removeprefix(site.url) for url in crawled.records()}
    assert recorded == {"/", *good, *hostile}
    assert set(crawled.records().values()) == {1}


def test_a_host_whose_pages_are_beyond_their_budgets_is_given_up_and_no_other(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    good = [f"/{number}.html" for number in range(30)]
    site.routes = {target: make.page(f"good {target}") for target in good}
    site.routes["/"] = make.page("start", *good)
    body = b"<" * 1_000_001
    with make.WebSite(address="127.0.0.2") as hostile:
        bad = {f"/bad-{chr(97 + n // 26)}{chr(97 + n % 26)}": body for n in range(200)}
        hostile.routes = {**bad, "/": make.page("hostile start", *bad)}
        crawled = crawl("site", url=f"{site.url},{hostile.url}")
        assert crawled.status == 0, crawled.output
        assert {"/", *good} <= crawled.stored(site)
        reasons = Counter(crawled.skipped(hostile)[target] for target in bad)
        assert reasons.keys() == {"too_complex", "host_too_complex"}
        assert 50 <= reasons["too_complex"] <= 140  # with those that wait to be read
        assert len(hostile.pages_asked()) == reasons["too_complex"] + 1
    assert crawled.stats["failed"] == {"host_too_complex": reasons["host_too_complex"]}
    assert crawled.output.count("50 more of its pages were too complex than were read") == 1


@pytest.mark.parametrize("target", ["/", "/first"])
def test_a_crawl_can_be_stopped_while_a_page_is_read(
    target: str, crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """The page was read in the event loop where it was the first one."""
    site.routes["/"] = make.page("start", "/first")
    site.routes[target] = b"<select>" + b"<option>a" * 100_000 + b"<i><p>" * 300_000
    crawling = crawl.start("site", url=site.url)
    while target not in site.asked:
        time.sleep(0.05)
    time.sleep(0.5)
    began = time.monotonic()
    crawling.process.send_signal(signal.SIGINT)
    crawling.finish()
    assert time.monotonic() - began < 15
