"""Crawls killed while a URL rule is proposed, trusted and unlearned end as any other."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from benchmarks.measurements.url_rules_crawl import PlantedSite, page, serve

if TYPE_CHECKING:
    from tests.faults.conftest import Job

_N = 250
_OPTIONS = (
    *("-s", "DEDUP_REPORT_ENABLED=0"),
    *("-s", "DEDUP_READ_PROCESSES=0"),
    *("-s", "DEDUP_STORE_GROUP_PAGES=5"),
    *("-s", "DEDUP_URL_LEARNING_LOSS=0.02"),
)


class LateSite(PlantedSite):
    """Pages with second URLs. Where the rule breaks, those on the last list, which is found late,
    show pages of their own."""

    def __init__(self, *, breaks: bool) -> None:
        super().__init__("parameter", _N, 0.0, 0)
        self.before_answer: Callable[[], None] = lambda: None
        for target in filter(lambda target: "?" in target, self.lists[-1] if breaks else ()):
            self.shown[target] = f"own {target}"

    def answer(self, target: str) -> bytes | str | None:
        self.before_answer()
        lists = [f"/list/{place}" for place in range(len(self.lists))]
        links = {"/": [*lists[:-1], "/deep/1"], "/deep/1": ["/deep/2"], "/deep/2": lists[-1:]}
        return page(target, links[target]) if target in links else super().answer(target)


@pytest.fixture
def planted() -> Iterator[Callable[..., tuple[LateSite, str]]]:
    running = []

    def plant(*, breaks: bool) -> tuple[LateSite, str]:
        site = LateSite(breaks=breaks)
        running.append(serve(site))
        return site, f"http://127.0.0.1:{running[-1].server_address[1]}/"

    yield plant
    for server in running:
        server.shutdown()
        server.server_close()


def _kill_at(stage: str, site: LateSite, job: Job, options: Sequence[str]) -> bool:
    """Crawl; SIGKILL before the first answer after a rule's stage. False: it ended before."""
    process = job.start(*options)
    site.before_answer = lambda: process.kill() if _stage(job) == stage else None
    process.communicate()
    site.before_answer = lambda: None
    return process.returncode == -signal.SIGKILL


def _stage(job: Job) -> str:
    """The stage of the rule, as it was committed."""
    try:
        rows = job.rows("SELECT value FROM url_rules WHERE name = 'drop:ref'")
    except sqlite3.OperationalError:  # there is no job yet
        return ""
    found = [re.search('"stage": "(.*?)"', value) for (value,) in rows]
    return found[0][1] if found and found[0] else ""


def _fates(job: Job) -> dict[str, set[str]]:
    """Names of stored pages, and URLs by what became of them, each recorded once."""
    queries = {
        "fetched": "SELECT url FROM pages UNION ALL SELECT url FROM duplicates",
        "skipped": "SELECT url FROM skipped",
    }
    rows = {name: [url for (url,) in job.rows(query)] for name, query in queries.items()}
    assert max(Counter(rows["fetched"] + rows["skipped"]).values()) == 1
    assert job.rows("SELECT count(*) FROM urls WHERE state = 0") == [(0,)]
    names = {name for (name,) in job.rows("SELECT title FROM pages")}
    return {"names": names, **{name: set(urls) for name, urls in rows.items()}}


@pytest.mark.parametrize("mode", ["defer", "skip"])
@pytest.mark.parametrize("breaks", [False, True], ids=["the rule holds", "the rule breaks"])
def test_kills_at_each_stage_of_a_rule_change_nothing(
    mode: str,
    breaks: bool,
    planted: Callable[..., tuple[LateSite, str]],
    make_job: Callable[[str], Job],
) -> None:
    site, url = planted(breaks=breaks)
    job = make_job(url)
    options = (*_OPTIONS, "-s", f"DEDUP_URL_LEARNING={mode}")
    stages = ["probation", "trusted", *(["unlearned"] if breaks else [])]
    killed_at = [stage for stage in stages if _kill_at(stage, site, job, options)]
    assert "probation" in killed_at
    assert "trusted" in killed_at
    status, output = job.run(*options, timeout=120)
    assert status == 0, output
    fates = _fates(job)
    assert fates["names"] >= set(site.shown.values())
    assert len(fates["fetched"] | fates["skipped"]) == 2 * _N + len(site.lists) + 3
    if mode == "defer" or breaks:
        assert not fates["skipped"]
    else:
        assert len(fates["skipped"]) > _N // 4
    assert _stage(job) == ("unlearned" if breaks else "trusted")
