"""What a job that is stopped, restarted or broken does with its files."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dedup.store.lock import lock
from tests.with_constants import groups_of, with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, Crawling, WebSite

_SIZE = 60


@pytest.fixture
def tree(site: WebSite, make: SimpleNamespace) -> WebSite:
    for number in range(_SIZE):
        children = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < _SIZE]
        site.routes[f"/{number}"] = make.page(str(number), *children, "/0")
    site.routes["/"] = make.page("start", "/0")
    return site


def _send_when_asked(
    site: WebSite, crawling: Crawling, target: str, *signals: signal.Signals
) -> Crawled:
    """Send the signals once `target` has been asked for, the second when the first has arrived."""
    asked = threading.Event()
    site.on_request = lambda found: asked.set() if found == target else None
    if target not in site.asked:
        assert asked.wait(120)
    for is_second, number in enumerate(signals):
        if is_second:
            crawling.process.read_until("Received SIGINT")
        os.kill(crawling.process.pid, number)
    crawled = crawling.finish(timeout=45)  # what is silent is so for minutes
    site.on_request = lambda found: None
    return crawled


def test_feed_of_resumed_job_has_each_page_once(crawl: Crawler, tree: WebSite) -> None:
    crawling = crawl.start("site", feed=True, url=tree.url, python=groups_of(7))
    killed = _send_when_asked(tree, crawling, "/40", signal.SIGKILL)
    feed = crawl.jobs_dir / "job.jsonl"
    with feed.open("ab") as file:  # one of another crawl, and a torn one
        file.write(b'{"id": 1, "url": "http://example.org/"}\n{"id": 2, "url": "http://exa')
    assert len(killed.rows("SELECT url FROM pages")) < _SIZE
    resumed = crawl("site", feed=True, url=tree.url)
    resumed.check_reconciled()  # the feed's pages are the store's
    assert len(resumed.feed_rows()) == _SIZE + 1
    fields = {tuple(row) for row in resumed.feed_rows()}
    assert len(fields) == 1
    assert {row["depth"] for row in resumed.feed_rows()} == set(range(7))
    before = feed.read_bytes()
    crawl("site", feed=True, url=tree.url)  # finished: fetches nothing
    assert feed.read_bytes() == before


@pytest.mark.parametrize("spider", ["site", "sitemap"])
def test_a_kill_loses_no_link_of_the_last_page_that_was_recorded(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, spider: str
) -> None:
    for number in range(6):
        site.routes[f"/{number}"] = make.page(str(number), f"/{number + 1}")
    site.routes |= {"/": make.page("start", "/0"), "/6": make.page("the last one")}
    listed = "".join(f"<url><loc>{site.url}{number}</loc></url>" for number in range(7))
    sitemap = f"<urlset>{listed}</urlset>".encode()
    site.routes["/sitemap.xml"] = make.Answer(sitemap, content_type="text/xml")
    crawling = crawl.start(spider, url=site.url, python=groups_of(1))

    def kill(target: str) -> None:
        if target == "/2":
            os.kill(crawling.process.pid, signal.SIGKILL)

    site.on_request = kill
    assert crawling.finish().status != 0
    site.on_request = lambda target: None
    resumed = crawl(spider, url=site.url)
    assert {f"/{number}" for number in range(7)} <= {*resumed.stored(site)}


def test_feed_that_cannot_resume_names_the_remedy(crawl: Crawler, tree: WebSite) -> None:
    crawl("site", url=tree.url, max_pages=5)
    csv = crawl.jobs_dir / "pages.csv"
    crawled = crawl("site", "-o", str(csv), url=tree.url, max_pages=9)
    assert f"gets only the pages of this run. For all pages: dedup export {crawled.folder}" in (
        crawled.output
    )


def test_restart_keeps_the_job_that_was_there(crawl: Crawler, tree: WebSite) -> None:
    first = crawl("site", url=tree.url, max_pages=5)
    again = crawl("site", url=tree.url, max_pages=3, restart=1)
    kept = crawl.jobs_dir / "job.old-1"
    assert f"The previous job was moved to {kept}" in again.output
    assert json.loads((kept / "stats.json").read_text())["pages"]["unique"] == 5
    assert again.stats["pages"]["unique"] == 3
    crawl("site", url=tree.url, max_pages=1, restart=1)
    assert (crawl.jobs_dir / "job.old-2" / "crawl.sqlite").exists()
    assert first.folder == again.folder


def test_a_job_in_use_is_not_moved_by_a_restart(crawl: Crawler, tree: WebSite) -> None:
    crawl("site", url=tree.url, max_pages=5)
    held = lock(crawl.jobs_dir / "job" / "crawl.sqlite")
    refused = crawl("site", url=tree.url, restart=1)
    held.release()
    assert refused.status == 2
    assert f"is in use by another process (pid {os.getpid()})" in refused.output
    assert not (crawl.jobs_dir / "job.old-1").exists()


@pytest.fixture
def hanging(tree: WebSite) -> Iterator[WebSite]:
    """Three pages that do not come for ten minutes."""
    release = threading.Event()
    for target in ("/20", "/21", "/22"):
        tree.routes[target] = lambda handler: release.wait(600) and None
    yield tree
    release.set()


def test_first_ctrl_c_does_not_wait_for_a_silent_server(crawl: Crawler, hanging: WebSite) -> None:
    crawling = crawl.start("site", "-s", "DOWNLOAD_TIMEOUT=600", url=hanging.url)
    stopped = _send_when_asked(hanging, crawling, "/20", signal.SIGINT)
    assert stopped.status == 0
    assert "Traceback" not in stopped.output
    assert stopped.stats["reason"] == "shutdown"
    stopped.check_reconciled()
    queued = stopped.rows("SELECT url FROM urls WHERE state = 0")
    assert f"{hanging.url}20" in queued
    assert stopped.skipped() == {}  # none of those that were let go counts as failed


def test_ctrl_c_releases_waiting_requests_quietly(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{number}" for number in range(20)]
    site.routes |= {"/": make.page("/", *names), **{name: make.page(name) for name in names}}
    crawling = crawl.start("site", "-s", "DOWNLOAD_DELAY=2", url=site.url)
    stopped = _send_when_asked(site, crawling, "/0", signal.SIGINT)
    assert stopped.stats["reason"] == "shutdown"
    assert "Traceback" not in stopped.output
    assert "destroyed" not in stopped.output
    assert stopped.skipped() == {}
    stopped.check_reconciled()
    assert len(site.pages_asked()) < 4
    resumed = crawl("site", url=site.url)
    assert resumed.stored(site) == {"/", *names}
    assert len(site.pages_asked()) == len(set(site.pages_asked()))  # each was fetched once


def test_second_ctrl_c_ends_at_once_and_keeps_what_was_recorded(
    crawl: Crawler, hanging: WebSite
) -> None:
    slow = with_constants({"extensions.stopping.STOP_SECONDS": 60, "job.place._GROUP_SECONDS": 60})
    crawling = crawl.start("site", "-s", "LOG_LEVEL=INFO", url=hanging.url, python=slow)
    stopped = _send_when_asked(hanging, crawling, "/20", signal.SIGINT, signal.SIGINT)
    assert "Traceback" not in stopped.output
    # 21 pages were asked for, and at most 16 (CONCURRENT_REQUESTS) of them are under way.
    assert len(stopped.stored(hanging)) >= 5


def test_full_disk_stops_the_crawl_in_a_sentence_and_it_goes_on(
    crawl: Crawler, tree: WebSite
) -> None:
    # A limit on the size of files stands for the disk's: SQLite meets both in the same place.
    limited = (str(Path(__file__).with_name("small_disk.py")), "400000", *groups_of(3))
    stopped = crawl("site", url=tree.url, python=limited)
    assert stopped.status == 1
    assert "crawl.sqlite: the store cannot be read or written" in stopped.output
    assert "Fix this, then rerun the same command" in stopped.output
    assert len(stopped.output.splitlines()) <= 3
    _check_integrity(stopped.folder)
    stored = stopped.stored(tree)
    assert 0 < len(stored) < _SIZE
    resumed = crawl("site", url=tree.url)
    assert resumed.status == 0, resumed.output
    assert resumed.stored(tree) == {"/", *(f"/{number}" for number in range(_SIZE))}
    assert set(resumed.records().values()) == {1}


def _check_integrity(folder: Path) -> None:
    connection = sqlite3.connect(folder / "crawl.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
