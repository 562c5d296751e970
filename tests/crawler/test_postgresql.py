"""Crawls whose job is in PostgreSQL: the same as in SQLite, for one process."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dedup.errors import StateError
from dedup.store import JobStore, open_store, summarise
from tests.with_constants import groups_of

pytestmark = pytest.mark.slow


def recorded_urls(store: JobStore) -> list[str]:
    """The URLs of all records: stored pages, dropped ones, and URLs that were skipped."""
    pages = (*store.exports.pages(), *store.exports.duplicates())
    return [*(row["url"] for row in pages), *(row.url for row in store.report.skipped())]


def options_of(place: str) -> tuple[str, dict[str, str]]:
    address, _, name = place.rpartition("#")
    return f"DEDUP_STORE={address}", {"job": name}


def test_demo_counts_as_in_sqlite(crawl: Any, new_place: Callable[[], str]) -> None:
    place = new_place()
    setting, job = options_of(place)
    found = crawl("demo", "-s", setting, **job)
    assert found.status == 0, found.output
    local = crawl("demo", job="local")
    (account,) = crawl.jobs_dir.glob(f"{job['job']}/*/stats.json")
    expected, counted = local.stats, json.loads(account.read_text())
    for part in ("pages", "bytes", "failed"):
        assert counted[part] == expected[part]
    assert counted["urls"]["filtered"] == expected["urls"]["filtered"]
    assert f"job: {place}" in found.output
    with open_store(place, read_only=True) as store:
        assert summarise(store)["pages"] == expected["pages"]
        assert store.meta("finished")


@pytest.fixture
def pages(site: Any, make: Any) -> Any:
    n_pages = 60
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(n_pages))
    site.routes["/"] = make.page("Start", links + make.prose(0))
    for n in range(n_pages):
        site.routes[f"/{n}"] = make.page(f"Page {n}", make.prose(n // 2 if n % 3 else n + 1000))
    return site


def test_crawl_goes_on_after_kills(crawl: Any, pages: Any, new_place: Callable[[], str]) -> None:
    place = new_place()
    setting, job = options_of(place)
    arguments = {"url": pages.url, **job}
    for at in (10, 30, 45):
        pages.on_request = Killer(at)
        running = crawl.start("site", "-s", setting, python=groups_of(5), **arguments)
        pages.on_request.process = running.process
        running.finish()
        assert running.process.returncode == -signal.SIGKILL
    pages.on_request = lambda target: None
    last = crawl("site", "-s", setting, **arguments)
    assert last.status == 0, last.output
    whole = crawl("site", job="local", url=pages.url)
    with open_store(place, read_only=True) as store:
        counts = summarise(store)
        urls = recorded_urls(store)
    assert max(Counter(urls).values()) == 1
    assert counts["pages"] == whole.stats["pages"]
    asked = Counter(pages.pages_asked())
    # For each kill: a group of 5, 16 requests under way, 16 pages that wait for their turn.
    assert sum(asked.values()) - len(asked) <= 3 * (5 + 16 + 16) + len(asked)  # and the local crawl


def test_redirects_lead_to_hosts_of_other_workers(
    crawl: Any, new_place: Callable[[], str], make: Any
) -> None:
    n_hosts, n_pages = 6, 16
    place = new_place()
    setting, job = options_of(place)
    with ExitStack() as stack:
        sites = [stack.enter_context(make.WebSite({}, f"127.0.0.{n + 2}")) for n in range(n_hosts)]
        expected = set()
        for site, other in zip(sites, [*sites[1:], sites[0]], strict=True):
            pages = {f"/{n}" for n in range(n_pages)} | {"/"}
            links = [*pages, *(f"/to/{n}" for n in range(n_pages))]
            for n in range(n_pages):
                to = f"{other.url}land/{n}"
                site.routes[f"/to/{n}"] = make.redirect(to)
                other.routes[f"/land/{n}"] = make.page(to)
                expected |= {f"{site.url}to/{n}", to}
            for each in pages:
                site.routes[each] = make.page(f"{site.url}{each}", *links)
                expected.add(site.url + each[1:])
        # Slow, so that both workers have hosts.
        options = ["-s", setting, "-s", "ROBOTSTXT_OBEY=0", "-s", "DOWNLOAD_DELAY=0.1"]
        arguments = {"url": ",".join(site.url for site in sites), **job}
        workers = [crawl.start("site", *options, **arguments) for _ in range(2)]
        for crawled in [worker.finish() for worker in workers]:
            assert crawled.status == 0, crawled.output
            assert "Traceback" not in crawled.output
        with open_store(place, read_only=True) as store:
            counts = summarise(store)
            urls = Counter(recorded_urls(store))
            failed = list(store.report.skipped())
        asked = Counter(site.url + target[1:] for site in sites for target in site.asked)
    assert failed == []
    assert asked.keys() == expected  # it says what is missing
    assert max(urls.values()) == 1
    assert counts["urls"]["queued"] == 0
    assert counts["pages"]["fetched"] == n_hosts * (1 + 2 * n_pages)


def test_pause_of_a_host_holds_for_who_goes_on(
    crawl: Any, pages: Any, new_place: Callable[[], str], make: Any
) -> None:
    place = new_place()
    setting, job = options_of(place)
    pages.routes["/7"] = make.Answer(b"Later.", 429, "text/plain", {"Retry-After": "50"})
    running = crawl.start("site", "-s", setting, "-s", "DOWNLOAD_DELAY=0.01", url=pages.url, **job)
    until = time.monotonic() + 120
    while _rests(place) < 20 and time.monotonic() < until:
        time.sleep(0.2)
    assert _rests(place) > 20  # as a sign of life has told
    running.process.send_signal(signal.SIGINT)
    crawled = running.finish()
    assert crawled.status == 0, crawled.output
    assert _rests(place) > 20


def _rests(place: str) -> float:
    """How long nobody else fetches from the host, seconds."""
    try:
        with open_store(place, read_only=True) as store:
            query = "SELECT extract(epoch FROM free_at - now())::double precision FROM hosts"
            return max((seconds for (seconds,) in store.database.all(query)), default=0.0)
    except StateError:  # there is no job yet
        return 0.0


class Killer:
    """Kills the crawl once its server has been asked so often."""

    def __init__(self, at: int) -> None:
        self.process: Any = None
        self._left = at

    def __call__(self, target: str) -> None:
        self._left -= 1
        if self._left <= 0 and self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            time.sleep(0.01)


def test_job_of_other_settings_or_another_url_is_refused(
    crawl: Any, pages: Any, new_place: Callable[[], str]
) -> None:
    setting, job = options_of(new_place())
    assert crawl("site", "-s", setting, url=pages.url, max_pages=3, **job).status == 0
    other = ("-s", "DEDUP_NEAR_RESEMBLANCE=0.9")
    refused = crawl("site", "-s", setting, *other, url=pages.url, **job)
    assert refused.status == 2
    assert "DEDUP_NEAR_RESEMBLANCE 0.8, now 0.9" in refused.output
    refused = crawl("site", "-s", setting, url="http://other.example/", **job)
    assert refused.status == 2
    assert "made with different settings: spider argument url" in refused.output


def test_max_pages_counts_the_pages_of_all_processes(
    crawl: Any, pages: Any, new_place: Callable[[], str]
) -> None:
    place = new_place()
    setting, job = options_of(place)
    for n in range(0, 60, 2):
        del pages.routes[f"/{n}"]  # errors do not count
    for max_pages in (5, 9):
        found = crawl("site", "-s", setting, url=pages.url, max_pages=max_pages, **job)
        assert found.status == 0, found.output
        with open_store(place, read_only=True) as store:
            assert store.stats.pages() == max_pages


def test_restart_keeps_the_old_job_beside_the_new_one(
    crawl: Any, pages: Any, new_place: Callable[[], str]
) -> None:
    place = new_place()
    setting, job = options_of(place)
    for _ in range(2):
        found = crawl("site", "-s", setting, url=pages.url, restart=1, max_pages=5, **job)
        assert found.status == 0, found.output
    assert f"was moved to {place}-old-1" in found.output
    for each in (place, f"{place}-old-1"):
        with open_store(each, read_only=True) as store:
            assert store.exports.count("pages") > 0


@pytest.mark.parametrize(
    ("store", "job", "said"),
    [
        ("mysql://me:secret@db/x", "a", "DEDUP_STORE must be postgresql://"),
        ("postgresql://me:secret@db/x#a", "a", "the job is named by -a job=NAME"),
        ("postgresql://me:secret@127.0.0.1:1/x", "a", "cannot be reached"),
        ("postgresql://me:secret@127.0.0.1:1/x", "A.b", "lower case letters, digits, _ and -"),
    ],
)
def test_unusable_store_is_one_sentence(crawl: Any, store: str, job: str, said: str) -> None:
    found = crawl("site", "-s", f"DEDUP_STORE={store}", url="http://a.example/", job=job)
    assert found.status == 2
    assert said in found.output
    assert "Traceback" not in found.output
    assert "secret" not in found.output


def test_password_is_in_no_log_and_no_account(
    crawl: Any, new_place: Callable[[], str], tmp_path: Path
) -> None:
    place = new_place().replace("crawler@", "crawler:secret@")
    setting, job = options_of(place)
    found = crawl("demo", "-s", setting, "-L", "DEBUG", **job)
    assert found.status == 0, found.output
    assert "secret" not in found.output
    (account,) = crawl.jobs_dir.glob(f"{job['job']}/*/stats.json")
    assert "secret" not in account.read_text()
    with open_store(place, read_only=True) as store:
        assert "secret" not in json.dumps(store.report.meta())
