"""A refresh renders the pages whose data or scripts have changed, and no others."""

from __future__ import annotations

import json
import os
import signal
import zlib
from collections import Counter
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from tests.crawler.rendered import needs_chromium

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawled, Crawler, WebSite

pytest.importorskip("scrapy_playwright")
pytestmark = [pytest.mark.slow, needs_chromium]

_OPTIONS = ("-s", "DEDUP_RENDER=auto", "-s", "DEDUP_RENDER_SECONDS=120")  # on a busy machine
_N_VIEWS = 6
_NUMBERS = count(1)
_SHELL = b"""<!doctype html><html><head><title>App</title><script src="/app.js" defer></script>
</head><body><div id="root"></div></body></html>"""
_APP = """const show = data => {
  document.title = data.title;
  document.querySelector("#root").innerHTML = `<h1>${data.title}</h1><p>${data.text}</p>`;
};
fetch("/api" + location.pathname).then(answer => answer.json()).then(show);"""
_BUNDLED = """document.querySelector("#root").innerHTML = `<p>${TEXTS[location.pathname]}</p>`;"""


class App:
    """An application: each view asks for an answer of its own.

    Attributes:
        rendered: the views that a browser asked for, in this crawl.
        asked: what was asked for in this crawl, by the crawl itself, with conditional requests.
    """

    def __init__(self, site: WebSite, make: SimpleNamespace) -> None:
        self._site, self._make = site, make
        self.texts = [make.prose(f"view {n}") for n in range(_N_VIEWS)]
        self.script, self.rendered, self.asked = _APP, Counter[str](), Counter[str]()
        self.more: Callable[[], dict[str, object]] = dict
        self.on_asked: Callable[[str], object] = lambda target: None
        for n in range(_N_VIEWS):
            site.routes[f"/view/{n}"] = _SHELL
            site.routes[f"/api/view/{n}"] = partial(self._answer, n)
        site.routes["/app.js"] = partial(self._answer, None)
        site.routes["/"] = make.page("start", *(f"/view/{n}" for n in range(_N_VIEWS)))

    @property
    def url(self) -> str:
        return self._site.url

    def _answer(self, n: int | None, handler: Any) -> Any:
        is_browser = "Sec-Fetch-Mode" in handler.headers
        (self.rendered if is_browser else self.asked)[handler.path] += 1
        self.on_asked(handler.path)
        if n is None:
            named = {"Cache-Control": "max-age=3600"}
            return self._make.Answer(self.script.encode(), 200, "text/javascript", named)
        data = {"title": f"View {n}", "text": self.texts[n], **self.more()}
        body = json.dumps(data).encode()
        named = {"ETag": f'"{zlib.crc32(body)}"'}
        if handler.headers.get("If-None-Match") == named["ETag"] and not is_browser:
            return self._make.Answer(b"", 304, None, named)
        return self._make.Answer(body, content_type="application/json", headers=named)

    def crawl(self, crawl: Crawler, *options: str, **arguments: Any) -> Crawled:
        """Crawl; count anew."""
        self.rendered.clear()
        self.asked.clear()
        crawled = crawl("site", *_OPTIONS, *options, url=self.url, **arguments)
        assert crawled.status == 0, crawled.output
        return crawled

    def refresh(self, crawl: Crawler, *options: str) -> dict[str, str]:
        """Visit the pages again: what was found, by path."""
        return self.told(self.crawl(crawl, *options, refresh=1))

    def told(self, crawled: Crawled) -> dict[str, str]:
        query = (
            "SELECT url, outcome FROM visits WHERE url <> ''"
            " AND refresh = (SELECT max(refresh) FROM visits)"
        )
        found = dict(crawled.rows(query))
        return {"/" + url.removeprefix(self.url): outcome for url, outcome in found.items()}

    @property
    def n_rendered(self) -> int:
        return sum(count for path, count in self.rendered.items() if path.startswith("/api/"))


@pytest.fixture
def app(site: WebSite, make: SimpleNamespace) -> App:
    return App(site, make)


def test_only_pages_of_other_data_are_rendered(
    crawl: Crawler, app: App, make: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    made_from = app.crawl(crawl).rows("SELECT answers FROM inputs")
    assert all("/app.js" in each and "/api/view/" in each for each in made_from)
    assert app.n_rendered == len(made_from) == _N_VIEWS
    assert app.rendered["/app.js"] < _N_VIEWS  # the browser had it
    assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert app.n_rendered == 1  # the first one of a host, to see whether it is the same
    assert set(app.asked.values()) == {1}  # the script, too, that all views have
    again = app.crawl(crawl, refresh=1)
    assert set(app.told(again).values()) == {"unchanged"}
    assert app.n_rendered == 0
    assert again.stats["rendering"]["spared"] == _N_VIEWS
    main(["why", str(again.folder), app.url + "view/3"])
    assert "not rendered again in refresh 2" in capsys.readouterr().out
    app.texts[3] = make.prose("another text")
    changed = app.refresh(crawl)
    assert [path for path, outcome in changed.items() if outcome != "unchanged"] == ["/view/3"]
    assert changed["/view/3"] == "changed"
    assert app.rendered.keys() - {"/app.js"} == {"/api/view/3"}
    assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert app.n_rendered == 0


def test_all_pages_are_rendered_if_their_script_is_another_one(crawl: Crawler, app: App) -> None:
    app.crawl(crawl)
    app.script += "// another build"
    assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert app.n_rendered == _N_VIEWS
    app.refresh(crawl)
    assert app.n_rendered == 1


def test_robots_txt_holds_for_the_data(
    crawl: Crawler, app: App, site: WebSite, make: SimpleNamespace
) -> None:
    rules = b"User-agent: *\nDisallow: /api/"
    site.routes["/robots.txt"] = make.Answer(rules, content_type="text/plain")
    app.crawl(crawl)
    assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert app.n_rendered == _N_VIEWS
    assert app.asked == {"/app.js": 1}


def test_answers_that_never_repeat_have_each_page_rendered(crawl: Crawler, app: App) -> None:
    app.more = lambda: {"answered": next(_NUMBERS)}
    app.crawl(crawl)
    assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert app.n_rendered == _N_VIEWS


def test_a_host_whose_texts_depend_on_more_is_not_trusted(crawl: Crawler, app: App) -> None:
    app.script = app.script.replace("${data.text}", "${data.text} ${Math.random()}")
    app.crawl(crawl)
    for _ in range(2):
        told = app.refresh(crawl)
        assert "unchanged" not in {told[f"/view/{n}"] for n in range(_N_VIEWS)}
        assert app.n_rendered == _N_VIEWS
    assert not any(path.startswith("/api") for path in app.asked)


def test_a_view_without_data_is_told_by_its_script(crawl: Crawler, app: App) -> None:
    texts = {f"/view/{n}": text for n, text in enumerate(app.texts)}
    app.script = f"const TEXTS = {json.dumps(texts)};{_BUNDLED}"
    app.crawl(crawl)
    assert app.rendered
    for _ in range(2):
        assert set(app.refresh(crawl).values()) == {"unchanged"}
    assert not app.rendered
    assert app.asked == {"/app.js": 1}
    app.script = app.script.replace(app.texts[2], "All is new. " + app.texts[2])
    assert app.refresh(crawl)["/view/2"] == "changed"


def test_a_kill_loses_no_change(crawl: Crawler, app: App, make: SimpleNamespace) -> None:
    """The page is rendered, and what it is made from is noted, before it is stored."""
    app.crawl(crawl)
    app.refresh(crawl)
    app.texts = [make.prose(f"another {n}") + text for n, text in enumerate(app.texts)]
    options = ("-s", "DEDUP_RENDER_PAGES=1")
    crawling = crawl.start("site", *_OPTIONS, *options, url=app.url, refresh=1)
    n_asked = count(1)

    def kill(target: str) -> None:
        if target.startswith("/api/") and next(n_asked) == 2 * _N_VIEWS - 2:
            os.kill(crawling.process.pid, signal.SIGKILL)

    app.on_asked = kill
    assert crawling.finish().status != 0
    app.on_asked = lambda target: None
    told = app.refresh(crawl)
    assert {told[f"/view/{n}"] for n in range(_N_VIEWS)} == {"changed"}
    crawled = app.crawl(crawl, refresh=1)
    assert app.n_rendered == 0
    texts = {page["url"]: page["text"] for page in _exported(crawled)}
    assert all(app.texts[n] in texts[f"{app.url}view/{n}"] for n in range(_N_VIEWS))


def _exported(crawled: Crawled) -> list[dict[str, str]]:
    path = crawled.folder / "out.jsonl"
    main(["export", str(crawled.folder), "-o", str(path), "--overwrite"])
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
