"""What a crawl leaves in its job's folder when it ends, and what the report's advice is worth."""

from __future__ import annotations

import shlex
from types import SimpleNamespace
from typing import TYPE_CHECKING

from dedup.store import SqliteStore
from dedup.url_patterns.suggestions import duplicate_patterns

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite


def test_report_is_written_when_the_crawl_ends(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = {"/": make.page("home", "/a"), "/a": make.page("home")}
    done = crawl("site", url=site.url)
    report = (done.folder / "report.html").read_text(encoding="utf-8")
    assert f"2 fetched = {done.stats['pages']['unique']} kept" in " ".join(report.split())
    assert done.stats["pages"]["fetched"] == 2


def test_unwritable_report_is_only_a_warning(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = {"/": make.page("home")}
    folder = crawl.jobs_dir / "job"
    (folder / "report.html").mkdir(parents=True)
    done = crawl("site", url=site.url)
    assert done.status == 1  # something to look at
    assert done.output.count("WARNING") == 1
    assert "the report of" in done.output
    done.check_reconciled()


def test_report_can_be_switched_off(crawl: Crawler, site: WebSite, make: SimpleNamespace) -> None:
    site.routes = {"/": make.page("home")}
    done = crawl("site", "-s", "DEDUP_REPORT_ENABLED=0", url=site.url)
    assert not (done.folder / "report.html").exists()


def test_the_proposed_setting_saves_the_fetches(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """A shop that gives every link another visit number."""
    visits = iter(range(1_000))

    def show(name: str, *names: str) -> object:
        return lambda _: make.page(name, *(f"/{n}?visit={next(visits)}" for n in names))

    names = ("tea", "pots", "cups", "about")
    pages = {f"/{name}": show(name, *names) for name in names}
    site.routes = Visited({"/": show("home", *names), **pages})
    before = crawl("site", url=site.url, max_pages=60, job="before")
    pattern = top_pattern(before)
    assert (pattern.kind, pattern.detail, pattern.lost) == ("parameter", "visit", 0)
    assert pattern.setting == "-s DEDUP_URL_RULES=drop:visit"

    after = crawl("site", *shlex.split(pattern.setting), url=site.url, max_pages=60, job="after")
    assert after.stats["pages"]["unique"] == before.stats["pages"]["unique"] == 5
    assert after.stats["pages"]["fetched"] == 5
    assert before.stats["pages"]["fetched"] - pattern.saved == 5


class Visited(dict[str, object]):
    """Routes that are found without their visit number."""

    def get(self, target: str, default: object = None) -> object:
        return super().get(target.partition("?")[0], default)


def top_pattern(done: Crawled) -> object:
    store = SqliteStore(done.folder / "crawl.sqlite", read_only=True)
    try:
        return duplicate_patterns(store)[0]
    finally:
        store.close()
