"""Pages visited again: unchanged, changed, gone, moved; and what duplicated them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.changes import Changes
from dedup.cli import main
from dedup.jobs.job import open_job
from dedup.revisits import Trust
from dedup.store import SqliteStore
from tests.with_constants import with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


@pytest.fixture
def tagged(site: WebSite, make: SimpleNamespace) -> WebSite:
    """Pages with an ETag, one with a date, one with neither; /copy is one of /changes."""

    def route(body: bytes, **headers: str) -> Any:
        def answer(handler: Any) -> Any:
            asked = handler.headers
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            if (
                (asked["If-None-Match"], asked["If-Modified-Since"])
                == (
                    sent.get("ETag"),
                    sent.get("Last-Modified"),
                )
                != (None, None)
            ):
                return make.Answer(b"", 304, None)
            return make.Answer(body, headers=sent)

        return answer

    site.routes |= {
        "/": route(make.page("/", "/tag", "/date", "/plain", "/changes", "/gone", "/moves")),
        "/tag": route(make.page("tag"), ETag='"1"'),
        "/date": route(make.page("date"), Last_Modified="Sat, 21 Nov 2026 10:00:00 GMT"),
        "/plain": make.page("plain"),
        "/changes": route(make.page("changes", "/copy"), ETag='"1"'),
        "/copy": route(make.page("changes", "/copy"), ETag='"1"'),
        "/gone": make.page("gone"),
        "/moves": make.page("moves"),
    }
    site.change = lambda: site.routes.update(  # type: ignore[attr-defined]
        {
            "/changes": route(make.page("changes now", "/copy", "/new"), ETag='"2"'),
            "/gone": make.Answer(b"", 404),
            "/moves": make.redirect("/moved"),
            "/moved": make.page("moves"),
            "/new": make.page("new"),
        }
    )
    return site


def test_a_refresh_stores_what_changed_and_counts_the_rest(crawl: Crawler, tagged: Any) -> None:
    first = crawl("site", url=tagged.url)
    assert first.stored(tagged) >= {"/tag", "/date", "/plain", "/changes", "/gone", "/moves"}
    assert first.rows("SELECT url FROM duplicates") == [f"{tagged.url}copy"]
    filtered = first.stats["urls"]["filtered"]
    first_report = (first.folder / "report.html").read_text(encoding="utf-8")
    tagged.change()
    tagged.asked.clear()
    again = crawl("site", url=tagged.url, refresh=1)
    assert again.status == 0, again.output
    assert again.stats["urls"]["filtered"] == filtered  # links count once
    assert "Traceback" not in again.output, again.output
    found = again.stats["refresh"]
    assert found == {"number": 1, "unchanged": 4, "changed": 1, "missing": 1, "moved": 1}
    assert "refresh 1: " in again.output
    report = (again.folder / "report.html").read_text(encoding="utf-8")
    assert "<b>Refresh 1:</b> 1 changed, 1 missing, 1 moved, 4 unchanged" in report
    assert "Visits and the latest changes" in report
    assert f'<td>changed</td><td><a href="{tagged.url}changes"' in report
    assert "Refresh" not in first_report
    assert "Visits and" not in first_report
    # What duplicated the old version is nowhere else now, and is stored.
    assert {"/copy", "/new", "/moved", "/gone"} & again.stored(tagged) >= {"/copy", "/new", "/gone"}
    assert set(tagged.pages_asked()) >= {"/tag", "/date", "/plain", "/copy"}
    number, versions = again.rows(
        "SELECT p.number, count(*) FROM versions JOIN pages AS p ON p.number = page"
        f" WHERE p.url = '{tagged.url}changes'"
    )[0]
    assert versions == 1
    store = SqliteStore(again.folder / "crawl.sqlite", read_only=True)
    assert store.document(number).title == "changes now"
    store.close()
    assert again.stats["urls"]["queued"] == 0


def test_a_second_refresh_is_one_of_its_own(crawl: Crawler, tagged: Any) -> None:
    crawl("site", url=tagged.url)
    crawl("site", url=tagged.url, refresh=1)
    found = crawl("site", url=tagged.url, refresh=1).stats["refresh"]
    assert found == {"number": 2, "unchanged": 7}


def _visits(site: WebSite) -> list[str]:
    """The pages that a refresh with a budget asked for, without what it heard before."""
    asked = [target for target in site.pages_asked() if target != "/sitemap.xml"]
    asked.remove("/")  # it may have a search index
    return asked


def _told(crawled: Any, site: WebSite) -> dict[str, str]:
    with (
        SqliteStore(crawled.folder / "crawl.sqlite", read_only=True) as store,
        TemporaryDirectory() as folder,
    ):
        rows = list(Changes(store, None, Path(folder)).rows())
    return {each.url.removeprefix(site.url): each.change for each in rows}


def test_what_a_refresh_found_is_told(
    crawl: Crawler, tagged: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = crawl("site", url=tagged.url)

    def why(name: str) -> str:
        main(["why", str(first.folder), f"{tagged.url}{name}"])
        return capsys.readouterr().out

    assert "visited" not in why("plain")
    tagged.change()
    again = crawl("site", url=tagged.url, refresh=1)
    found = _told(again, tagged)
    assert found == {"changes": "changed", "new": "new", "moves": "moved"}  # /copy is no new page
    assert "404; the page is gone if the next visit finds the same" in why("gone")
    assert f"moved to {tagged.url}moved" in why("moves")
    assert _told(crawl("site", url=tagged.url, refresh=1), tagged) == {"gone": "gone"}
    assert "gone: 404 or" in why("gone")
    assert "UTC: unchanged" in why("plain")


def _failing(make: SimpleNamespace) -> dict[str, Any]:
    """What a server answers for all pages of a visit, by what has happened to it."""
    empty = b"<!doctype html><title></title><body><main></main></body>"

    def another_site(handler: Any) -> bytes:
        return make.page(f"another site {handler.path}")

    return {
        "503": make.Answer(b"", 503),
        "404": make.Answer(b"No such page", 404),
        "no body": make.Answer(b""),
        "an empty page": empty,
        "a log-in page": make.page("Log in", body="<form><input name=password></form>"),
        "another site": another_site,
    }


def _offer_pages(visit: int, **facts: str) -> dict[str, bytes]:
    """Offers whose facts stand beside the text, among counters and advertisements that rotate.

    All prices rise before the second visit.
    """
    words = [f"{one}{two}" for one in ("oak", "elm", "fir") for two in "abcdefgh"]
    links = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in words)
    found = {}
    for at, word in enumerate(words):
        text = "".join(
            f"<p>The {word} of {each} is made by hand in {word}ton for {each}s.</p>"
            for each in ("river", "cloud", "stone", "paper", "amber")
        )
        usual = f"{at + 10 + min(visit, 1)}.50 EUR|In stock|2027-03-{at + 1:02}"
        own = zip(("Price", "Stock", "From"), facts.get(word, usual).split("|"), strict=True)
        fact = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in own)
        rotating = "".join(f"{word}{each}{visit} " for each in ("ad", "buy", "now", "win"))
        found[f"/{word}"] = found["/"] = (
            f"<html><head><title>{word}</title><meta name=token content={visit}></head><body>"
            f"<h1>{word}</h1><div class=facts><dl>{fact}</dl></div>"
            f"<div class=text>{text}</div><div class=ad>{rotating}</div>"
            f"<div class=seen>Seen {visit * 7 + at} times</div><ul>{links}</ul></body></html>"
        ).encode()
    return found


def test_facts_beside_the_text_are_told_and_what_rotates_is_not(
    crawl: Crawler, site: WebSite, tmp_path: Path
) -> None:
    site.routes |= _offer_pages(0)
    first = crawl("site", url=site.url)
    before = first.rows("SELECT url, fetched_at FROM pages ORDER BY url")
    site.routes |= _offer_pages(1)
    again = crawl("site", url=site.url, refresh=1)
    assert again.stats["refresh"] == {"number": 1, "unchanged": len(before)}
    assert list(_told(again, site).values()) == ["template"]  # once, of the host
    assert again.rows("SELECT url, fetched_at FROM pages ORDER BY url") == before
    facts = {
        "oakc": "99.50 EUR|In stock|2027-03-03",
        "elmd": "22.50 EUR|Sold out|2027-03-12",
        "fira": "27.50 EUR|In stock|2027-04-17",
        "elma": "88.50 EUR|In stock|2027-03-09",
    }
    site.routes |= _offer_pages(2, **facts, firc="1.50 EUR|Sold out|2027-03-19")
    site.routes["/firc"] = site.routes["/firc"].removesuffix(b"</body></html>")  # a part of it
    site.routes["/oakc"] = site.routes["/oakc"].replace(b"of river is made", b"of iron is made")
    last = crawl("site", url=site.url, refresh=1)
    assert _told(last, site) == dict.fromkeys(facts, "changed")
    with SqliteStore(last.folder / "crawl.sqlite", read_only=True) as store:
        rows = {each.url: each for each in Changes(store, None, tmp_path).rows()}
        since = store.refreshes.changes.refreshes()[0].began
        of_both = {each.url: each for each in Changes(store, since, tmp_path).rows()}
    assert {each.url for each in rows.values()} <= of_both.keys()
    alone = of_both[f"{site.url}elma"]
    assert (alone.came, alone.went) == (["Price\t88.50 EUR"], ["Price\t19.50 EUR"])
    price, stock, date, _ = (rows[f"{site.url}{name}"] for name in facts)
    text = "The oakc of {} is made by hand in oakcton for rivers."
    assert price.came == [text.format("iron"), "99.50 EUR"]
    assert price.went == [text.format("river"), "13.50 EUR"]
    assert (stock.came, stock.went) == (["Stock\tSold out"], ["Stock\tIn stock"])
    assert (date.came, date.went) == (["From\t2027-04-17"], ["From\t2027-03-17"])
    found = last.stats["refresh"]
    assert found == {"number": 2, "changed": 4, "unchanged": len(before) - 4}
    assert len(last.rows("SELECT page FROM versions")) == 4


def test_a_fact_that_many_pages_got_at_once_is_told_once_of_the_host(
    crawl: Crawler, site: WebSite, tmp_path: Path
) -> None:
    site.routes |= _offer_pages(1)
    crawl("site", url=site.url)
    sold = {
        f"oak{letter}": f"{at + 11}.50 EUR|Sold out|2027-03-{at + 1:02}"
        for at, letter in enumerate("abcdefgh")
    }
    site.routes |= _offer_pages(1, **sold)
    last = crawl("site", url=site.url, refresh=1)
    assert last.stats["refresh"] == {"number": 1, "template": 8, "unchanged": 16}
    with SqliteStore(last.folder / "crawl.sqlite", read_only=True) as store:
        (row,) = Changes(store, None, tmp_path).rows()
    found = row.change, row.came, row.went
    assert found == ("template", ["Stock\tSold out"], ["Stock\tIn stock"])


def test_pages_that_are_not_found_without_the_status_for_it_are_gone(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{n}" for n in range(8)]
    site.routes |= {"/": make.page("start", *names), **{name: make.page(name) for name in names}}
    crawl("site", url=site.url)
    site.routes |= dict.fromkeys(names[:3], make.page("Not found"))
    first = crawl("site", url=site.url, refresh=1).stats["refresh"]
    assert first == {"number": 1, "failed": 3, "unchanged": 6}
    second = crawl("site", url=site.url, refresh=1)
    assert second.stats["refresh"] == {"number": 2, "gone": 3, "unchanged": 6}
    assert _told(second, site) == dict.fromkeys("012", "gone")
    assert second.stored(site) == {"/", *names}


def test_pages_that_are_no_longer_there_say_so_in_exports(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, tmp_path: Path
) -> None:
    """Renamed with and without a redirect, marked noindex in two ways, a PDF, an image."""
    stay = [f"/{n}" for n in range(8)]
    names = [*stay, "/redirects", "/renamed", "/gone", "/noindex", "/header", "/pdf", "/png"]
    site.routes |= {name: make.page(name, *names) for name in ("/", *names)}
    crawl("site", url=site.url)
    site.routes |= {
        "/": make.page("/", *names, "/new"),
        "/redirects": make.redirect("/target", 301),
        "/target": make.page("/redirects"),
        "/renamed": make.Answer(b"", 404),
        "/new": make.page("/renamed", *names),
        "/gone": make.Answer(b"", 410),
        "/noindex": make.page("/noindex", head="<meta name=robots content=noindex>"),
        "/header": make.Answer(make.page("/header"), headers={"X-Robots-Tag": "noindex"}),
        "/pdf": make.Answer(b"%PDF-1.7 ...", content_type="application/pdf"),
        "/png": make.Answer(b"\x89PNG\r\n\x1a\n", content_type="image/png"),
    }
    first = crawl("site", url=site.url, refresh=1)
    assert first.stats["refresh"]["failed"] == 4
    second = crawl("site", url=site.url, refresh=1)
    assert _told(second, site) == {
        "renamed": "moved",
        **dict.fromkeys(("noindex", "header", "pdf", "png"), "gone"),
    }
    rows = _exported(second.folder, tmp_path)
    away = {url.removeprefix(site.url): row for url, row in rows.items() if row["gone_at"]}
    assert {name: row["moved_to"] for name, row in away.items()} == {
        "redirects": f"{site.url}target",
        "renamed": f"{site.url}new",
        **dict.fromkeys(("gone", "noindex", "header", "pdf", "png")),
    }
    assert all(row["moved_to"] is None for row in rows.values() if not row["gone_at"])
    page = open_job(second.folder).page(f"{site.url}renamed")
    assert page == rows[f"{site.url}renamed"]
    site.routes |= {name: make.page(name) for name in ("/noindex", "/pdf", "/redirects")}
    third = crawl("site", url=site.url, refresh=1)
    assert _told(third, site) == dict.fromkeys(("noindex", "pdf", "redirects"), "back")
    rows = _exported(third.folder, tmp_path)
    gone = {url.removeprefix(site.url) for url, row in rows.items() if row["gone_at"]}
    assert gone == {"renamed", "gone", "header", "png"}


def _exported(job: Path, folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / "pages.jsonl"
    assert main(["export", str(job), "-o", str(path), "--overwrite"]) == 0
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["url"]: row for row in rows}


@pytest.mark.slow
def test_a_server_that_fails_for_a_visit_changes_nothing(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/page-{number}" for number in range(8)]
    good = {"/": make.page("start", *names), **{name: make.page(name) for name in names}}
    site.routes.update(good)
    before = crawl("site", url=site.url)
    texts = "SELECT url, title, hex(text) FROM pages ORDER BY url"
    stored = before.rows(texts)
    host = site.url.split("/")[2]
    for name, answer in _failing(make).items():
        site.routes.update(dict.fromkeys(good, answer))
        found = crawl("site", "-s", "RETRY_ENABLED=0", url=site.url, refresh=1)
        assert found.rows(texts) == stored, name
        assert found.stats["refresh"].keys() == {"number", "failed"}, name
        assert _told(found, site) == {host: "failed"}, name
        assert "visits that failed: 9;" in found.output, name
    site.routes.update(good)
    assert _told(crawl("site", url=site.url, refresh=1), site) == {}


def _articles(make: SimpleNamespace) -> dict[str, Any]:
    """Eight pages, and print versions of three."""
    names = [f"/page-{number}" for number in range(8)]
    prints = {f"/print-{n}": make.page(f"/page-{n}", body=f"<p>Print {n}</p>") for n in (3, 5, 7)}
    pages = {name: make.page(name) for name in names}
    return {"/": make.page("start", *names, *prints), **pages, **prints}


@pytest.mark.parametrize("outage", ["a log-in page", "redirects"])
def test_an_outage_leaves_duplicates_as_they_were(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, outage: str
) -> None:
    good = _articles(make)
    site.routes.update(good)
    first = crawl("site", url=site.url)
    pages, duplicates = (
        "SELECT url, hex(text) FROM pages ORDER BY url",
        "SELECT url FROM duplicates",
    )
    stored, dropped = first.rows(pages), sorted(first.rows(duplicates))
    assert len(stored) == 9
    assert len(dropped) == 3
    log_in = make.page("Log in", body="<form><input name=password></form>")
    answer, routes = log_in, {}
    if outage == "redirects":
        answer = make.redirect("/login")
        routes = {"/login": make.page("Log in", "/help"), "/help": answer}
    site.routes.update(dict.fromkeys(good, answer) | routes)
    during = crawl("site", url=site.url, refresh=1)
    assert during.stats["refresh"].keys() == {"number", "failed"}
    assert set(_told(during, site).values()) == {"failed"}
    for found in (during, _refreshed(crawl, site, good)):
        assert found.rows(pages) == stored
        assert sorted(found.rows(duplicates)) == dropped


def _refreshed(crawl: Crawler, site: WebSite, routes: dict[str, Any]) -> Any:
    site.routes.update(routes)
    return crawl("site", url=site.url, refresh=1)


def test_a_duplicate_becomes_a_page_once_its_host_is_not_in_doubt(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    routes = _articles(make)
    site.routes.update(routes)
    crawl("site", url=site.url)
    again = _refreshed(crawl, site, {"/print-5": make.page("another article")})
    assert again.rows("SELECT count(*) FROM pages") == [10]
    assert again.rows("SELECT count(*) FROM duplicates") == [2]


def test_a_rewritten_page_and_its_duplicate_stay_one(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes.update(_articles(make))
    crawl("site", url=site.url)
    new, is_asked = make.page("another article"), Event()

    def slow(handler: Any) -> bytes:
        is_asked.wait(0.2)  # the visit of the duplicate would come now, and be judged first
        return new

    def copy(handler: Any) -> bytes:
        is_asked.set()
        return new

    site.routes.update({"/page-5": slow, "/print-5": copy})
    again = crawl("site", url=site.url, refresh=1)
    assert again.stats["refresh"]["changed"] == 1
    assert again.rows("SELECT count(*) FROM pages") == [9]
    assert again.rows("SELECT count(*) FROM duplicates") == [3]


def test_a_single_page_may_become_another(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("one")
    crawl("site", url=site.url)
    site.routes["/"] = make.page("another")
    found = crawl("site", url=site.url, refresh=1)
    assert found.stats["refresh"] == {"number": 1, "changed": 1}
    assert _told(found, site) == {"": "changed"}


def test_killed_refresh_resumes(crawl: Crawler, tagged: Any) -> None:
    crawl("site", url=tagged.url)
    tagged.change()

    def kill(target: str) -> None:
        if target == "/plain":
            os.kill(crawling.process.pid, signal.SIGKILL)

    crawling = crawl.start("site", url=tagged.url, refresh=1)
    tagged.on_request = kill
    assert crawling.finish().status == -signal.SIGKILL
    tagged.on_request = lambda target: None
    found = crawl("site", url=tagged.url, refresh=1).stats["refresh"]
    assert found == {"number": 1, "unchanged": 4, "changed": 1, "missing": 1, "moved": 1}


def test_a_refresh_of_a_broken_server_loses_no_record(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    copies = [f"/copy-{number}" for number in range(10)]
    good = {target: make.page("original") for target in copies}
    good["/"] = make.page("start", *copies)
    site.routes.update(good)
    before = crawl("site", url=site.url)
    duplicates = "SELECT url, original FROM duplicates ORDER BY url"
    assert len(before.rows(duplicates)) == 9
    known = before.rows(duplicates)
    site.routes.update(dict.fromkeys(good, make.Answer(b"", 500)))
    broken = crawl("site", "-s", "RETRY_ENABLED=0", url=site.url, refresh=1)
    assert broken.rows(duplicates) == known
    assert broken.stats["refresh"] == {"number": 1, "failed": 11}
    assert broken.stats["pages"]["fetched"] == before.stats["pages"]["fetched"]
    site.routes.update(good)
    again = crawl("site", url=site.url, refresh=1)
    assert again.rows(duplicates) == known
    assert again.stats["pages"]["duplicates"] == before.stats["pages"]["duplicates"]
    again.check_reconciled()
    site.routes["/copy-3"] = make.page("another")
    changed = crawl("site", url=site.url, refresh=1)
    assert len(changed.rows(duplicates)) == 8
    assert "/copy-3" in changed.stored(site)
    changed.check_reconciled()


def test_a_refresh_with_a_budget_ends_and_the_next_one_goes_on_with_others(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{n}" for n in range(9)]
    site.routes |= {"/": make.page("/", *names), **{name: make.page(name) for name in names}}
    crawl("site", url=site.url)
    visited: list[str] = []
    for number in range(1, 6):
        site.asked.clear()
        crawled = crawl("site", url=site.url, refresh=1, max_pages=2)
        assert crawled.stats["refresh"] == {"number": number, "unchanged": 2}, crawled.output
        assert crawled.rows("SELECT count(*) FROM meta WHERE name = 'finished'") == [1]
        visited += _visits(site)
    assert len(visited) == len(set(visited)) == 10


def test_a_budget_goes_to_the_pages_that_a_sitemap_names_unless_it_lies(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{n}" for n in range(30)]
    site.routes |= {"/": make.page("/", *names), **{name: make.page(name) for name in names}}

    def dated(**dates: str) -> bytes:
        entry = "<url><loc>{}{}</loc><lastmod>{}</lastmod></url>"
        entries = (entry.format(site.url, n, dates.get(f"n{n}", "2026-01-01")) for n in range(30))
        return f"<urlset>{''.join(entries)}</urlset>".encode()

    def refreshed(sitemap: bytes) -> tuple[list[str], Trust]:
        site.routes["/sitemap.xml"] = make.Answer(sitemap, 200, "application/xml")
        site.asked.clear()
        crawled = crawl("site", url=site.url, refresh=1, max_pages=4)
        assert crawled.status == 0, crawled.output
        sums = ", ".join(f"sum({name})" for name in Trust._fields)
        (counts,) = crawled.rows(f"SELECT {sums} FROM lastmods")
        return _visits(site), Trust(*counts)

    crawl("site", url=site.url)
    assert len(refreshed(dated())[0]) == 4
    site.routes |= {each: make.page(each, body="<p>More.</p>") for each in ("/17", "/23")}
    visited, trust = refreshed(dated(n17="2026-01-02", n23="2026-01-02"))
    assert {"/17", "/23"} < {*visited}
    assert (trust.named_changed, trust.named_same, len(visited)) == (2, 0, 4)
    for day in range(3, 6):
        _, trust = refreshed(dated(**{f"n{n}": f"2026-01-0{day}" for n in range(30)}))
    assert trust.named_same > 7
    believed = Trust(2, 0, 0, trust.silent_same).odds(is_named=True, share=0.5)
    assert trust.odds(is_named=True, share=0.5) < believed / 2


@pytest.mark.parametrize("is_landing_page", [False, True])
def test_a_budget_goes_to_the_pages_that_have_another_text_in_a_search_index(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, is_landing_page: bool
) -> None:
    """Of each version of a manual; a sitemap that dates all pages anew says nothing beside it."""
    folders = ["", *(f"{version}/" for version in ("1.0", "2.0"))]
    names = [f"{folder}{n}/" for folder in folders for n in range(12)]
    texts = {name: f"text of {name}" for name in names}
    n_visits = 0

    def published() -> None:
        for folder in folders:
            own = [f"{n}/" for n in range(12)]
            docs = [{"location": f"{name}#h", "text": texts[folder + name]} for name in own]
            index = json.dumps({"config": {"lang": ["en"]}, "docs": docs}).encode()
            status = 500 if n_visits == 2 else 200  # a fault, after which it is compared again
            head = "<script>var base_url = '{}';</script>".format
            start = make.page(f"start {folder}", *map("/{}".format, names), head=head("."))
            site.routes |= {
                f"/{folder}": start,
                f"/{folder}search/search_index.json": make.Answer(
                    index, status, "application/json"
                ),
                **{f"/{folder}{n}": make.page(texts[folder + n], head=head("..")) for n in own},
            }
        if is_landing_page:
            site.routes["/"] = make.page("start", *map("/{}".format, names))
        dates = "".join(
            f"<url><loc>{site.url}{name}</loc><lastmod>{n_visits}</lastmod></url>" for name in names
        )
        site.routes["/sitemap.xml"] = f"<urlset>{dates}</urlset>".encode()

    published()
    crawl("site", url=site.url)
    changed = {"1.0/5/", "2.0/7/", *([] if is_landing_page else ["3/"])}
    for n_visits in (1, 2, 3):
        if n_visits == 3:
            texts |= {name: f"another text of {name}" for name in changed}
        published()
        crawled = crawl("site", url=site.url, refresh=1, max_pages=6)
    assert _told(crawled, site) == dict.fromkeys(changed, "changed"), crawled.output
    values = crawled.rows("SELECT DISTINCT substr(value, 1, 5) FROM lastmods")
    assert values == ["text "]


def test_what_a_site_says_is_read_on_its_own_hosts(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    other = site.url.replace("127.0.0.1", "localhost")
    site.routes |= {
        "/": make.page("/", "/1", head="<script>base_url = '.'</script>"),
        "/1": make.page("/1"),
        "/search/search_index.json": make.redirect(f"{other}stolen.json"),
        "/sitemap.xml": make.redirect("/all.xml"),
    }
    crawl("site", url=site.url)
    site.asked.clear()
    again = crawl("site", url=site.url, refresh=1, max_pages=9)
    assert {"/search/search_index.json", "/all.xml"} < {*site.asked}
    assert "/stolen.json" not in site.asked
    assert again.stats["refresh"] == {"number": 1, "unchanged": 2}


def test_a_site_without_an_index_is_looked_at_as_a_whole_once(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Not again as another site has one."""
    names = [f"/docs/{n}/" for n in range(6)]
    docs = [{"location": name[1:], "text": name} for name in names]

    def of_host(name: str) -> Any:
        def answer(handler: Any) -> bytes:
            host = handler.headers["Host"]
            if host.startswith("localhost"):
                time.sleep(0.2)  # the index of the other site is there first
                return make.page(f"{name} of {host}", *names)
            return make.page(f"{name} of {host}", *names, head="<script>base_url = '.'</script>")

        return answer

    site.routes |= {name: of_host(name) for name in ("/", *names)}
    index = json.dumps({"docs": docs}).encode()
    site.routes["/search/search_index.json"] = make.Answer(index, 200, "application/json")
    urls = ",".join([site.url, site.url.replace("127.0.0.1", "localhost")])
    crawl("site", url=urls)
    asked = []
    for _ in range(2):
        site.asked.clear()
        again = crawl("site", url=urls, refresh=1, max_pages=2)
        assert again.stats["refresh"]["unchanged"] == 2
        asked.append([each for each in site.asked if each in {"/", *names}])
    assert list(map(len, asked)) == [2 + 2 + 1, 2 + 2]  # start pages, visits, a section


def _manual(site: WebSite, make: SimpleNamespace, texts: dict[str, str], head: str = "") -> None:
    """Publish a manual with the search index of MkDocs, which pages with this head lead to."""
    docs = [{"location": name[1:], "text": text} for name, text in texts.items()]
    index = json.dumps({"docs": docs}).encode()
    site.routes |= {
        **{name: make.page(text, *texts, head=head) for name, text in texts.items()},
        "/search/search_index.json": make.Answer(index, 200, "application/json"),
    }


def test_what_a_full_refresh_has_seen_is_not_taken_for_a_change_afterwards(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    texts = {name: f"text of {name}" for name in ("/", *(f"/docs/{n}/" for n in range(12)))}
    head = "<script>base_url = '/'</script>"
    _manual(site, make, texts, head)
    crawl("site", url=site.url)
    crawl("site", url=site.url, refresh=1, max_pages=5)
    texts |= {name: f"another text of {name}" for name in ("/docs/1/", "/docs/2/", "/docs/4/")}
    _manual(site, make, texts, head)
    crawl("site", url=site.url, refresh=1)
    counts = "SELECT sum(named_changed), sum(named_same) FROM lastmods"
    assert crawl("site", url=site.url, refresh=1, max_pages=5).rows(counts) == [(0, 0)]
    changed = {name: f"third {texts[name]}" for name in ("/docs/3/", "/docs/7/")}
    _manual(site, make, texts | changed, head)
    site.asked.clear()
    crawled = crawl("site", url=site.url, refresh=1, max_pages=5)
    assert {*changed} < {*site.asked}
    assert crawled.rows(counts) == [(2, 0)]


@pytest.mark.parametrize(("status", "n_named"), [(404, 1), (503, 0)])
def test_dates_count_where_a_site_has_no_search_index_any_more(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, status: int, n_named: int
) -> None:
    texts = {name: f"text of {name}" for name in ("/", *(f"/{n}" for n in range(8)))}
    _manual(site, make, texts, head="<script>base_url = '/'</script>")
    crawl("site", url=site.url)
    crawl("site", url=site.url, refresh=1, max_pages=2)
    site.routes["/search/search_index.json"] = make.Answer(b"", status)
    for date in ("2026-01-01", "2026-01-02"):
        dates = dict.fromkeys(texts, "2026-01-01") | {"/5": date}
        entries = (f"<url><loc>{n}</loc><lastmod>{at}</lastmod></url>" for n, at in dates.items())
        site.routes["/sitemap.xml"] = f"<urlset>{''.join(entries)}</urlset>".encode()
        site.asked.clear()
        crawled = crawl("site", url=site.url, refresh=1, max_pages=2)
    assert crawled.rows("SELECT sum(named_same) FROM lastmods") == [n_named]
    assert _visits(site).count("/5") >= n_named


def test_an_index_that_fails_at_first_is_looked_for_later(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Where pages of a section alone lead to it."""
    names = [f"/docs/{n}/" for n in range(6)]
    _manual(site, make, dict.fromkeys(names, "text"), head="<script>base_url = '/'</script>")
    index = site.routes["/search/search_index.json"]
    site.routes["/"] = make.page("start", *names)
    site.routes["/search/search_index.json"] = make.Answer(b"", 503)
    crawl("site", url=site.url)
    n_pages = "SELECT count(*) FROM lastmods"
    assert crawl("site", url=site.url, refresh=1, max_pages=1).rows(n_pages) == [0]
    site.routes["/search/search_index.json"] = index
    assert crawl("site", url=site.url, refresh=1, max_pages=1).rows(n_pages) == [6]


def test_a_site_that_fails_at_first_is_looked_at_as_a_whole_later(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Until one of its pages has led to an index with the others; another site does not fail."""
    names = [f"/{folder}/{n}/" for folder in ("a", "b", "c") for n in range(6)]
    failing: set[str] = set()

    def start(handler: Any) -> Any:
        host = handler.headers["Host"]
        fails = host.partition(":")[0] in failing
        return make.Answer(b"", 503) if fails else make.page(f"start of {host}", *names)

    _manual(site, make, dict.fromkeys(names, "text"), head="<script>base_url = '/'</script>")
    site.routes["/"] = start  # which has no index
    urls = ",".join([site.url, site.url.replace("127.0.0.1", "localhost")])
    crawl("site", url=urls)
    hosts = "SELECT count(DISTINCT substr(url, 8, 9)) FROM lastmods"
    failing.add("localhost")
    assert crawl("site", url=urls, refresh=1, max_pages=1).rows(hosts) == [1]
    failing.clear()
    site.asked.clear()
    assert crawl("site", url=urls, refresh=1, max_pages=1).rows(hosts) == [2]
    assert len([each for each in site.asked if each in names]) <= 3  # one of them is the visit


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_budget_of_seconds_is_left_for_visits_where_a_site_has_much_to_say(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, *, is_slow: bool
) -> None:
    names = [f"/{n}" for n in range(4)]
    listed = "".join(f"<sitemap><loc>{site.url}{n}.xml</loc></sitemap>" for n in range(40))
    pages = {name: make.page(name, *names) for name in ("/", *names)}
    site.routes |= pages | {"/sitemap.xml": f"<sitemapindex>{listed}</sitemapindex>".encode()}
    crawl("site", url=site.url)

    def slow(answer: bytes, seconds: float = 0.5) -> Any:
        def answered(_: object) -> bytes:
            time.sleep(seconds)
            return answer

        return answered

    entry = f"<urlset><url><loc>{site.url}{{}}</loc></url></urlset>"
    site.routes |= {f"/{n}.xml": slow(entry.format(n).encode()) for n in range(40)}
    if is_slow:
        site.routes["/"] = slow(pages["/"], 2.5)
    again = crawl("site", url=site.url, refresh=1, max_seconds=8)
    assert again.stats["refresh"] == {"number": 1, "unchanged": 5}, again.output
    heard = again.rows("SELECT value FROM meta WHERE name = 'heard with fragments'")
    assert (heard == [""]) == is_slow  # the next refresh looks at the site as a whole


def test_a_budget_goes_to_pages_with_a_passage_that_others_lost(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{n}" for n in range(60)]
    note = "<p>The server listens on port eight thousand unless it is told otherwise.</p>"
    one = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "CONCURRENT_REQUESTS=1")
    site.routes["/"] = make.page("/", *names)

    def crawled(kept: str, word: str, **budget: int) -> set[str]:
        for name in names:
            own = " ".join(f"own{n}word{name[1:]}" for n in range(40))  # long pages change more
            body = kept if name in {"/7", "/23", "/44"} else f"<p>{own}</p>"
            site.routes[name] = make.page(name, body=body + word * (name == "/7"))
        site.asked.clear()
        found = crawl("site", *one, url=site.url, **budget)
        assert found.status == 0, found.output
        return {*site.pages_asked()}

    crawled(note, "<p>One.</p>")
    for word in ("<p>Two.</p>", "<p>Three.</p>"):  # so that the page is known to change
        crawled(note, word, refresh=1)
    assert {"/7", "/23", "/44"} < crawled("<p>Another one.</p>", "", refresh=1, max_pages=6)


def test_sitemaps_may_spell_times_and_addresses_otherwise_than_before(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    stored = ["/%C3%A4", "/%E4%B8%AD", "/q?a=1&b=2", *(f"/{n}" for n in range(20))]
    respelt = ["/%c3%a4", "/中", "/q?b=2&amp;a=1", *(f"/{n}" for n in range(20))]
    names = [name.replace("&", "&amp;") for name in stored]
    site.routes |= {"/": make.page("/", *names), **{name: make.page(name) for name in stored}}

    def refreshed(names: list[str], date: str, **dates: str) -> list[str]:
        entry = "<url><loc>{}</loc><lastmod>{}</lastmod></url>"
        entries = "".join(
            entry.format(each if "3" in each else site.url[:-1] + each, dates.get(each, date))
            for each in names
        )
        body = f"<urlset>{entries}</urlset>".encode()
        site.routes["/sitemap.xml"] = make.Answer(body, 200, "application/xml")
        site.asked.clear()
        assert crawl("site", url=site.url, refresh=1, max_pages=4).status == 0
        return [path for path in site.pages_asked() if path != "/sitemap.xml"]

    job = crawl("site", url=site.url)
    refreshed(names, "2026-01-01T00:00:00Z")
    told = dict(job.rows("SELECT url, value FROM lastmods"))
    assert told == {site.url[:-1] + each: "2026-01-01T00:00:00Z" for each in stored}
    refreshed(respelt, "2026-01-01T01:00:00.000+01:00")
    told = dict(job.rows("SELECT url, value FROM lastmods"))
    assert told.keys() == {site.url[:-1] + each for each in stored}
    assert job.rows("SELECT sum(named_changed + named_same) FROM lastmods") == [0]
    new = dict.fromkeys(respelt[:3], "2026-01-02")
    assert {*stored[:3]} < {*refreshed(respelt, "2026-01-01T00:00Z", **new)}


def test_new_pages_count_and_links_that_are_left_wait_for_the_next_refresh(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {"/": make.page("/", "/a"), "/a": make.page("a")}
    crawl("site", url=site.url)
    new = [f"/new{n}" for n in range(6)]
    site.routes |= {"/": make.page("now", "/a", *new), **{name: make.page(name) for name in new}}
    one = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "CONCURRENT_REQUESTS=1")
    crawled = crawl("site", *one, url=site.url, refresh=1, max_pages=4)
    stats = crawled.stats
    assert stats["reason"] == "max_pages"
    assert 3 <= stats["pages"]["unique"] <= 5
    assert stats["urls"]["queued"] > 0
    assert "the next refresh chooses anew" in crawled.output
    assert crawl("site", url=site.url, refresh=1).stats["pages"]["unique"] == 8


def test_a_refresh_ends_when_its_seconds_are_over(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{n}" for n in range(9)]
    site.routes |= {"/": make.page("/", *names), **{name: make.page(name) for name in names}}
    crawl("site", url=site.url)
    slow = ("-s", "DOWNLOAD_DELAY=0.7", "-s", "RANDOMIZE_DOWNLOAD_DELAY=0")
    crawled = crawl("site", *slow, url=site.url, refresh=1, max_seconds=4)
    assert 1 <= crawled.stats["refresh"]["unchanged"] < 10, crawled.output
    assert crawled.stats["urls"]["queued"] == 0
    assert crawl("site", url=site.url, refresh=1).stats["refresh"]["number"] == 2


@pytest.mark.parametrize("status", [403, 404, 410, 500])
def test_links_that_failed_are_asked_for_again(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, status: int
) -> None:
    error = make.Answer(make.page("an error"), status)
    site.routes |= {"/": make.page("start", "/p"), "/p": error}
    once = ("-s", "RETRY_ENABLED=0")
    first = crawl("site", *once, url=site.url)
    skipped = {f"http_{status}": 1}
    assert first.stats["pages"]["skipped"] == skipped
    again = crawl("site", *once, url=site.url, refresh=1)
    assert again.stats["pages"]["skipped"] == skipped
    assert _told(again, site) == {}
    again.check_reconciled()
    again = _refreshed(crawl, site, {"/p": make.page("a page")})
    assert again.stats["pages"]["skipped"] == {}
    assert _told(again, site) == {"p": "new"}


def test_a_redirect_that_turns_round_loses_no_page(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {
        "/": make.page("start", "/p", "/p/"),
        "/p": make.page("a page"),
        "/p/": make.redirect("/p"),
    }
    crawl("site", url=site.url)
    turned = {"/p": make.redirect("/p/"), "/p/": make.page("a page")}
    assert _told(_refreshed(crawl, site, turned), site)["p"] == "moved"
    again = _refreshed(crawl, site, {"/p/": make.page("entirely other words")})
    assert "/p/" in again.stored(site)


@pytest.mark.parametrize("is_same", [True, False], ids=["same", "rewritten"])
@pytest.mark.parametrize("waits", [2, 0])
def test_a_page_that_another_one_redirects_to_meanwhile_is_visited_once(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, waits: int, is_same: bool
) -> None:
    python = with_constants({"middlewares.redirect._MAX_WAITS": waits})
    site.routes |= {
        "/": make.page("start", "/a", "/p"),
        "/a": make.page("a page beside it"),
        "/p": make.page("a page"),
    }
    crawl("site", url=site.url)
    page = make.page("a page" if is_same else "other words")
    site.routes |= {"/a": make.redirect("/p"), "/p": page}
    one = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "CONCURRENT_REQUESTS=1")
    again = crawl("site", *one, url=site.url, refresh=1, python=python)
    told = {"a": "moved"} if is_same else {"p": "changed", "a": "moved"}
    assert _told(again, site) == told
    assert again.rows("SELECT count(*) FROM duplicates") == [0]
    assert again.rows("SELECT count(*) FROM pages") == [3]
    again.check_reconciled()


def test_pages_that_redirect_in_a_circle_have_not_moved(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = ["/a", "/b", "/c", "/d", "/e"]
    site.routes |= {"/": make.page("start", *names), **{name: make.page(name) for name in names}}
    crawl("site", url=site.url)
    circle = {"/a": make.redirect("/b"), "/b": make.redirect("/a"), "/c": make.redirect("/a")}
    again = _refreshed(crawl, site, circle)
    assert again.stats["refresh"]["failed"] == 3
    assert _told(again, site) == {}
    again.check_reconciled()
    again = _refreshed(crawl, site, {"/b": make.redirect("/d")})
    assert _told(again, site) == dict.fromkeys("abc", "moved")


def test_a_page_is_not_unchanged_by_the_tag_of_another_url(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    def tagged(handler: Any) -> Any:
        if handler.headers["If-None-Match"] == '"1"':
            return make.Answer(b"", 304, None)
        return make.Answer(make.page("a page"), headers={"ETag": '"1"'})

    site.routes |= {"/": make.page("start", "/old"), "/old": tagged}
    crawl("site", url=site.url)
    again = _refreshed(crawl, site, {"/old": make.redirect("/new"), "/new": tagged})
    assert _told(again, site)["old"] == "moved"


def test_a_refresh_finds_the_pages_that_a_sitemap_names_since(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """Each file is read once, also if it names itself, and recorded as it was."""

    def listed(kind: str, *targets: str) -> Any:
        urls = "".join(f"<{kind}><loc>{site.url}{each}</loc></{kind}>" for each in targets)
        root = {"url": "urlset", "sitemap": "sitemapindex"}[kind]
        return make.Answer(f"<{root}>{urls}</{root}>".encode(), content_type="text/xml")

    site.routes |= {
        "/sitemap.xml": listed("sitemap", "sitemap.xml", "1.xml", "1.xml", "2.xml", "sitemap.xml"),
        "/1.xml": listed("url", "a"),
        "/a": make.page("a"),
        "/b": make.page("b"),
        "/c": make.page("c"),
    }
    crawl("sitemap", url=site.url)
    site.routes |= {"/1.xml": listed("url", "a", "b"), "/2.xml": listed("url", "c")}
    site.asked.clear()
    again = crawl("sitemap", url=site.url, refresh=1)
    assert [site.asked.count(f"/{each}.xml") for each in ("sitemap", "1", "2")] == [1, 1, 1]
    assert again.stored(site) == {"/a", "/b", "/c"}
    skipped = {*again.rows("SELECT url || ' ' || reason FROM skipped")}
    assert _told(again, site)["b"] == "new"
    again.check_reconciled()
    del site.routes["/1.xml"]
    last = crawl("sitemap", url=site.url, refresh=1)
    assert last.stats["refresh"]["unchanged"] == 3
    assert {*last.rows("SELECT url || ' ' || reason FROM skipped")} == skipped
    assert last.rows("SELECT count(*) FROM urls") == again.rows("SELECT count(*) FROM urls")
    last.check_reconciled()


def _in_part(body: bytes, way: str, *shares: float) -> Any:
    """A route that sends the first part of a page, each time another one, then the whole page."""
    left = list(shares)

    def answer(handler: Any) -> bytes | None:
        if not left:
            return body
        part = body[: int(left.pop(0) * len(body))]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html; charset=utf-8")
        if way == "short":
            handler.send_header("Content-Length", str(len(body)))
        elif "chunks" in way:
            handler.send_header("Transfer-Encoding", "chunked")
            part = b"%x\r\n%b\r\n" % (len(part), part) + b"0\r\n\r\n" * (way == "chunks")
        handler.end_headers()
        handler.wfile.write(part)
        handler.close_connection = way != "chunks"
        return None

    return answer


_CUT = pytest.mark.parametrize("way", ["closed", "chunks"])


def _long(make: SimpleNamespace, name: str) -> bytes:
    return bytes(make.page(name, body=f"<p>{make.prose(name + ' goes on')}</p>"))


def _articles_in_part(make: SimpleNamespace) -> dict[str, Any]:
    names = [f"/{n}" for n in range(8)]
    return {"/": make.page("start", *names), **{name: _long(make, name) for name in names}}


@_CUT
def test_a_page_that_arrives_in_part_is_fetched_once_more(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, way: str
) -> None:
    pages = _articles_in_part(make)
    site.routes |= pages
    crawl("site", url=site.url)
    site.asked.clear()
    new = pages["/5"].replace(b"<main>", b"<main><p>A new sentence of this page.</p>")
    again = _refreshed(
        crawl, site, {"/3": _in_part(pages["/3"], way, 0.6), "/5": _in_part(new, way, 0.6)}
    )
    assert again.stats["refresh"] == {"number": 1, "changed": 1, "unchanged": 8}
    assert _told(again, site) == {"5": "changed"}
    assert {*site.pages_asked()[-2:]} == {"/3", "/5"}
    assert len(site.pages_asked()) == 11


@_CUT
def test_a_page_that_arrives_in_part_twice_stays_as_it_was(
    crawl: Crawler,
    site: WebSite,
    make: SimpleNamespace,
    way: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pages = _articles_in_part(make)
    site.routes |= pages
    stored = (first := crawl("site", url=site.url)).rows("SELECT url, hex(text) FROM pages")
    parts = {"/3": _in_part(pages["/3"], way, 0.6, 0.5), "/5": _in_part(pages["/5"], way, 0.6, 0.6)}
    again = _refreshed(crawl, site, parts)
    # The same part twice: its template has lost its end.
    assert again.stats["refresh"] == {"number": 1, "changed": 1, "failed": 1, "unchanged": 7}
    assert _told(again, site) == {"5": "changed"}
    changed = {*stored} ^ {*again.rows("SELECT url, hex(text) FROM pages")}
    assert {url for url, _ in changed} == {f"{site.url}5"}
    main(["why", str(first.folder), f"{site.url}3"])
    assert "failed: the response was cut off" in capsys.readouterr().out
    assert _refreshed(crawl, site, pages).stats["refresh"]["unchanged"] == 8


def test_a_duplicate_that_arrives_in_part_stays_one(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    page = make.page("/5", "/copy", body=f"<p>{make.prose('/5 goes on')}</p>")
    site.routes |= _articles_in_part(make) | {"/5": page, "/copy": page}
    first = crawl("site", url=site.url)
    assert first.rows("SELECT url FROM duplicates") == [f"{site.url}copy"]
    again = _refreshed(crawl, site, {"/copy": _in_part(page, "closed", 0.5, 0.4)})
    assert again.stats["refresh"] == {"number": 1, "failed": 1, "unchanged": 9}
    assert again.rows("SELECT url FROM duplicates") == [f"{site.url}copy"]
    again.check_reconciled()


@pytest.mark.parametrize("way", ["short", "open chunks"])
def test_a_page_that_is_known_to_be_a_part_is_none(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, way: str
) -> None:
    pages = _articles_in_part(make)
    site.routes |= pages
    crawl("site", url=site.url)
    part = {"/3": _in_part(pages["/3"], way, *[0.6] * 9)}
    again = _refreshed(crawl, site, part)
    assert again.stats["refresh"] == {"number": 1, "failed": 1, "unchanged": 8}
    failed = again.rows("SELECT outcome FROM visits WHERE outcome LIKE 'f%'")
    assert failed == ["failed: incomplete"]


def test_nothing_is_put_off_without_stored_bodies(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= (pages := _articles_in_part(make))
    without = ("-s", "DEDUP_STORE_BODIES=0")
    crawl("site", *without, url=site.url)
    site.routes["/3"] = _in_part(pages["/3"], "closed", 0.6)
    again = crawl("site", *without, url=site.url, refresh=1)
    assert again.stats["refresh"] == {"number": 1, "changed": 1, "unchanged": 8}


def test_a_visit_that_is_put_off_counts_once_in_a_budget(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    pages = _articles_in_part(make)
    site.routes |= pages
    crawl("site", url=site.url)
    site.asked.clear()
    parts = {name: _in_part(body, "closed", 0.5) for name, body in pages.items()}
    site.routes |= parts | {name: make.page(f"another {name}") for name in list(pages)[:5]}
    again = crawl("site", url=site.url, refresh=1, max_pages=4)
    assert sum(again.stats["refresh"].values()) == 1 + 4, again.output
    asked = _visits(site)
    assert sorted(asked) == sorted(2 * [*{*asked}])


@pytest.mark.slow
def test_a_visit_that_is_put_off_keeps_its_place_when_the_order_is_made_anew(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names = [f"/{folder}/{n}" for folder in "abcdef" for n in range(4)]
    pages = {"/": make.page("start", *names), **{name: _long(make, name) for name in names}}
    site.routes |= pages
    crawl("site", url=site.url)
    one = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1", "-s", "CONCURRENT_REQUESTS=1")
    for number in range(1, 6):
        site.asked.clear()
        some = names[(1 - number) % 3 :: 3]
        parts = {name: _in_part(pages[name], "closed", 0.6) for name in some}
        site.routes |= pages | parts
        again = crawl("site", *one, url=site.url, refresh=1, max_pages=12)
        assert again.stats["refresh"] == {"number": number, "unchanged": 12}
        assert len({*_visits(site)}) == 12


@pytest.mark.parametrize("budget", [{}, {"max_pages": 1}])
def test_a_refresh_asks_again_what_redirected(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, budget: dict[str, int]
) -> None:
    def sent_on(target: str) -> bytes:
        return f"<title>x</title><meta http-equiv=refresh content='0; url={target}'>".encode()

    def hub(*links: str) -> Any:
        return make.page("a hub", *links, head="<meta name=robots content=noindex>")

    log_ins = [f"/log-in?from={number}" for number in range(11)]
    names = ["/", "/empty", "/hub", "/latest", "/stable"]
    site.routes |= {
        "/": make.redirect("/1/"),
        "/1/": make.page("the first version", *names, "/1", *log_ins),
        "/latest": make.redirect("/1/"),
        "/stable": sent_on("/1/"),
        "/hub": hub("/1/"),
        "/empty": b"",
        "/1": make.redirect("/1/"),
        "/log-in": make.page("a page to log in"),
        **dict.fromkeys(log_ins, make.redirect("/log-in")),
    }
    crawl("site", url=site.url)
    site.asked.clear()
    again = crawl("site", url=site.url, refresh=1, **budget)
    asked = [each for each in site.asked if each in {*names, "/1", *log_ins}]
    assert sorted(asked) == (["/", "/"] if budget else names)
    assert site.asked.count("/1/") <= 1 + len(budget)
    assert _told(again, site) == {}
    site.routes |= {
        "/": make.redirect("/2/"),
        "/latest": make.redirect("/3/"),
        "/stable": sent_on("/4/"),
        "/hub": hub("/1/", "/5/"),
        "/empty": make.page("no longer empty"),
        **{f"/{n}/": make.page(f"version {n} " + n * 20) for n in "2345"},
    }
    again = crawl("site", url=site.url, refresh=1, **budget)
    new = ["2/"] if budget else ["2/", "3/", "4/", "5/", "empty"]
    assert _told(again, site) == dict.fromkeys(new, "new")
    again.check_reconciled()


def test_a_budget_asks_again_for_what_failed_or_redirected_where_it_is_not_spent(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    away = ["/busy", "/draft", "/latest", "/soon"]
    hidden = make.page("draft", head="<meta name=robots content=noindex>")
    site.routes |= {
        "/": make.page("/", "/old", *away),
        "/old": make.page("the old release"),
        "/busy": make.Answer(status=503),
        "/draft": hidden,
        "/latest": make.redirect("/old"),
    }
    crawl("site", "-s", "RETRY_ENABLED=False", url=site.url)
    pages = {name: make.page(name) for name in ("/busy", "/draft", "/soon", "/release")}
    site.routes |= pages | {"/latest": make.redirect("/release")}
    again = crawl("site", url=site.url, refresh=1, max_pages=20)
    new = ["busy", "draft", "release", "soon"]
    assert _told(again, site) == dict.fromkeys(new, "new")
    again.check_reconciled()


def test_a_small_budget_asks_for_all_that_failed_in_turns(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names, away = [f"/{n}" for n in range(20)], [f"/away-{n}" for n in range(4)]
    moved = [f"/moved-{n}" for n in range(3)]
    site.routes |= {name: make.page(name, *names, *away, *moved) for name in ("/", *names)}
    site.routes |= {name: make.redirect(f"/{n}") for n, name in enumerate(moved)}
    crawl("site", url=site.url)
    asked: list[list[str]] = []
    for _ in range(4):
        site.asked.clear()
        crawl("site", url=site.url, refresh=1, max_pages=16)
        visits = _visits(site)
        assert len([each for each in visits if each not in moved]) == 16
        asked.append([each for each in visits if each in {*away, *moved}])
    assert sorted(each for visit in asked for each in visit if each in away) == away
    assert {each for visit in asked for each in visit} == {*away, *moved}
    assert all(len(visit) == 2 for visit in asked)


def test_a_refresh_asks_for_no_more_pages_than_its_budget_and_new_links_first(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names, new = [f"/{n}" for n in range(12)], [f"/new-{n}" for n in range(4)]
    site.routes |= {name: make.page(name, *names) for name in ("/", *names)}
    crawl("site", url=site.url)
    site.routes |= {name: make.page(name, *names, *new) for name in ("/", *names, *new)}
    found = []
    for _ in range(3):
        site.asked.clear()
        again = crawl("site", url=site.url, refresh=1, max_pages=3)
        asked = _visits(site)
        assert len(asked) == 3
        found.append({each for each in asked if each in new})
        assert again.stats["reason"] == "max_pages"
    assert list(map(len, found)) == [0, 3, 1]
    assert set(new) <= again.stored(site)


def test_a_page_that_a_start_url_redirects_to_is_stored_within_a_budget(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """It is fetched once more after all others, but within the budget."""
    pages = {f"/1/{n}": make.page(f"page {n} of the first") for n in range(4)}
    site.routes |= {
        "/": make.redirect("/docs"),
        "/1/": make.page("first", "/docs", *pages),
        **pages,
    }
    site.routes["/docs"] = make.redirect("/1/")
    crawl("site", url=site.url)
    second = {f"/2/{n}": make.page(f"page {n} of the second") for n in range(4)}
    site.routes |= {"/docs": make.redirect("/2/"), "/2/": make.page("second", *second), **second}
    site.asked.clear()
    again = crawl("site", url=site.url, refresh=1, max_pages=3)
    assert len({*site.asked} & {"/1/", "/2/", *pages, *second}) == 3
    assert "/2/" in again.stored(site)


def test_processes_that_share_a_job_end_when_its_budget_is_spent(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    names, new = ([f"/{name}{n}" for n in range(8)] for name in ("", "new-"))

    def of_host(name: str, *links: str) -> Any:
        return lambda handler: make.page(f"{name} {handler.headers['Host']}", *links)

    site.routes |= {name: of_host(name, *names) for name in ("/", *names)}
    urls = ",".join([site.url, site.url.replace("127.0.0.1", "localhost")])
    two = ("-s", "DEDUP_PROCESSES=2")
    crawl("site", *two, url=urls)
    site.asked.clear()
    site.routes |= {name: of_host(name, *names, *new) for name in ("/", *names, *new)}
    again = crawl("site", *two, url=urls, refresh=1, max_pages=3)
    asked = [each for each in site.asked if each in {"/", *names, *new}]
    assert 3 <= len(asked) <= 6  # each process knows late what others have visited
    assert again.stats["reason"] == "max_pages"
    assert again.stats["urls"]["queued"] > 0
