"""Pages that wait until enough is known of their site survive kills: the verdicts stay."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.accuracy.small_sites import two_templates, versions_of_a_manual
from tests.crawler.conftest import Crawled, Crawler, WebSite
from tests.with_constants import groups_of

pytestmark = pytest.mark.slow

_IN_ORDER = (  # one page after the other, so that each run meets them in the same order
    *("-s", "CONCURRENT_REQUESTS=1"),
    *("-s", "DEDUP_READ_PROCESSES=0"),
    *("-s", "DEDUP_REPORT_ENABLED=0"),
)


@pytest.fixture
def site() -> Iterator[WebSite]:
    pages = {**two_templates().pages, **versions_of_a_manual().pages}
    links = "".join(f"<a href=/{path}>{path}</a>" for path in pages)
    routes = {f"/{path}": html.encode() for path, html in pages.items()}
    with WebSite({"/": f"<title>All</title>{links}".encode(), **routes}) as running:
        yield running


def verdicts(crawled: Crawled) -> dict[str, list[Any]]:
    """What became of each URL, with the text that was stored, and what was learned."""
    pages = crawled.rows(
        "SELECT number, url, source, site_version, hex(text), hex(rest) FROM pages"
    )
    duplicates = crawled.rows("SELECT url, original, stage, resemblance FROM duplicates")
    sites = crawled.rows("SELECT host, hex(value) FROM sites")
    waiting = crawled.rows("SELECT url FROM waiting")
    return {
        "pages": sorted(pages),
        "duplicates": sorted(duplicates),
        "sites": sorted(sites),
        "waiting": waiting,
    }


def test_ten_kills_change_no_verdict(site: WebSite, tmp_path: Path) -> None:
    crawl = Crawler(tmp_path)
    whole = crawl("site", *_IN_ORDER, url=site.url, job="whole")
    assert whole.status == 0, whole.output
    choose = random.Random(11)
    for _ in range(10):
        n_asked = len(site.asked) + choose.randint(2, 12)
        started: Queue[Crawled] = Queue()

        def kill(_: str, n_asked: int = n_asked, started: Queue[Crawled] = started) -> None:
            if len(site.asked) == n_asked:
                started.get().process.send_signal(signal.SIGKILL)

        site.on_request = kill
        crawling = crawl.start("site", *_IN_ORDER, url=site.url, job="killed", python=groups_of(3))
        started.put(crawling)
        assert crawling.finish().status == -signal.SIGKILL
    site.on_request = lambda target: None
    killed = crawl("site", *_IN_ORDER, url=site.url, job="killed")
    assert killed.status == 0, killed.output
    assert verdicts(killed) == verdicts(whole)
    assert verdicts(whole)["waiting"] == []
    assert len(verdicts(whole)["sites"]) == 1
    killed.check_reconciled()


def test_waiting_pages_are_counted_at_every_stop(site: WebSite, tmp_path: Path) -> None:
    """At Ctrl-C and at `max_pages`, what waits is judged by what is known, or goes on waiting."""
    crawl = Crawler(tmp_path)
    options = (*_IN_ORDER, "-O", f"{tmp_path / 'feed.jsonl'}")
    for max_pages in (5, 9, 14, 20):
        crawled = crawl("site", *options, url=site.url, max_pages=max_pages)
        assert crawled.status == 0, crawled.output
        pages = crawled.stats["pages"]
        n_stored = len(crawled.rows("SELECT number FROM pages"))
        assert pages["waiting"] == len(crawled.rows("SELECT place FROM waiting")) == 0
        assert pages["unique"] == n_stored
        assert len((tmp_path / "feed.jsonl").read_text().splitlines()) == n_stored
