"""One crawl with a real browser: an application, static pages, and pages that change half-way."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from dedup.cli import main
from dedup.rendering.learner import is_audited

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawler, WebSite

pytest.importorskip("scrapy_playwright")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed"),
]

_APP = b"""<!doctype html><html><head><title>App</title><script src="/app.js" defer></script></head>
<body><div id="root"></div></body></html>"""
_APP_JS = b"""fetch("/api" + location.pathname).then(answer => answer.json()).then(data => {
  document.title = data.title;
  document.querySelector("#root").innerHTML =
    `<h1>${data.title}</h1><p>${data.text}</p><a href="${data.next}">next</a>`;
});"""
_MORE_JS = b"""const more = document.querySelector("[data-more]");
if (more) more.textContent = more.dataset.more;"""


@pytest.fixture
def mixed(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Eight views of an application, and fifteen pages of which the last nine need scripts."""
    script = '<script src="/more.js" defer></script>'
    audited = (f"t/audited-{n}" for n in range(10_000) if is_audited(f"{site.url}t/audited-{n}"))
    plain = (f"t/{n}" for n in range(10_000) if not is_audited(f"{site.url}t/{n}"))
    names = [f"/{next(plain)}" for _ in range(14)] + [f"/{next(audited)}"]
    for n, name in enumerate(names):
        more = f'<div data-more="{make.prose(f"more {n}", 60)}"></div>' if n > 5 else "<div></div>"
        site.routes[name] = make.page(f"page {n}", "/", head=script, body=more)
    for n in range(8):
        data = {"title": f"View {n}", "text": make.prose(f"view {n}"), "next": f"/deep/{n}"}
        site.routes[f"/app/{n}"] = _APP
        site.routes[f"/api/app/{n}"] = make.Answer(
            json.dumps(data).encode(), content_type="application/json"
        )
        site.routes[f"/deep/{n}"] = make.page(f"deep {n}")
    site.routes["/copy"] = site.routes["/deep/0"]
    site.routes["/app.js"] = make.Answer(_APP_JS, content_type="text/javascript")
    site.routes["/more.js"] = make.Answer(_MORE_JS, content_type="text/javascript")
    apps = [f"/app/{n}" for n in range(8)]
    site.routes["/"] = make.page("start", *names, *apps, "/copy", head=script)
    return site


def test_pages_that_need_a_browser_are_rendered(
    crawl: Crawler, mixed: WebSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled = crawl("site", "-s", "DEDUP_RENDER=auto", url=mixed.url)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stats["needs_rendering"] == 0
    assert crawled.stats["pages"]["unique"] == 1 + 15 + 8 + 8
    exported = tmp_path / "pages.jsonl"
    names = "url,title,text,rendered,rendered_why"
    main(["export", str(crawled.folder), "-o", str(exported), "--fields", names])
    rows = {
        row["url"].removeprefix(mixed.url): row
        for row in map(json.loads, exported.read_text("utf-8").splitlines())
    }
    views = [rows[f"app/{n}"] for n in range(8)]
    assert [row["title"] for row in views] == [f"View {n}" for n in range(8)]
    assert {row["rendered_why"] for row in views} == {"shell"}
    pages = [row for name, row in rows.items() if name.startswith("t/")]
    assert sum(row["rendered"] for row in pages) >= 9
    assert not any(row["rendered"] for name, row in rows.items() if name.startswith("deep/"))
    told = crawled.stats["rendering"]
    assert told["rendered"]["shell"] == 8
    assert told["raw"]["no_scripts"] == 9
    main(["why", str(crawled.folder), mixed.url + "app/7"])
    assert "rendered" in capsys.readouterr().out
