"""One crawl with a real browser: an application, static pages, and pages that change half-way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dedup.cli import main
from dedup.rendering.learner import AUDIT_PAGES, FIRST_PAGES, is_audited
from tests.crawler.rendered import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawler, WebSite

pytest.importorskip("scrapy_playwright")
pytestmark = [pytest.mark.slow, needs_chromium]

_OPTIONS = ("-s", "DEDUP_RENDER=auto", "-s", "DEDUP_RENDER_SECONDS=120")  # on a busy machine
_N_VIEWS = 4
_FIRST_TURNED = FIRST_PAGES + 3
_AUDITED = next(n for n in range(AUDIT_PAGES) if is_audited(0, n))
_N_PAGES = FIRST_PAGES + _AUDITED + 4
"""Of pages that are fetched in this order; those before the first audit are left raw at first."""

_APP = b"""<!doctype html><html><head><title>App</title><script src="/app.js" defer></script></head>
<body><div id="root"></div></body></html>"""
_APP_JS = b"""fetch("/api" + location.pathname).then(answer => answer.json()).then(data => {
  document.title = data.title;
  document.querySelector("#root").innerHTML =
    `<h1>${data.title}</h1><p>${data.text}</p><a href="${data.next}">next</a>`;
  setTimeout(() => document.body.insertAdjacentHTML("beforeend", CONSENT), 200);
});"""
_CONSENT = b"""<div class="cmp-box" style="position: fixed; inset: 0"><div role="dialog">
<h2>Before you continue</h2><p>We value your privacy. We and our 842 partners store and access
information on a device, such as unique identifiers in cookies, to process personal data. You may
accept or manage your choices by clicking below, including your right to object where legitimate
interest is used, or at any time in the privacy policy page. These choices will be signaled to our
partners and will not affect browsing data.</p><p>We and our partners process data to provide: use
precise geolocation data, actively scan device characteristics for identification, store and access
information on a device, personalised advertising and content, advertising and content measurement,
audience research and services development.</p><ul><li>Strictly necessary</li><li>Statistics</li>
</ul><button>More options</button><button>Reject all</button><button>Accept all</button></div></div>
"""
_MORE_JS = b"""const more = document.querySelector("[data-more]");
if (more) more.textContent = more.dataset.more;"""


@pytest.fixture
def mixed(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Four views of an application, and twenty pages of which most need scripts."""
    script = '<script src="/more.js" defer></script>'
    names = [f"/t/{n}" for n in range(_N_PAGES)]
    for n, name in enumerate(names):
        more = "<div></div>"
        if n >= _FIRST_TURNED:
            more = f'<div data-more="{make.prose(f"more {n}", 60)}"></div>'
        site.routes[name] = make.page(f"page {n}", "/", head=script, body=more)
    for n in range(_N_VIEWS):
        data = {"title": f"View {n}", "text": make.prose(f"view {n}"), "next": f"/deep/{n}"}
        site.routes[f"/app/{n}"] = _APP
        site.routes[f"/api/app/{n}"] = make.Answer(
            json.dumps(data).encode(), content_type="application/json"
        )
        site.routes[f"/deep/{n}"] = make.page(f"deep {n}")
    site.routes["/copy"] = site.routes["/deep/0"]
    app = _APP_JS.replace(b"CONSENT", b"`%b`" % _CONSENT)
    site.routes["/app.js"] = make.Answer(app, content_type="text/javascript")
    site.routes["/more.js"] = make.Answer(_MORE_JS, content_type="text/javascript")
    apps = [f"/app/{n}" for n in range(_N_VIEWS)]
    site.routes["/"] = make.page("start", *names, *apps, "/copy", head=script)
    return site


def test_pages_that_need_a_browser_are_rendered(
    crawl: Crawler,
    mixed: WebSite,
    make: SimpleNamespace,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawled = crawl("site", *_OPTIONS, url=mixed.url)
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    assert crawled.stats["needs_rendering"] == 0
    assert crawled.stats["pages"]["unique"] == 1 + _N_PAGES + 2 * _N_VIEWS
    exported = tmp_path / "pages.jsonl"
    names = "url,title,text,rendered,rendered_why"
    main(["export", str(crawled.folder), "-o", str(exported), "--fields", names])
    rows = {
        row["url"].removeprefix(mixed.url): row
        for row in map(json.loads, exported.read_text("utf-8").splitlines())
    }
    views = [rows[f"app/{n}"] for n in range(_N_VIEWS)]
    assert [row["title"] for row in views] == [f"View {n}" for n in range(_N_VIEWS)]
    assert {row["rendered_why"] for row in views} == {"shell"}
    for n, row in enumerate(views):  # and nothing of the box that asks for consent
        assert set(row["text"].split()) <= {*f"View {n} {make.prose(f'view {n}')} next".split()}
    turned = range(_FIRST_TURNED, _N_PAGES)
    assert all(rows[f"t/{n}"]["rendered"] for n in turned)
    assert all(make.prose(f"more {n}", 60) in rows[f"t/{n}"]["text"] for n in turned)
    assert not any(row["rendered"] for name, row in rows.items() if name.startswith("deep/"))
    told = crawled.stats["rendering"]
    assert told["rendered"]["shell"] == _N_VIEWS
    assert told["raw"]["no_scripts"] == _N_VIEWS + 1
    main(["why", str(crawled.folder), mixed.url + "app/3"])
    assert "rendered" in capsys.readouterr().out
