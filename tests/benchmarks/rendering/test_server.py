import urllib.request
from pathlib import Path

import pytest

from benchmarks.rendering.records import Record
from benchmarks.rendering.server import BuiltSite, LoggedServer, TurningSite
from benchmarks.rendering.truth import SITE, TruePage, Truth

RECORDS = [Record(f"p-{n}", f"Title {n}", "news", (f"lead {n}", f"rest {n}")) for n in range(60)]


def _scripted(site: TurningSite) -> list[str]:
    return [path for path, page in site.pages.items() if page.scripted]


def _body(site: TurningSite | BuiltSite, path: str) -> str:
    return site.answer(path, "http://a/").body.decode()


def test_turning_site_turns_after_half_of_its_pages() -> None:
    site = TurningSite(RECORDS)
    bodies = [_body(site, f"/page/{each.slug}.html") for each in RECORDS]
    assert [f"<p>rest {n}</p>" in body for n, body in enumerate(bodies)] == [True] * 30 + [
        False
    ] * 30
    assert _scripted(site) == [f"/page/p-{n}.html" for n in range(30, 60)]
    assert _body(site, "/page/p-40.json") == "<p>lead 40</p>\n<p>rest 40</p>\n"


def test_each_thirtieth_page_is_scripted_after_its_first_paragraph() -> None:
    site = TurningSite(RECORDS, every=30, until=1)
    assert _scripted(site) == ["/page/p-15.html", "/page/p-45.html"]
    assert "<p>lead 15</p>" in (body := _body(site, "/page/p-15.html"))
    assert "<p>rest 15</p>" not in body
    assert _body(site, "/page/p-15.json") == "<p>rest 15</p>\n"
    assert "<p>rest 16</p>" in _body(site, "/page/p-16.html")


def test_turning_site_links_to_all_its_pages() -> None:
    site = TurningSite(RECORDS)
    lists = [path for path in site.pages if path.startswith("/list/")]
    assert all(f'href="{path}"' in _body(site, "/") for path in lists)
    linked = "".join(_body(site, path) for path in lists)
    assert all(f'href="/page/{each.slug}.html"' in linked for each in RECORDS)


@pytest.fixture
def application(tmp_path: Path) -> Path:
    (tmp_path / SITE).mkdir()
    (tmp_path / SITE / "index.html").write_text("shell")
    Truth({"/a": TruePage("A", "A\ntext", scripted=True)}, fallback="index.html").write(tmp_path)
    return tmp_path


def test_built_site_answers_paths_of_an_application_with_its_shell(application: Path) -> None:
    site = BuiltSite(application)
    assert site.pages == {"/a": TruePage("A", "A\ntext", scripted=True)}
    assert _body(site, "/a") == "shell"
    assert site.answer("/a.json", "http://a/").status == 404


def test_server_tells_documents_that_a_browser_asked_for(application: Path) -> None:
    with LoggedServer(BuiltSite(application), "Chrome") as server:
        for agent, dest in (("Chrome/1", "document"), ("Firefox/1", "document"), ("Chrome/1", "")):
            headers = {"User-Agent": agent, "Sec-Fetch-Dest": dest}
            urllib.request.urlopen(urllib.request.Request(f"{server.url}a", headers=headers))
    assert server.log.rendered() == ["/a"]
