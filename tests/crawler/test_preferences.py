"""What pages and hosts declare of the use of their pages: recorded, exported, counted."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.export import page_rows
from dedup.store import open_store

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

ROBOTS = b"""\
User-agent: *
Content-Usage: train-ai=n
Content-Usage: /free train-ai=y
Content-Signal: /signal search=yes, ai-train=no
Allow: /

User-agent: another-bot
Content-Usage: search=n
"""
TDM_FILE = b"""\
[{"location": "signal", "tdm-reservation": 1, "tdm-policy": "/policy"},
 {"location": "/free/*.pdf$", "tdm-reservation": 1}, {"tdm-reservation": 1}]
"""
HEADERS = {"/header": {"Content-Usage": "search=n", "X-Robots-Tag": "noarchive, näh"}}
HEADS = {
    "/free/meta": '<meta name="Robots" content="noai, noimageai">',
    "/free/tdm": '<meta name="tdm-reservation" content="1"><meta name=tdm-policy content="/p">',
}
PATHS = ["/header", *HEADS, "/free/none", "/signal"]
OF_HOST = {"source": "robots.txt", "name": "Content-Usage", "value": "train-ai=n"}
FREE = {**OF_HOST, "value": "/free train-ai=y"}
DECLARED = {
    "/": [OF_HOST],
    "/header": [
        {"source": "header", "name": "Content-Usage", "value": "search=n"},
        {"source": "header", "name": "X-Robots-Tag", "value": "noarchive, näh"},
        OF_HOST,
    ],
    "/free/meta": [{"source": "meta", "name": "robots", "value": "noai, noimageai"}, FREE],
    "/free/tdm": [
        {"source": "meta", "name": "tdm-reservation", "value": "1"},
        {"source": "meta", "name": "tdm-policy", "value": "/p"},
        FREE,
    ],
    "/free/none": [FREE],
    "/signal": [
        OF_HOST,
        {
            "source": "robots.txt",
            "name": "Content-Signal",
            "value": "/signal search=yes, ai-train=no",
        },
    ],
}


@pytest.fixture
def declaring(site: WebSite, make: SimpleNamespace) -> WebSite:
    site.routes["/robots.txt"] = make.Answer(ROBOTS, content_type="text/plain")
    site.routes["/"] = make.page("/", *PATHS)
    for path in PATHS:
        body = make.page(path, head=HEADS.get(path, ""))
        site.routes[path] = make.Answer(body, headers=HEADERS.get(path, {}))
    return site


def declared(folder: Path, site: WebSite) -> dict[str, Any]:
    with open_store(folder, read_only=True) as store:
        rows = list(page_rows(store, ["url", "preferences"]))
    return {"/" + row["url"].removeprefix(site.url): row["preferences"] for row in rows}


def exported(folder: Path, site: WebSite, *options: str) -> set[str]:
    path = folder / "p.jsonl"
    assert main(["export", str(folder), "-o", str(path), "--overwrite", *options]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    return {"/" + json.loads(line)["url"].removeprefix(site.url) for line in lines}


def test_declarations_are_recorded_exported_and_counted(
    crawl: Crawler, declaring: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    options = "-s", "DEDUP_PAGE_FIELDS=preferences", "-s", "DEDUP_STORE_BODIES=0"
    crawled = crawl("site", *options, feed=True, url=declaring.url)
    assert crawled.status == 0, crawled.output
    assert declared(crawled.folder, declaring) == DECLARED
    rows = {row["url"]: row["preferences"] for row in crawled.feed_rows()}
    assert rows == {declaring.url[:-1] + path: found for path, found in DECLARED.items()}
    assert crawled.stats["preferences"] == {
        "pages": {
            "header Content-Usage: search=n": 1,
            "header X-Robots-Tag: noarchive": 1,
            "header X-Robots-Tag: näh": 1,
            "meta robots: noai": 1,
            "meta robots: noimageai": 1,
            "meta tdm-policy: given": 1,
            "meta tdm-reservation: 1": 1,
        },
        "hosts": {
            "robots.txt Content-Signal: ai-train=no": 1,
            "robots.txt Content-Signal: search=yes": 1,
            "robots.txt Content-Usage: train-ai=n": 1,
            "robots.txt Content-Usage: train-ai=y": 1,
        },
    }
    assert "uses refused by pages: header Content-Usage: search=n (1), meta" in crawled.output
    capsys.readouterr()
    for use, allowed in (("train", {"/free/none"}), ("search", {*DECLARED} - {"/header"})):
        assert exported(crawled.folder, declaring, "--only-allowed", use) == allowed
        told = " ".join(capsys.readouterr().err.split())
        assert f"--only-allowed {use}: {6 - len(allowed)} of 6 pages left out: " in told
        assert "; for 0 nothing is declared" in told
        assert f" {len(allowed)} pages in " in told
    assert exported(crawled.folder, declaring, "--only-allowed", "input") == {*DECLARED}
    path = crawled.folder / "pieces.jsonl"
    assert main(["export", str(crawled.folder), "--pieces=400", "--only-allowed=train"]) == 0
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    places = [place for row in rows for place in row["places"]]
    assert {place["url"] for place in places} == {f"{declaring.url}free/none"}


def test_declarations_outlive_a_kill_and_are_renewed_by_a_refresh(
    crawl: Crawler, declaring: WebSite, make: SimpleNamespace
) -> None:
    def kill(target: str) -> None:
        if target == "/free/none":
            os.kill(crawling.process.pid, signal.SIGKILL)

    declaring.on_request = kill
    crawling = crawl.start("site", url=declaring.url)
    assert crawling.finish().status == -signal.SIGKILL
    declaring.on_request = lambda _: None
    crawled = crawl("site", url=declaring.url)
    assert declared(crawled.folder, declaring) == DECLARED
    declaring.routes |= {path: make.page(path) for path in HEADS}
    headers = {"Content-Usage": "train-ai=n"}
    declaring.routes["/header"] = make.Answer(make.page("/header"), headers=headers)
    declaring.routes["/robots.txt"] = make.Answer(b"", 404)
    tdm = make.Answer(TDM_FILE, content_type="application/json")
    declaring.routes |= {
        "/.well-known/tdmrep.json": make.redirect("/tdm"),
        "/tdm": tdm,
    }
    crawled = crawl("site", "-s", "DEDUP_TDM_FILES=1", url=declaring.url, refresh=1)
    assert crawled.stats["refresh"]["unchanged"] == 6
    now = [{"source": "header", "name": "Content-Usage", "value": "train-ai=n"}]
    found = declared(crawled.folder, declaring)
    reserved = [{"source": "tdmrep.json", "name": "tdm-reservation", "value": "/signal 1 /policy"}]
    assert found == {**dict.fromkeys(DECLARED), "/header": now, "/signal": reserved}
    assert exported(crawled.folder, declaring, "--only-allowed", "train") == {
        *DECLARED.keys() - {"/header", "/signal"}
    }
