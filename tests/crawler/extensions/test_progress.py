"""Progress of whole crawls: on a terminal (a pseudo one), and without."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup import Document, Match
from dedup.scrapy.extensions.figures import CrawlFigures
from dedup.scrapy.job.job import Job
from dedup.store import SqliteStore
from dedup.urls import SeenUrls

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def on_terminal(command: list[str]) -> str:
    """What a command writes to a terminal of 100 columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=follower, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    written = b""
    while process.poll() is None or select.select([leader], [], [], 0)[0]:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                written += os.read(leader, 65_536)
            except OSError:  # nobody writes any more
                break
    os.close(leader)
    assert process.wait(timeout=120) == 0, written.decode()
    return written.decode()


def screen(output: str) -> list[str]:
    """What stands on a terminal of endless height after this output; styles are left out."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\n]|[^\x1b\r\n]+", output):
        if part == "\r":
            column = 0
        elif part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part.startswith("\x1b"):
            row -= int(part[2:-1] or 1) if part.endswith("A") else 0
            lines[row] = "" if part == "\x1b[2K" else lines[row]
        else:
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return [line.rstrip() for line in lines]


def slow_site(make: SimpleNamespace, site: WebSite) -> None:
    """Eight pages, one of them a copy, and one that is missing; two seconds in all."""
    links = [f"/{number}" for number in range(6)] + ["/copy", "/gone"]
    site.routes["/"] = make.page("start", *links)
    for number in range(6):
        site.routes[f"/{number}"] = make.page(f"page {number}")
    site.routes["/copy"] = site.routes["/0"]
    site.on_request = lambda target: time.sleep(0.0 if target == "/robots.txt" else 0.25)


def table_numbers(output: str) -> dict[str, int]:
    """The pages of the table that closes a crawl, by the row's name."""
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output).replace("\r", "")
    rows = re.findall(
        r"^ *((?:fetched|unique|duplicates: \w+|skipped: \w+)) +([\d,]+) ", text, re.M
    )
    return {name: int(count.replace(",", "")) for name, count in rows}


def stats_numbers(stats: dict[str, Any]) -> dict[str, int]:
    pages = stats["pages"]
    numbers = {"fetched": pages["fetched"], "unique": pages["unique"]}
    for kind in ("duplicates", "skipped"):
        numbers |= {f"{kind}: {name}": count for name, count in pages[kind].items()}
    return numbers


def test_the_panel_and_the_log_share_a_terminal(
    make: SimpleNamespace, site: WebSite, tmp_path: Path
) -> None:
    slow_site(make, site)
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={site.url}"]
    command += ["-s", f"DEDUP_JOBS_DIR={tmp_path}", "-a", "job=live"]
    command += ["-s", "CONCURRENT_REQUESTS=1", "-s", "LOG_LEVEL=DEBUG"]
    output = on_terminal(command)
    assert output.count("╭─") > 3  # the panel was up, and renewed
    lines = screen(output)
    logged = [line for line in lines if "DEBUG: Crawled (200)" in line]
    assert len(logged) == 8
    assert all(line.startswith("20") for line in logged)  # each from the beginning of a line
    assert not any(line.startswith(("╭─", "│", "╰─")) for line in lines)  # no shred of a panel
    stats = json.loads((tmp_path / "live" / "stats.json").read_text(encoding="utf-8"))
    assert table_numbers("\n".join(lines)) == stats_numbers(stats)


def test_no_panel_without_a_terminal(make: SimpleNamespace, site: WebSite, crawl: Crawler) -> None:
    site.routes |= {
        "/": make.page("/", "/copy", "/gone"),
        "/copy": make.page("/", "/copy", "/gone"),
    }
    crawled = crawl("site", "-s", "DEDUP_PROGRESS=live", url=site.url)
    assert "╭─" not in crawled.output
    assert "\x1b" not in crawled.output
    numbers = table_numbers(crawled.output)
    assert numbers == stats_numbers(crawled.stats)
    assert numbers["duplicates: body"] == 1


def test_off_prints_nothing(make: SimpleNamespace, site: WebSite, crawl: Crawler) -> None:
    site.routes["/"] = make.page("/")
    assert crawl("site", "-s", "DEDUP_PROGRESS=off", url=site.url).output == ""


class FakeCrawler:
    """As much of a crawler as the figures ask for."""

    def __init__(self) -> None:
        self.stats = SimpleNamespace(
            get_value=lambda name, default: self.counts.get(name, default),
            get_stats=lambda: self.counts,
        )
        self.counts: dict[str, int] = {}
        self.signals = SimpleNamespace(connect=lambda *arguments: None)


def test_the_counts_are_those_of_all_runs_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    document = Document(id="", text="Some text.", url="http://a.example/")
    number = store.add(document, {})
    store.add_duplicate(document, Match(number, "text"))
    store.add_skipped("http://a.example/x", "http_404", is_fetched=True)
    job = SimpleNamespace(
        store=store,
        is_resumed=True,
        ledger=SimpleNamespace(fetched=5),
        urls=SimpleNamespace(requests=SimpleNamespace(length=1), seen=SeenUrls(None)),
        pages=SimpleNamespace(
            content=SimpleNamespace(size_bytes=0), arrivals=SimpleNamespace(n_unjudged=0)
        ),
        folder=tmp_path,
        name=tmp_path.name,
    )
    crawler: Any = FakeCrawler()
    monkeypatch.setattr(Job, "of", lambda crawler: job)
    figures = CrawlFigures(crawler, with_details=True)
    crawler.counts |= {"dedup/pages/unique": 1, "dedup/pages/duplicate/body": 1}
    snapshot = figures.read()
    store.close()
    assert (snapshot.unique, snapshot.duplicates) == (2, {"text": 1, "body": 1})
    assert snapshot.skipped == {"http_404": 1}
