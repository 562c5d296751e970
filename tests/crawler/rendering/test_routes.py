"""Routes in the fragment are pages of their own, with a real browser."""

from __future__ import annotations

import json
import os
import signal
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from tests.crawler.rendered import needs_chromium

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from tests.crawler.conftest import Crawled, Crawler, WebSite

pytest.importorskip("scrapy_playwright")
pytestmark = [pytest.mark.slow, needs_chromium]

_SECONDS = ("-s", "DEDUP_RENDER_SECONDS=120")  # on a busy machine
_N_VIEWS = 6
_SHELL = b"""<!doctype html><html><head><title>App</title>
<link rel="canonical" href="/"><script src="/app.js" defer></script></head>
<body><div id="root"></div></body></html>"""
_APP = """const show = () => {
  const [path, query] = location.hash.replace(/^#!?/, "").split("?");
  const view = VIEWS[path || "/"] || VIEWS["/"];
  document.querySelector("#root").innerHTML = `<h1>${view.title}</h1><p>${view.text}</p>`
    + view.links.map(link => `<a href="${link}">${link}</a>`).join(" ");
};
addEventListener("hashchange", show);
show();"""


class App:
    """An application with its views at routes; the texts come with its script.

    Attributes:
        mark: before each route: "#" or "#!".
    """

    def __init__(
        self, site: WebSite, make: SimpleNamespace, mark: str = "#", n_views: int = _N_VIEWS
    ) -> None:
        self._site, self._make = site, make
        self.mark, self.home = mark, _SHELL
        self.texts = {f"/view/{n}": make.prose(f"view {n}") for n in range(n_views)}
        self.write()

    @property
    def url(self) -> str:
        return self._site.url

    @property
    def routes(self) -> dict[str, str]:
        """The texts by route."""
        return {f"{self.mark}{path}": text for path, text in self.texts.items()}

    def write(self) -> None:
        """Write the site anew: home links to the first view, and each view to the next one."""
        paths = [*self.texts]
        views: dict[str, Any] = {"/": {"title": "Home", "text": "", "links": []}}
        for n, path in enumerate(paths):
            following = paths[(n + 1) % len(paths)]
            links = [
                f"{self.mark}{following}#place",
                f"{self.mark}{path}?id=more",
                "#top",
                f"{self.mark}/",
            ]
            views[path] = {"title": path, "text": self.texts[path], "links": links}
        views["/"] |= {"text": self._make.prose("home"), "links": [f"{self.mark}{paths[0]}"]}
        script = f"const VIEWS = {json.dumps(views)};{_APP}".encode()
        self._site.routes["/app.js"] = self._make.Answer(script, content_type="text/javascript")
        self._site.routes["/"] = self.home

    def crawl(self, crawl: Crawler, mode: str = "auto", *options: str, **given: Any) -> Crawled:
        crawled = crawl(
            "site", "-s", f"DEDUP_RENDER={mode}", *_SECONDS, *options, url=self.url, **given
        )
        assert crawled.status == 0, crawled.output
        return crawled


@pytest.fixture
def app(site: WebSite, make: SimpleNamespace) -> App:
    return App(site, make)


def texts_of(crawled: Crawled, site: WebSite) -> dict[str, str]:
    """The stored texts by what comes after the site's URL; each once.

    Of a view, and the link to a place in it, the second may be stored: while pages wait until
    enough is known of their site, they do not keep their order.
    """
    path = crawled.folder / "out.jsonl"
    main(["export", str(crawled.folder), "-o", str(path), "--overwrite"])
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = {row["url"].removeprefix(site.url).removesuffix("?id=more"): row for row in rows}
    assert len(found) == len(rows)
    return {url: row["text"] for url, row in found.items()}


def check_routes(crawled: Crawled, app: App, site: WebSite) -> None:
    """Each route is stored once, with its own text."""
    found = texts_of(crawled, site)
    assert found.keys() == {"", *app.routes}
    assert all(text in found[route] for route, text in app.routes.items())
    crawled.check_reconciled()


def test_each_route_is_stored_once_where_all_pages_are_rendered(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    app = App(site, make, mark="#!")
    check_routes(app.crawl(crawl, "always"), app, site)


def test_routes_of_a_page_with_a_text_of_its_own(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App
) -> None:
    """Its raw text is that of all of them, and its template is static but for the routes."""
    script = '<script src="/app.js" defer></script>'
    names = [f"/about/{n}" for n in range(5)]
    app.home = make.page("start", *names, "#/view/0", head=script, body='<div id="root"></div>')
    still = '<script src="/still.js" defer></script>'
    for name in names:
        site.routes[name] = make.page(name, head=still, body='<div id="root"></div>')
    site.routes["/still.js"] = make.Answer(b"", content_type="text/javascript")
    app.write()
    found = texts_of(app.crawl(crawl), site)
    assert found.keys() == {"", *(name[1:] for name in names), *app.routes}
    assert all(text in found[route] for route, text in app.routes.items())


def test_each_route_is_stored_once_and_a_refresh_tells_which_have_changed(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App
) -> None:
    check_routes(app.crawl(crawl), app, site)
    again = app.crawl(crawl, refresh=1)
    assert set(visits(again, site).values()) == {"unchanged"}
    assert again.stats["rendering"]["spared"] >= _N_VIEWS - 2
    app.texts["/view/3"] = make.prose("another text")
    app.write()
    told = visits(app.crawl(crawl, refresh=1), site)
    assert told.pop("#/view/3") == "changed"
    assert set(told.values()) == {"unchanged"}


def visits(crawled: Crawled, site: WebSite) -> dict[str, str]:
    """What the last refresh found."""
    query = "SELECT url, outcome FROM visits WHERE refresh = (SELECT max(refresh) FROM visits)"
    return {url.removeprefix(site.url): outcome for url, outcome in crawled.rows(query)}


def test_a_static_site_is_stored_as_without_routes(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    script = '<script src="/still.js" defer></script>'
    site.routes["/still.js"] = make.Answer(b"", content_type="text/javascript")
    names = [f"/page/{n}" for n in range(6)]
    places = [f"#/place/{n}" for n in range(3)]
    for name in names:
        site.routes[name] = make.page(name, *places, head=script if name < "/page/3" else "")
    site.routes["/"] = make.page("start", *names, *(f"{names[0]}{each}" for each in places))
    crawled = crawl("site", "-s", "DEDUP_RENDER=auto", *_SECONDS, url=site.url)
    assert crawled.status == 0, crawled.output
    assert crawled.stored(site) == {"/", *names}
    plain = crawl("site", url=site.url, job="plain")
    assert texts_of(crawled, site) == texts_of(plain, site)
    crawled.check_reconciled()


def write_without_scripts(
    site: WebSite, make: SimpleNamespace, *, is_route_first: bool, n_pages: int = 12
) -> list[str]:
    """Pages with links to routes of themselves and of each other; the targets of them all."""
    names = [f"/page/{n}" for n in range(n_pages)]
    routes = [f"{name}#/sec" for name in names]
    for n, name in enumerate(names):
        links = [names[(n + 1) % n_pages], "/", routes[n - 3], "#/top", "#!/end"]
        site.routes[name] = make.page(name, *(links[::-1] if is_route_first else links))
    links = [*names[:3], *routes[:5]]
    site.routes["/"] = make.page("start", *(links[::-1] if is_route_first else links))
    return ["/", *names]


@pytest.mark.parametrize(("mode", "n_pages"), [("auto", 12), ("always", 5)])
@pytest.mark.parametrize("is_route_first", [True, False])
def test_a_route_of_a_page_without_scripts_is_not_fetched(
    crawl: Crawler,
    site: WebSite,
    make: SimpleNamespace,
    capsys: pytest.CaptureFixture[str],
    *,
    mode: str,
    n_pages: int,
    is_route_first: bool,
) -> None:
    names = write_without_scripts(site, make, is_route_first=is_route_first, n_pages=n_pages)
    crawled = crawl("site", "-s", f"DEDUP_RENDER={mode}", *_SECONDS, url=site.url)
    assert crawled.status == 0, crawled.output
    assert sorted(site.pages_asked()) == sorted(names)
    assert crawled.stored(site) == {*names}
    crawled.check_reconciled()
    told = {**crawled.skipped(site), **crawled.aliases(site)}
    assert told.keys() == {f"{each}#/top" for each in names[1:]} | {
        f"{each}{route}" for each in names[1:] for route in ("#/sec", "#!/end")
    }
    main(["why", str(crawled.folder), f"{site.url}page/1#/sec"])
    assert "without scripts" in (out := capsys.readouterr().out) or "has no scripts" in out
    assert f"{site.url}page/1\n" in out


def test_a_resumed_crawl_knows_the_pages_without_scripts(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = write_without_scripts(site, make, is_route_first=True)
    options = ("-s", "DEDUP_RENDER=auto", *_SECONDS)
    assert crawl("site", *options, url=site.url, max_pages=5).status == 0
    crawled = crawl("site", *options, url=site.url)
    assert crawled.stored(site) == {*names}
    assert len(site.pages_asked()) < len(names) + 16  # the first run drops answers that are late
    fetched = crawled.rows("SELECT count(*) FROM duplicates")
    assert fetched == [0]
    crawled.check_reconciled()
    n_asked = len(site.asked)
    again = crawl("site", *options, url=site.url, refresh=1)
    assert set(visits(again, site).values()) == {"unchanged"}
    assert len(site.asked) - n_asked <= len(names) + 1  # robots.txt


def test_a_redirect_to_a_page_without_scripts(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/old"] = make.redirect("/page")
    site.routes["/"] = make.page("start", *(f"/old#/{n}" for n in range(5)))
    site.routes["/page"] = make.page("page")
    options = ("-s", "DEDUP_RENDER=auto", *_SECONDS, "-s", "CONCURRENT_REQUESTS=1")
    crawled = crawl("site", *options, url=site.url)
    assert crawled.stored(site) == {"/", "/page"}
    assert site.asked.count("/page") == 1
    assert set(crawled.aliases(site).items()) >= {(f"/old#/{n}", "/page") for n in range(5)}
    crawled.check_reconciled()


def test_one_answer_without_scripts_does_not_end_the_routes(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App
) -> None:
    """It links to all of them: it may have been the only page with a link to the next one."""
    n_asked, other = count(1), make.page("maintenance", *app.routes)
    site.routes["/"] = lambda _: app.home if next(n_asked) != 4 else other
    crawled = app.crawl(crawl)
    found = {url.removesuffix("?id=more") for url in crawled.stored(site)}
    assert found == {"/", *(f"/{route}" for route in app.routes)}
    texts = crawled.rows("SELECT title FROM pages WHERE title = 'maintenance'")
    assert len(texts) == 1


@pytest.mark.parametrize("home", [_SHELL, b""])
def test_routes_that_show_nothing_new_are_bounded(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App, home: bytes
) -> None:
    """An application without routes, and a page whose script changes nothing."""
    links = [f"#/x/{n}" for n in range(300)] + [f"#!y{n}" for n in range(300)]
    if home:
        app.texts = {f"/no/{n}": make.prose("home") for n in range(2)}
        app.write()
        script = _APP.replace("location.hash", "''").encode()
        views = json.dumps({"/": {"title": "Home", "text": make.prose("home"), "links": links}})
        script = f"const VIEWS = {views};".encode() + script
        site.routes["/app.js"] = make.Answer(script, content_type="text/javascript")
    else:
        site.routes["/"] = make.page("x", *links, head='<script src="/app.js" defer></script>')
        site.routes["/app.js"] = make.Answer(b"", content_type="text/javascript")
    crawled = app.crawl(crawl)
    assert crawled.stored(site) == {"/"}
    assert site.asked.count("/") < 100
    assert set(crawled.skipped().values()) == {"same_route"}
    assert "that show nothing new" in crawled.output


def test_routes_of_which_a_query_names_places(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """As in Docsify; a page that is linked in no other way is found by such a link."""
    app, n_places = App(site, make, n_views=12), 12
    paths = [*app.texts]
    views = {"/": {"title": "Home", "text": make.prose("home"), "links": []}}
    for n, path in enumerate(paths):
        links = [f"#{path}?id=place-{m}" for m in range(n_places)]
        other = paths[(n + 1) % len(paths)]
        links.append(f"#{other}?id=place-1" if n == 9 else f"#{other}")
        views[path] = {"title": path, "text": app.texts[path], "links": links}
    views["/"]["links"] = [f"#{paths[0]}"]
    script = f"const VIEWS = {json.dumps(views)};{_APP}".encode()
    site.routes["/app.js"] = make.Answer(script, content_type="text/javascript")
    crawled = app.crawl(crawl)
    found = texts_of(crawled, site)
    assert all(any(text in each for each in found.values()) for text in app.texts.values())
    assert len(found) == 1 + len(paths)
    assert site.asked.count("/") < len(paths) + 50  # of 144 places


def test_a_killed_crawl_goes_on_with_its_routes(crawl: Crawler, site: WebSite, app: App) -> None:
    options = ("-s", "DEDUP_RENDER=auto", *_SECONDS)
    n_asked = count(1)
    crawling = crawl.start("site", *options, url=app.url)

    def kill(target: str) -> None:
        if target == "/" and next(n_asked) == _N_VIEWS // 2:
            os.kill(crawling.process.pid, signal.SIGKILL)

    site.on_request = kill
    assert crawling.finish().status != 0
    site.on_request = lambda target: None
    check_routes(app.crawl(crawl), app, site)


def test_the_url_of_a_route_is_whole_wherever_it_is_told(
    crawl: Crawler, site: WebSite, app: App, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    app.texts["/view/5"] = app.texts["/view/2"]
    app.write()
    crawled = app.crawl(crawl, "auto", "-s", "DEDUP_PROCESSES=2")
    folder, url = str(crawled.folder), app.url
    assert main(["why", folder, f"{url}#/view/2"]) == 0
    assert f"{url}#/view/2" in capsys.readouterr().out
    main(["why", folder, f"{url}#/view/5"])
    told = capsys.readouterr().out
    assert "duplicate" in told
    assert f"{url}#/view/2" in told
    main(["why", folder, f"{url}#/none"])
    assert "never seen" in capsys.readouterr().out
    main(["pair", folder, f"{url}#/view/2", f"{url}#/view/5"])
    assert f"{url}#/view/5" in capsys.readouterr().out
    archive = tmp_path / "pages.warc"
    main(["export", folder, "-o", str(archive)])
    assert f"WARC-Target-URI: {url}#/view/2".encode() in archive.read_bytes()


def test_a_route_that_failed_is_tried_again(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App
) -> None:
    n_asked = count(1)

    def answer(handler: object) -> object:
        return app.home if next(n_asked) != 4 else make.Answer(b"", status=503)

    site.routes["/"] = answer
    crawled = app.crawl(crawl, "auto", "-s", "RETRY_ENABLED=False")
    ((failed, reason),) = crawled.skipped(site).items()
    assert (reason, failed[:8]) == ("http_503", "/#/view/")
    main(["retry", str(crawled.folder)])
    found = texts_of(app.crawl(crawl), site)
    assert found.keys() == {"", *app.routes}


def test_a_route_that_a_script_sets_is_known(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    script = f"""location.hash = "/first";
      document.querySelector("#root").textContent = "{make.prose("first")}";"""
    site.routes["/app.js"] = make.Answer(script.encode(), content_type="text/javascript")
    site.routes["/"] = _SHELL
    crawled = crawl("site", "-s", "DEDUP_RENDER=auto", *_SECONDS, url=site.url)
    assert crawled.stored(site) == {"/"}
    assert crawled.rows("SELECT url FROM duplicates") == [f"{site.url}#/first"]


def test_a_link_that_a_script_makes_by_history_is_an_ordinary_url(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Its address is set by `pushState` as the page opens; links are relative to that."""
    script = """history.pushState({}, "", "/deep/er/");
      document.querySelector("#root").innerHTML = '<a href="../other">x</a>';"""
    site.routes["/app.js"] = make.Answer(script.encode(), content_type="text/javascript")
    site.routes["/"] = _SHELL
    site.routes["/deep/other"] = make.page("other")
    crawled = crawl("site", "-s", "DEDUP_RENDER=auto", *_SECONDS, url=site.url)
    assert "/deep/other" in crawled.stored(site)


def test_without_rendering_fragments_are_dropped(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start", "#/x", "/page#/y")
    site.routes["/page"] = make.page("page")
    crawled = crawl("site", url=site.url)
    assert crawled.stored(site) == {"/", "/page"}
    assert site.pages_asked() == ["/", "/page"]


def test_robots_txt_and_redirects_at_a_route(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, app: App
) -> None:
    """A rule ends where the fragment begins, and a redirect keeps the route."""
    rules = b"User-agent: *\nDisallow: /no$\n"
    site.routes["/robots.txt"] = make.Answer(rules, content_type="text/plain")
    site.routes["/old"] = make.redirect("/")
    site.routes["/start"] = make.page("start", "/", "/old#/view/0", "/no#/view/1", "/denied#/x")
    site.routes["/go"] = b"<script>location = '/old#/view/1';</script>"
    crawled = crawl(
        "site",
        *("-s", "DEDUP_RENDER=auto", *_SECONDS, "-s", "CONCURRENT_REQUESTS=1"),
        url=f"{site.url}start,{site.url}go",
        deny="denied$",
    )
    assert crawled.stored(site) >= {"/start", "/", *(f"/{each}" for each in app.routes)}
    assert crawled.aliases(site).keys() >= {"/old#/view/0", "/old#/view/1"}
    assert crawled.aliases(site)["/old#/view/0"] == "/#/view/0"
    assert crawled.skipped(site)["/no#/view/1"] == "robots"
    assert not {"/no", "/denied"} & {*site.asked}


def test_a_job_with_routes_goes_on_with_rendering_alone(
    crawl: Crawler, site: WebSite, app: App
) -> None:
    options = ("-s", "DEDUP_RENDER=auto", *_SECONDS)
    assert crawl("site", *options, url=app.url, max_pages=3).status == 0
    refused = crawl("site", url=app.url)
    assert refused.status != 0
    assert "Set DEDUP_RENDER=auto" in refused.output
    check_routes(app.crawl(crawl), app, site)
    site.routes["/"] = b"<p>no routes"
    plain = crawl("site", *options, url=app.url, job="plain")
    assert crawl("site", url=app.url, job="plain").status == plain.status == 0
