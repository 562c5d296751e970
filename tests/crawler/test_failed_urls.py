"""The list of URLs that failed: `dedup export --failed`, and the report."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.explain import failures
from dedup.explain.failures import Bounds, failed_urls
from dedup.html import HtmlPage, parse_page
from dedup.store import open_store

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite


@pytest.fixture
def crawled(crawl: Crawler, site: WebSite, make: SimpleNamespace) -> Crawled:
    site.routes |= {
        "/": make.page("start", "/a", "/gone?b=2&amp;a=1"),
        "/a": make.page("a", "/x/../gone?a=1&amp;b=2", "/loop", "/hidden"),
        "/loop": make.redirect("/loop"),
        "/hidden": make.page("hidden", head='<meta name="robots" content="noindex">'),
    }
    return crawl("site", "-s", "RETRY_ENABLED=0", url=site.url)


def test_failed_urls_have_cause_and_referrers(
    crawled: Crawled, site: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    file = crawled.folder / "failed.jsonl"
    assert main(["export", str(crawled.folder), "--failed", str(file)]) == 0
    assert "2 failed URLs in" in capsys.readouterr().err
    rows = {row["reason"]: row for row in map(json.loads, file.read_text().splitlines())}
    assert rows.keys() == {"http_404", "redirect_loop"}
    gone, loop = rows["http_404"], rows["redirect_loop"]
    assert (gone["status"], gone["cause"]) == (404, "the server answered 404")
    assert gone["referrers"] == f"{site.url} {site.url}a"  # in both spellings
    assert (loop["status"], loop["referrers"]) == (None, f"{site.url}a")
    assert datetime.fromisoformat(loop["failed_at"]).timestamp() > 1e9
    assert not (crawled.folder / "pages.jsonl").exists()


def test_failed_urls_in_other_formats(crawled: Crawled, capsys: pytest.CaptureFixture[str]) -> None:
    file = crawled.folder / "failed.csv"
    assert main(["export", str(crawled.folder), "--failed", str(file)]) == 0
    with file.open(newline="") as opened:
        assert {row["status"] for row in csv.DictReader(opened)} == {"404", ""}
    assert main(["export", str(crawled.folder), "--failed", str(file)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["export", str(crawled.folder), "--failed", "failed.warc"]) == 2
    assert "--failed cannot be a web archive, got failed.warc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("bounds", "n_referrers"),
    [
        (Bounds(1_000_000, 1_000_000, 60.0), 3),
        (Bounds(1_000_000, 1, 60.0), 0),
        (Bounds(1, 1_000_000, 60.0), 0),
        (Bounds(1_000_000, 1_000_000, -1.0), 0),
    ],
)
def test_what_is_read_for_referrers_is_bounded(
    bounds: Bounds, n_referrers: int, crawled: Crawled
) -> None:
    with open_store(crawled.folder, read_only=True) as store:
        failed = failed_urls(store, bounds=bounds)
    assert len(failed) == 2
    assert sum(len(each.referrers.split()) for each in failed) == n_referrers


def test_referrers_are_found_however_links_are_written(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    ways = "/old/gone.html ../old/gone.html gone.html#top g%6Fne.html &#x67;one.html g&#111;ne.html"
    links = dict(zip("abcdef", ways.split(), strict=True)) | {"g": "go\nne.html", "h": "other.html"}
    site.routes |= {f"/old/{name}": make.page(name, href) for name, href in links.items()}
    site.routes["/"] = make.page("start", *(f"/old/{name}" for name in links))
    crawled = crawl("site", "-s", "RETRY_ENABLED=0", url=site.url)
    with open_store(crawled.folder, read_only=True) as store:
        every, some = failed_urls(store), failed_urls(store, n_referrers=2)
    found = {each.url.removeprefix(site.url): each.referrers.split() for each in every}
    assert {url.removeprefix(site.url) for url in found["old/gone.html"]} == {
        f"old/{name}" for name in "abcdefg"
    }
    assert found["old/other.html"] == [f"{site.url}old/h"]
    assert {len(each.referrers.split()) for each in some} == {1, 2}


def test_only_pages_that_may_link_to_a_failed_url_are_parsed(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.routes |= {
        "/": make.page("start", "/a", "/b", "/c"),
        "/a": make.page("a", "missing.html"),
        "/b": make.page("b", "a"),
        "/c": make.page("c", "m%69ssing.html"),
    }
    crawled = crawl("site", "-s", "RETRY_ENABLED=0", url=site.url)
    parsed = []

    def parse(html: str, url: str, **more: Any) -> HtmlPage:
        parsed.append(url)
        return parse_page(html, url, **more)

    monkeypatch.setattr(failures, "parse_page", parse)
    with open_store(crawled.folder, read_only=True) as store:
        (failed,) = failed_urls(store)
        assert failed.referrers.split() == parsed
        assert set(parsed) == {f"{site.url}a", f"{site.url}c"}
        failed_urls(store, n_referrers=1)
    assert len(parsed) == 3


def test_the_report_lists_failed_urls(crawled: Crawled, site: WebSite) -> None:
    report = (crawled.folder / "report.html").read_text(encoding="utf-8")
    section = report[report.index('id="failed"') : report.index('id="browser"')]
    assert section.count("<tr>") == 3
    assert f"{site.url}gone" in section
    assert "the server answered 404" in section
    assert section.count(f'href="{site.url}a"') == 2


def test_why_gives_the_remedy(
    crawled: Crawled, site: WebSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(crawled.folder), f"{site.url}gone?a=1&b=2"]) == 0
    said = capsys.readouterr().out
    assert "not compared: the server answered 404 (http_404)" in said
    assert "dedup export JOB --failed FILE names the stored pages that link to it" in said
