"""`DEDUP_DUPLICATE_LINKS`: what no kept page links to comes last, or is recorded; nothing else."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.store.records import DUPLICATE_LINK_RANK
from tests.with_constants import groups_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawled, Crawler, WebSite

# Which of two copies comes first decides whose links are put off: so one request at a time.
_OPTIONS = ("-s", "DEDUP_REPORT_ENABLED=0", "-s", "DEDUP_READ_PROCESSES=0")
_IN_TURN = ("-s", "CONCURRENT_REQUESTS=1", "-s", "DEDUP_WAITING_PAGES=0")
_N = 20

_DROPS_COPIES = """
from scrapy.exceptions import DropItem

class DropsCopies:
    def process_item(self, item, spider=None):
        if "/copy/" in item.url:
            raise DropItem("a copy")
        return item
"""

KEPT = {"/", *(f"/page/{n}" for n in range(_N)), *(f"/shared/{n}" for n in range(_N)), "/copies"}
COPIES = {f"/copy/{n}" for n in range(_N)}
HIDDEN = {f"/hidden/{n}" for n in range(_N)} | {f"/deep/{n}" for n in range(_N)}
"""What copies alone lead to: each to a page, which leads to another."""


@pytest.fixture
def pages(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Pages, their copies with other links, and pages that the last page links to, too."""
    for n in range(_N):
        site.routes[f"/page/{n}"] = make.page(f"page {n}")
        site.routes[f"/copy/{n}"] = make.page(f"page {n}", f"/hidden/{n}", f"/shared/{n}")
        site.routes[f"/hidden/{n}"] = make.page(f"hidden {n}", f"/deep/{n}")
        site.routes[f"/deep/{n}"] = make.page(f"deep {n}")
        site.routes[f"/shared/{n}"] = make.page(f"shared {n}")
    site.routes["/copies"] = make.page("copies", *sorted(COPIES), "/last")
    site.routes["/last"] = make.page("last", *(f"/shared/{n}" for n in range(_N)))
    site.routes["/"] = make.page("start", *(f"/page/{n}" for n in range(_N)), "/copies")
    return site


def crawl_with(crawl: Crawler, site: WebSite, mode: str, *options: str, **more: Any) -> Crawled:
    setting = ("-s", f"DEDUP_DUPLICATE_LINKS={mode}")
    crawled = crawl("site", *setting, *_OPTIONS, *options, url=site.url, **more)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    return crawled


def left_out(crawled: Crawled, site: WebSite) -> set[str]:
    return {url for url, reason in crawled.skipped(site).items() if reason == "duplicate_link"}


def test_links_are_followed_as_any_other_by_default(crawl: Crawler, pages: WebSite) -> None:
    crawled = crawl("site", *_OPTIONS, *_IN_TURN, url=pages.url)
    assert crawled.stored(pages) == KEPT | HIDDEN | {"/last"}
    assert pages.pages_asked().index("/hidden/0") < pages.pages_asked().index("/last") + _N
    assert crawled.rows("SELECT max(rank) FROM urls")[0] < DUPLICATE_LINK_RANK


def test_defer_fetches_all_and_these_last(crawl: Crawler, pages: WebSite) -> None:
    crawled = crawl_with(crawl, pages, "defer", *_IN_TURN)
    assert crawled.stored(pages) == KEPT | HIDDEN | {"/last"}
    asked = pages.pages_asked()
    assert asked.count("/shared/0") == 1
    # What a page has that was put off itself is a link like others.
    assert {*asked[-2 * _N :]} == HIDDEN
    assert {*asked[: -2 * _N]} == KEPT | COPIES | {"/last"}


def test_skip_records_what_copies_alone_lead_to(
    crawl: Crawler, pages: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled = crawl_with(crawl, pages, "skip", *_IN_TURN)
    assert crawled.stored(pages) == KEPT | {"/last"}
    hidden = {url for url in HIDDEN if "hidden" in url}
    assert left_out(crawled, pages) == hidden
    assert crawled.stats["failed"] == {"duplicate_link": _N}
    assert not hidden & set(pages.asked)
    assert max(crawled.records().values()) == 1
    assert main(["why", str(crawled.folder), pages.url + "hidden/3"]) == 0
    assert "only dropped duplicates link to it" in capsys.readouterr().out


def test_a_limited_crawl_finds_more_pages_with_defer(crawl: Crawler, pages: WebSite) -> None:
    # From /copies on: its copies and /last, then what those lead to.
    found = {
        mode: crawl_with(crawl, pages, mode, *_IN_TURN, job=mode, max_pages=3 * _N + 3)
        for mode in ("follow", "defer")
    }
    reached = {mode: len(each.stored(pages) & KEPT) for mode, each in found.items()}
    assert reached["defer"] == len(KEPT)
    assert reached["follow"] < len(KEPT)


@pytest.fixture
def slow(site: WebSite, make: SimpleNamespace, crawl: Crawler) -> WebSite:
    """A site whose last page arrives once the links on the copy have been skipped."""

    def late(_: object) -> bytes:
        ends = time.monotonic() + 20
        while not skipped() and time.monotonic() < ends:
            time.sleep(0.05)
        return bytes(make.page("late", "/x"))

    def skipped() -> list[Any]:
        path = crawl.jobs_dir / "job" / "crawl.sqlite"
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT url FROM skipped").fetchall()
        finally:
            connection.close()

    site.routes["/"] = make.page("start", "/page")
    site.routes["/page"] = make.page("page", "/between")
    site.routes["/between"] = make.page("between", "/copy", "/late")
    site.routes["/copy"] = make.page("page", "/x", "/y")
    site.routes["/late"] = late
    site.routes["/x"], site.routes["/y"] = make.page("x"), make.page("y")
    return site


_BY_RULES = ("-s", "DEDUP_TEXT_EXTRACTOR=resiliparse")
_BY_ITSELF = groups_of(1)
"""Each page is committed by itself."""


def test_skipped_link_is_fetched_when_on_a_kept_page(crawl: Crawler, slow: WebSite) -> None:
    crawled = crawl_with(crawl, slow, "skip", *_BY_RULES, python=_BY_ITSELF)
    assert crawled.stored(slow) == {"/", "/page", "/between", "/late", "/x"}
    assert left_out(crawled, slow) == {"/y"}
    assert crawled.stats["failed"] == {"duplicate_link": 1}


def test_a_job_that_goes_on_otherwise_fetches_what_was_skipped(
    crawl: Crawler, slow: WebSite
) -> None:
    late = slow.routes["/late"]
    assert callable(late)

    def die(handler: Any) -> None:
        late(handler)
        running.process.kill()

    slow.routes["/late"] = die
    options = ("-s", "DEDUP_DUPLICATE_LINKS=skip", *_OPTIONS, *_BY_RULES)
    running = crawl.start("site", *options, url=slow.url, python=_BY_ITSELF)
    left = running.finish()
    assert left_out(left, slow) == {"/x", "/y"}
    slow.routes["/late"] = late
    crawled = crawl_with(crawl, slow, "follow", *_BY_RULES, python=_BY_ITSELF)
    assert crawled.stored(slow) == {"/", "/page", "/between", "/late", "/x", "/y"}
    assert crawled.stats["failed"] == {}


def test_waiting_page_is_not_yet_a_duplicate(
    crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    crawled = crawl_with(crawl, pages, "skip", "-s", "CONCURRENT_REQUESTS=1")
    assert crawled.stored(pages) >= KEPT | {"/last"}
    lost = {f"/hidden/{n}" for n in range(_N)} - set(pages.asked)
    assert left_out(crawled, pages) == lost
    assert crawled.stored(pages) == (KEPT | HIDDEN | {"/last"}) - lost - {
        url.replace("hidden", "deep") for url in lost
    }


@pytest.mark.parametrize("mode", ["defer", "skip"])
def test_kills_change_nothing(mode: str, crawl: Crawler, pages: WebSite) -> None:
    options = ("-s", f"DEDUP_DUPLICATE_LINKS={mode}", *_OPTIONS, *_IN_TURN)
    for n_before in (30, 50, 65):  # copies, what kept pages lead to, what copies lead to
        running = crawl.start("site", *options, url=pages.url, python=groups_of(3))
        while len(set(pages.asked)) < n_before and running.process.poll() is None:
            time.sleep(0.005)
        running.process.kill()
        running.finish()
    crawled = crawl_with(crawl, pages, mode, *_IN_TURN)
    assert max(crawled.records().values()) == 1
    whole = crawl_with(crawl, pages, mode, *_IN_TURN, job="whole")
    assert crawled.stored(pages) == whole.stored(pages)
    assert crawled.skipped(pages) == whole.skipped(pages)


def test_retry_fetches_what_was_skipped(crawl: Crawler, pages: WebSite) -> None:
    crawled = crawl_with(crawl, pages, "skip", *_IN_TURN)
    assert main(["retry", str(crawled.folder), "--reason", "duplicate_link"]) == 0
    crawled = crawl_with(crawl, pages, "skip", *_IN_TURN)
    assert crawled.stored(pages) == KEPT | HIDDEN | {"/last"}


def test_why_explains_a_waiting_link(
    crawl: Crawler, pages: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled = crawl_with(crawl, pages, "defer", *_IN_TURN, max_pages=3 * _N + 3)
    (url, *_) = crawled.rows(f"SELECT url FROM urls WHERE rank >= {DUPLICATE_LINK_RANK}")
    assert main(["why", str(crawled.folder), url]) == 0
    said = capsys.readouterr().out
    assert "deferred to the end of the crawl" in said
    assert "only dropped duplicates link to it" in said


def test_page_dropped_by_another_pipeline_is_not_a_duplicate(
    crawl: Crawler, pages: WebSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "drops_copies.py").write_text(_DROPS_COPIES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pipelines = 'ITEM_PIPELINES={"drops_copies.DropsCopies": 150}'
    crawled = crawl_with(crawl, pages, "skip", *_IN_TURN, "-s", pipelines)
    assert crawled.stored(pages) == KEPT | HIDDEN | {"/last"}


def test_processes_that_share_a_job_follow_links(
    crawl: Crawler, pages: WebSite, new_place: Callable[[], str]
) -> None:
    address = new_place().partition("#")[0]
    options = ("-s", f"DEDUP_STORE={address}", "-s", "DEDUP_DUPLICATE_LINKS=defer")
    crawled = crawl("site", *options, url=pages.url)
    assert crawled.status == 2
    assert 'DEDUP_DUPLICATE_LINKS must be "follow"' in crawled.output
