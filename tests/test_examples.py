"""The examples do what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawler.conftest import Crawler, WebSite, page, prose

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=240
    )


def test_spider_with_the_addon_keeps_one_of_two_copies(tmp_path: Path) -> None:
    with WebSite() as site:
        site.routes = {"/": page("start", "/a", "/b"), "/a": page("a"), "/b": page("a")}
        feed = tmp_path / "quotes.jsonl"
        example = str(ROOT / "examples" / "quotes_spider.py")
        done = run(
            *("-m", "scrapy", "runspider", example, "-a", f"url={site.url}", "-O", str(feed)),
            cwd=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    urls = [json.loads(line)["url"] for line in feed.read_text().splitlines()]
    assert len(urls) == 2
    assert urls[0] == site.url


def test_library_over_texts(tmp_path: Path) -> None:
    texts = {"a": prose("a"), "b": prose("b"), "c": prose("a") + " One more sentence."}
    paths = []
    for name, text in texts.items():
        paths.append(str(tmp_path / name))
        Path(paths[-1]).write_text(text, encoding="utf-8")
    done = run("examples/collection.py", *paths)
    assert done.stdout.splitlines() == [
        f"{paths[0]}: unique",
        f"{paths[1]}: unique",
        f"{paths[2]}: duplicates {paths[0]}, found by sentences",
    ]


@pytest.mark.parametrize(("share", "status"), [("0.5", 0), ("0.1", 1)])
def test_check_of_a_job(tmp_path: Path, share: str, status: int) -> None:
    with WebSite() as site:
        site.routes = {"/": page("start", "/a", "/b"), "/a": page("a"), "/b": page("a")}
        crawled = Crawler(tmp_path)("site", url=site.url)
    done = run("examples/check_share.py", str(crawled.folder), share)
    assert done.returncode == status, done.stderr
    assert ("1 of 3 pages are duplicates" in done.stderr) == bool(status)
