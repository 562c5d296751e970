"""Pages that scripts make: each is stored, marked, counted and warned of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dedup.cli import main

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawler, WebSite

_N = 20
_SHELL = (
    b"<!doctype html><html><head><title>App</title>"
    b'<script type="module" src="/assets/index-4f1c.js"></script></head>'
    b'<body><div id="root"><div class="spinner">Loading\xe2\x80\xa6</div></div></body></html>'
)


@pytest.fixture
def application(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Twenty URLs of one shell, one of a shell with another hash, and a page with its copy."""
    shells = [f"/app/{n}" for n in range(_N)]
    site.routes = dict.fromkeys(shells, _SHELL)
    site.routes["/app/new"] = _SHELL.replace(b"4f1c", b"9a3e")
    site.routes["/page"] = site.routes["/copy"] = make.page("page")
    site.routes["/"] = make.page("start", *shells, "/app/new", "/page", "/copy")
    return site


def test_shells_are_stored_each(
    crawl: Crawler, application: WebSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled = crawl("site", url=application.url)
    crawled.check_reconciled()
    assert crawled.stats["pages"]["unique"] == _N + 3
    assert crawled.stats["pages"]["duplicates"] == {"body": 1}
    assert crawled.stats["needs_rendering"] == _N + 1
    assert crawled.rows("SELECT count(*) FROM signatures WHERE page IN"
                        " (SELECT number FROM pages WHERE url LIKE '%/app/%')") == [0]  # fmt: skip
    assert "21 unique pages have no text before scripts run" in crawled.output
    assert "--fields url,needs_rendering" in crawled.output
    assert "have no text before scripts run" in (crawled.folder / "report.html").read_text("utf-8")

    exported = tmp_path / "pages.jsonl"
    main(["export", str(crawled.folder), "-o", str(exported), "--fields", "url,needs_rendering"])
    rows = map(json.loads, exported.read_text("utf-8").splitlines())
    marked = {row["url"]: row["needs_rendering"] for row in rows}
    assert {url for url, is_marked in marked.items() if is_marked} == {
        url for url in marked if "/app/" in url
    }
    main(["why", str(crawled.folder), application.url + "app/7"])
    assert "needs a browser" in capsys.readouterr().out


def test_a_shell_that_comes_again_is_unchanged(crawl: Crawler, application: WebSite) -> None:
    assert crawl("site", "-s", "DEDUP_REPORT_ENABLED=0", url=application.url).status == 0
    again = crawl("site", "-s", "DEDUP_REPORT_ENABLED=0", url=application.url, refresh=1)
    assert again.status == 0, again.output
    assert again.stats["refresh"]["unchanged"] >= _N + 1
    assert "changed" not in again.stats["refresh"]
    assert again.stats["needs_rendering"] == _N + 1
