"""Several processes of one machine crawl one job: what is killed, stopped, resumed and written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measurements.cluster import ROOT, Site, check
from dedup.store import open_store, summarise

pytestmark = pytest.mark.slow
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc")


class Crawl:
    """Crawls of the job of a site, each by a number of processes."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self.folder = site, folder
        self.feed = folder / "pages.jsonl"
        self._log = folder / "log.txt"

    def start(self, n_processes: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", "job=job"]
        command += ["-a", f"url={self.site.start}", "-O", str(self.feed)]
        for each in (
            f"DEDUP_JOBS_DIR={self.folder}",
            f"DEDUP_PROCESSES={n_processes}",
            "DEDUP_ALLOW_PRIVATE=1",
            "DEDUP_READ_PROCESSES=0",
            "ROBOTSTXT_OBEY=0",
            "DOWNLOAD_DELAY=0.1",
        ):
            command += ["-s", each]
        with self._log.open("a") as log:
            return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=log)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def found(self) -> dict[str, Any]:
        with open_store(self.folder / "job", read_only=True) as store:
            assert store.meta("finished") is not None
            assert store.stats.workers() == []
            return check(store, self.site)

    def expect_exact(self) -> None:
        found = self.found()
        names = "lost", "twice", "other_verdicts", "without_original", "kept_twice", "left_hosts"
        assert [found[name] for name in names] == [0] * 6, self.log
        assert found["reconciled"]
        urls = [json.loads(line)["url"] for line in self.feed.read_text().splitlines()]
        assert len(urls) == len(set(urls)) == found["unique"]


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    site = Site(6, 8, tmp_path / "requests.log")
    yield Crawl(site, tmp_path)
    site.process.terminate()
    site.process.wait()
    site.process.stdout.close()


def children(process: subprocess.Popen[str]) -> list[int]:
    return [
        int(each)
        for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def crawling(crawl: Crawl, n_processes: int) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a crawl, and wait until it has fetched some pages; return its processes, too."""
    n_before = len(crawl.site.requests())
    process = crawl.start(n_processes)
    wait_for(lambda: len(crawl.site.requests()) >= n_before + 6)
    return process, children(process)


@needs_proc
def test_killed_process_is_replaced_and_nothing_is_lost_or_stored_twice(crawl: Crawl) -> None:
    process, started = crawling(crawl, 2)
    os.kill(started[0], signal.SIGKILL)
    assert process.wait(120) == 0
    assert "was ended by signal 9; another one goes on with its work" in crawl.log
    assert crawl.log.count("fetched  ") == 1  # one table
    crawl.expect_exact()


@needs_proc
def test_job_stops_and_goes_on_with_any_number_of_processes(crawl: Crawl) -> None:
    process, started = crawling(crawl, 2)
    os.kill(started[0], signal.SIGSTOP)
    process.kill()  # all end with it, also one that is stopped
    process.wait()
    wait_for(lambda: not any(map(is_running, started)))

    process, started = crawling(crawl, 3)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert not any(map(is_running, started))
    assert "stopped: shutdown; rerun the same command to resume" in crawl.log
    with open_store(crawl.folder / "job", read_only=True) as store:
        # Eight pages tell too little of a host: all wait, also those that came while it stopped.
        assert summarise(store)["pages"]["unique"] == 0

    process, started = crawling(crawl, 2)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert process.wait(30) == 130
    assert not any(map(is_running, started))

    assert crawl.start(1).wait(120) == 0
    crawl.expect_exact()


_SETTINGS = """
SPIDER_MODULES = ["shelf.spiders"]
COMMANDS_MODULE = "dedup.scrapy.commands"
ADDONS = {"dedup.scrapy.DedupAddon": 500}
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
"""
_SPIDER = """
import os
import scrapy


class Books(scrapy.Spider):
    name = "books"

    def __init__(self, category="1", **kwargs):
        super().__init__(**kwargs)
        self.start_urls = os.environ["SITE"].split(",")

    def parse(self, response):
        yield {"url": response.url, "text": " ".join(response.css("p ::text").getall())}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse)
"""


def test_spider_of_another_project_is_run_by_two_processes(crawl: Crawl) -> None:
    project = crawl.folder / "project"
    (project / "shelf" / "spiders").mkdir(parents=True)
    (project / "scrapy.cfg").write_text("[settings]\ndefault = shelf.settings\n")
    (project / "shelf" / "settings.py").write_text(_SETTINGS)
    (project / "shelf" / "__init__.py").touch()
    (project / "shelf" / "spiders" / "__init__.py").write_text(_SPIDER)
    command = [sys.executable, "-m", "scrapy", "crawl", "books", "-a", "category=2"]
    command += ["-s", "JOBDIR=job", "-s", "DEDUP_PROCESSES=2"]
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "SITE": crawl.site.start},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    with open_store(project / "job", read_only=True) as store:
        found = check(store, crawl.site)
    assert (found["lost"], found["left_hosts"]) == (0, 0), done.stderr
    assert len(crawl.site.requests()) == 48 + 6  # links to start pages, as with one process
    said = dict(re.findall(r"^ *(books|in|kept) +(\w+)$", done.stderr, re.MULTILINE))
    assert said == {"books": "items", "in": "54", "kept": str(found["unique"])}
    assert "process 1: " in done.stderr
    assert "process 2: " in done.stderr
