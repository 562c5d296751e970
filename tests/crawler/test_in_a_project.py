"""What the package gives to a Scrapy project: its spiders, and a template for new ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.crawler.forked import Forked

if TYPE_CHECKING:
    from tests.crawler.conftest import WebSite

pytestmark = pytest.mark.slow

_LINES = """
SPIDER_MODULES = ["shop.spiders", "dedup.scrapy.spiders"]
ADDONS = {"dedup.scrapy.DedupAddon": 500}
"""
_QUICKLY = ("-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS=1")


def _scrapy(folder: Path, *arguments: str) -> str:
    process = Forked(["-m", "scrapy", *arguments], cwd=folder, environment=os.environ)
    output = process.communicate(timeout=240)[0].decode()
    assert process.returncode == 0, output
    assert "Traceback" not in output
    return output


def _urls(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def project(tmp_path: Path, site: WebSite, make: SimpleNamespace) -> Path:
    site.routes |= {
        "/": make.page("home", "/a", "/copy"),
        "/a": make.page("a"),
        "/copy": make.page("a"),
    }
    _scrapy(tmp_path, "startproject", "shop", ".")
    return tmp_path


def test_spiders_by_one_line(project: Path, site: WebSite) -> None:
    with (project / "shop/settings.py").open("a") as settings:
        settings.write(_LINES)
    assert _scrapy(project, "list").split() == ["demo", "site", "sitemap", "urls"]
    _scrapy(project, "crawl", "site", "-a", f"url={site.url}", "-O", "pages.jsonl", *_QUICKLY)
    assert _urls(project / "pages.jsonl") == [site.url, f"{site.url}a"]
    (first, *_) = (project / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    assert "body" not in json.loads(first)


def test_template_makes_a_spider_that_drops_copies(project: Path, site: WebSite) -> None:
    assert "dedup" in _scrapy(project, "genspider", "-l").split()
    assert "basic" in _scrapy(project, "genspider", "-l").split()
    _scrapy(project, "genspider", "-t", "dedup", "books", site.url)
    spider = project / "shop/spiders/books.py"
    text = spider.read_text(encoding="utf-8")
    host = site.url.split("/")[2]
    spider.write_text(text.replace(f'["{host}"]', '["127.0.0.1"]'), encoding="utf-8")
    output = _scrapy(project, "crawl", "books", *_QUICKLY, "-O", "items.jsonl")
    assert _urls(project / "items.jsonl") == [site.url, f"{site.url}a"]
    assert "dropped: text" in output
    assert (project / "crawls/books/crawl.sqlite").exists()
