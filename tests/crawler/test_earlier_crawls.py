"""Pages that earlier crawls have: dropped with their page as the original."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.store import open_store, summarise

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


def names(*every: str) -> dict[str, str]:
    return {f"/{name}": name for name in every}


def published(make: SimpleNamespace, pages: dict[str, str]) -> dict[str, Any]:
    """A start page, new in each state of the site, and pages of these contents."""
    start = make.page(f"start of {' '.join(pages.values())}", *pages)
    return {"/": start, **{target: make.page(content) for target, content in pages.items()}}


def targets(rows: list[str], site: WebSite) -> set[str]:
    return {"/" + url.removeprefix(site.url) for url in rows}


def test_pages_of_earlier_crawls_are_dropped_and_named(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    site.routes = published(make, names("a", "b"))
    first = crawl("site", url=site.url, job="first")
    site.routes = published(make, names("c", "d"))
    second = crawl("site", url=site.url, job="second")
    # /a has the same page, /b another one, /moved that of /c in the second crawl.
    now = {"/a": "a", "/b": "changed", "/moved": "c", "/again": "changed"}
    site.routes = published(make, now)
    baseline = f"{first.folder},{second.folder / 'crawl.sqlite'}"
    one = ("-s", "CONCURRENT_REQUESTS=1")  # of two copies the first to arrive is stored
    found = crawl("site", *one, "-s", f"DEDUP_BASELINE={baseline}", url=site.url, job="third")
    assert found.status == 0, found.output
    found.check_reconciled()
    assert found.stored(site) == {"/", "/b"}
    assert found.stats["pages"]["skipped"] == {"earlier_crawl": 2}
    assert "duplicates: in an earlier crawl" in found.output
    dropped = "SELECT url, job, original_url FROM earlier ORDER BY url"
    assert found.rows(dropped) == [
        (f"{site.url}a", str(first.folder), f"{site.url}a"),
        (f"{site.url}moved", str(second.folder / "crawl.sqlite"), f"{site.url}c"),
    ]
    assert targets(found.rows("SELECT url FROM duplicates"), site) == {"/again"}

    with open_store(found.folder, read_only=True) as store:
        exported = {row["url"]: row for row in store.exports.duplicates()}
        assert store.exports.count("earlier") == 2
    assert exported[f"{site.url}moved"]["duplicate_of_url"] == f"{site.url}c"
    assert exported[f"{site.url}moved"]["duplicate_of_job"].endswith("second/crawl.sqlite")
    assert exported[f"{site.url}again"]["duplicate_of_job"] is None

    told = command("pair", found.folder, f"{site.url}moved", f"{site.url}c")
    assert "a duplicate" in told
    assert "an earlier crawl" in command("pair", found.folder, f"{site.url}a", f"{site.url}a")
    shutil.rmtree(second.folder)
    told = command("why", found.folder, f"{site.url}moved")
    assert "dropped, found by body" in told
    assert f"{site.url}c (page " in told
    assert f"of {second.folder / 'crawl.sqlite'}, an earlier crawl" in told


def command(*given: object) -> str:
    command = [sys.executable, "-m", "dedup.cli", *map(str, given)]
    environment = {**os.environ, "COLUMNS": "400"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def test_jobs_that_cannot_be_compared_are_refused_in_a_sentence(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = published(make, names("a"))
    first = crawl("site", "-s", "DEDUP_SIMHASH_CHINESE=segments", url=site.url, job="first")
    assert first.status == 0

    def refused(*settings: str) -> str:
        options = [each for setting in settings for each in ("-s", setting)]
        found = crawl("site", *options, url=site.url, job="new")
        assert found.status == 2
        assert "Traceback" not in found.output
        return found.output

    told = refused(f"DEDUP_BASELINE={first.folder}")
    assert "segments" in told
    assert "or leave it out of DEDUP_BASELINE" in told
    same = f"DEDUP_BASELINE={first.folder},{first.folder / 'crawl.sqlite'}"
    assert "must name each job once" in refused(same, "DEDUP_SIMHASH_CHINESE=segments")
    itself = f"DEDUP_BASELINE={crawl.jobs_dir / 'new'}"
    assert "must name each job once, and not that of the crawl" in refused(itself)
    assert "job not found" in refused(f"DEDUP_BASELINE={crawl.jobs_dir / 'absent'}")


def test_a_job_goes_on_with_the_same_earlier_crawls_alone(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = published(make, names("a", "b"))
    first = crawl("site", url=site.url, job="first")
    baseline = "-s", f"DEDUP_BASELINE={first.folder}"
    arguments = {"url": site.url, "job": "new"}
    site.routes = published(make, names(*"abcdefgh"))
    stopped = crawl("site", *baseline, max_pages=4, **arguments)
    assert stopped.stats["reason"] == "max_pages"
    other = crawl("site", **arguments)
    assert other.status == 2
    assert "DEDUP_BASELINE" in other.output
    whole = crawl("site", *baseline, **arguments)
    assert whole.stored(site) == {"/", "/c", "/d", "/e", "/f", "/g", "/h"}
    assert whole.skipped(site) == {"/a": "earlier_crawl", "/b": "earlier_crawl"}
    # What was dropped is judged again by a refresh.
    site.routes = published(make, {**names(*"acdefgh"), "/b": "b, changed"})
    again = crawl("site", *baseline, refresh=1, **arguments)
    assert again.status == 0, again.output
    assert again.skipped(site) == {"/a": "earlier_crawl"}
    assert "/b" in again.stored(site)


def test_links_on_pages_of_earlier_crawls_are_followed(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = published(make, names("a"))
    first = crawl("site", url=site.url, job="first")
    site.routes["/a"] = make.page("a, changed", "/new")
    site.routes["/new"] = make.page("new")
    options = "-s", f"DEDUP_BASELINE={first.folder}", "-s", "DEDUP_DUPLICATE_LINKS=skip"
    found = crawl("site", *options, url=site.url, job="second")
    assert found.skipped(site) == {"/": "earlier_crawl"}
    assert found.stored(site) == {"/a", "/new"}


@pytest.mark.slow
def test_shared_jobs_have_earlier_crawls_and_are_some(
    crawl: Crawler,
    make: SimpleNamespace,
    new_place: Callable[[], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By two processes, then in PostgreSQL on top of it, then by two processes on top of both."""
    place = new_place()
    address, _, name = place.rpartition("#")
    jobs = [str(crawl.jobs_dir / "first"), place, str(crawl.jobs_dir / "third")]
    stores = "DEDUP_PROCESSES=2", f"DEDUP_STORE={address}", "DEDUP_PROCESSES=2"
    with ExitStack() as stack:
        hosts = (f"127.0.0.{number + 2}" for number in range(3))
        sites = [stack.enter_context(make.WebSite(None, host)) for host in hosts]
        urls = ",".join(site.url for site in sites)
        for at, texts in enumerate(("ab", "bcd", "ade")):
            for site in sites:
                own = f"{site.url} {at // 2}"  # new in the third state
                site.routes = published(make, {**names(*texts), "/own": own})
            settings = stores[at], f"DEDUP_BASELINE={','.join(jobs[:at])}", "ROBOTSTXT_OBEY=0"
            given = [each for setting in settings for each in ("-s", setting)]
            found = crawl("site", *given, url=urls, job=name if at == 1 else Path(jobs[at]).name)
            assert (found.status, "Traceback" in found.output) == (0, False), found.output
    assert outcomes(jobs[0]) == (
        {"": 3, "a": 1, "b": 1, "own": 3},
        {("a", None): 2, ("b", None): 2},
    )
    assert outcomes(jobs[1]) == (
        {"": 3, "c": 1, "d": 1},
        {("b", jobs[0]): 3, ("own", jobs[0]): 3, ("c", None): 2, ("d", None): 2},
    )
    assert outcomes(jobs[2]) == (
        {"": 3, "e": 1, "own": 3},
        {("a", jobs[0]): 3, ("d", jobs[1]): 3, ("e", None): 2},
    )
    with open_store(jobs[2], read_only=True) as store:
        rows = {row["url"]: row["duplicate_of_url"] for row in store.exports.duplicates()}
    url = f"{sites[0].url}d"
    for command_of in (["why", jobs[2], url], ["pair", jobs[2], url, rows[url]]):
        assert main(command_of) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "an earlier crawl" in told
        assert f"#{name}" in told


def outcomes(job: str) -> tuple[dict[str, int], dict[tuple[str, str | None], int]]:
    """How many pages of each path are stored, and how many were dropped for a page of which job."""
    with open_store(job, read_only=True) as store:
        stored = Counter(row["url"].rpartition("/")[2] for row in store.exports.pages())
        dropped = Counter(
            (row["url"].rpartition("/")[2], row["duplicate_of_job"])
            for row in store.exports.duplicates()
        )
        pages = summarise(store)["pages"]
    assert pages["unique"] == stored.total()
    assert pages["fetched"] == stored.total() + dropped.total()
    return stored, dropped


@pytest.mark.slow
def test_two_crawls_are_equal_to_one_of_all(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Several crawls have one baseline, which goes on meanwhile; one of them is killed."""
    old = {f"/old/{n}": f"text {n}" for n in range(30)}
    new = {f"/new/{n}": f"text {n // 2 + 20}" for n in range(40)}  # 20 to 39, each twice
    site.routes = published(make, old)
    first = crawl("site", url=site.url, job="first")
    options = "-s", f"DEDUP_BASELINE={first.folder}"
    site.routes = published(make, new)
    running = sqlite3.connect(first.folder / "crawl.sqlite")  # as a crawl that goes on has it
    running.execute("PRAGMA journal_mode = WAL")
    running.execute("INSERT INTO counters VALUES ('test', 1)")
    running.commit()
    begun = [crawl.start("site", *options, url=site.url, job=f"job-{n}") for n in range(2)]
    fetched = iter(range(30))
    site.on_request = lambda _: None if next(fetched, None) is not None else kill()
    killed = begun[0]

    def kill() -> None:
        site.on_request = lambda _: None
        os.kill(killed.process.pid, signal.SIGKILL)

    whole = begun[1].finish()
    killed.finish()
    resumed = crawl("site", *options, url=site.url, job="job-0")
    running.close()
    for found in (whole, resumed):
        assert found.status == 0, found.output
        found.check_reconciled()
        texts = found.rows("SELECT text FROM pages")
        assert len(texts) == len(set(texts)) == 1 + 10  # the start page, and 30 to 39
        assert found.stats["pages"]["skipped"] == {"earlier_crawl": 20}
        assert sum(found.stats["pages"]["duplicates"].values()) == 10
        settings = json.loads(Path(found.folder, "stats.json").read_text(encoding="utf-8"))
        assert settings["settings"]["DEDUP_BASELINE"] == str(first.folder)
