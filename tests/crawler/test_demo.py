"""The demo crawl's outcome against what its author says must become of each URL."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from dedup.demo import SITE

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler

EXPECTED: dict[str, Any] = json.loads(SITE.with_name("expected.json").read_text(encoding="utf-8"))
_KEPT = [group for group in EXPECTED["pages"] if group.get("robots") != "noindex"]


@pytest.fixture(scope="module")
def demo(shared_crawl: Crawler) -> Crawled:
    crawled: Crawled = shared_crawl("demo", feed=True)
    assert crawled.status == 0, crawled.output
    return crawled


@pytest.fixture(scope="module")
def targets(demo: Crawled) -> dict[str, Any]:
    """What became of each URL, without the address of the server."""
    (start,) = demo.rows("SELECT url FROM urls ORDER BY id LIMIT 1")

    def target(url: str) -> str:
        return "/" + url.removeprefix(start)

    return {
        "stored": {target(url) for url in demo.rows("SELECT url FROM pages")},
        "duplicates": {
            target(url): target(original)
            for url, original in demo.rows(
                "SELECT d.url, p.url FROM duplicates d JOIN pages p ON p.number = d.original"
            )
        },
        "aliases": {
            target(url): target(page)
            for url, page in demo.rows("SELECT url, page_url FROM aliases")
        },
        "skipped": {
            target(url): reason for url, reason in demo.rows("SELECT url, reason FROM skipped")
        },
    }


def test_demo_finishes_quietly_with_reconciled_counts(demo: Crawled) -> None:
    assert "Traceback" not in demo.output
    assert "WARNING" not in demo.output
    assert "unique" in demo.output
    demo.check_reconciled()


def test_demo_has_the_counts_of_the_readme(demo: Crawled) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    stats = demo.stats
    for stage, count in stats["pages"]["duplicates"].items():
        assert re.search(rf"duplicates: {stage} +{count} ", readme)
    assert f"{stats['urls']['filtered']} links to seen URLs filtered" in readme


@pytest.mark.parametrize("group", _KEPT, ids=lambda group: group["name"])
def test_each_page_of_the_demo_is_stored_once(
    targets: dict[str, Any], group: dict[str, Any]
) -> None:
    assert len(targets["stored"] & group["urls"].keys()) == 1


@pytest.mark.parametrize("group", _KEPT, ids=lambda group: group["name"])
def test_other_urls_of_a_page_are_recorded_as_that_page(
    targets: dict[str, Any], group: dict[str, Any]
) -> None:
    urls = group["urls"].keys()
    for url in urls - targets["stored"]:
        if url in targets["duplicates"]:
            assert targets["duplicates"][url] in urls
        elif url in targets["aliases"]:
            assert targets["aliases"][url] in urls
        elif url in targets["skipped"]:  # a signpost, whose target is another URL of the group
            assert (targets["skipped"][url], group["urls"][url]) == ("refresh", "meta refresh")
        else:  # filtered: only spelled differently from another of the group
            recorded = targets["stored"] | targets["duplicates"].keys()
            assert _spelling(url) in {_spelling(other) for other in urls & recorded}


def _spelling(url: str) -> tuple[str, ...]:
    path, _, query = url.partition("#")[0].partition("?")
    return unquote(path), *sorted(query.split("&"))


def test_every_url_of_the_demo_is_expected(targets: dict[str, Any]) -> None:
    expected = {url for group in EXPECTED["pages"] for url in group["urls"]}
    expected |= EXPECTED["skipped"].keys()
    assert {url for urls in targets.values() for url in urls} <= expected


@pytest.mark.parametrize("pair", EXPECTED["lookalikes"], ids=lambda pair: pair["why"])
def test_lookalikes_are_both_stored(targets: dict[str, Any], pair: dict[str, Any]) -> None:
    stored = targets["stored"]
    groups = [group["urls"].keys() for group in _KEPT]
    for url in pair["urls"]:
        assert any(url in urls and urls & stored for urls in groups), url
    for duplicate, original in targets["duplicates"].items():
        assert {duplicate, original} != set(pair["urls"])


_REASONS = {
    "robots": {"robots"},
    "404": {"http_404"},
    "redirect loop": {"redirect_loop"},
    "redirect out of the site": {"redirect_offsite"},
    "not HTML": {"not_html"},
}

_NOT_ASKED_FOR = {
    "/press/cuttings/1.html": "the link to it is marked nofollow",
    "/loop/b": "only /loop/a is linked",
    "/files/leaflet.pdf": "its ending says that it is no page",
    "/files/plan.png": "its ending says that it is no page",
    "/style.css": "a style sheet is not linked as a page",
}


@pytest.mark.parametrize(("url", "why"), EXPECTED["skipped"].items())
def test_url_without_a_page_is_skipped_for_its_reason(
    targets: dict[str, Any], url: str, why: str
) -> None:
    if url in _NOT_ASKED_FOR:
        assert not any(url in urls for urls in targets.values()), _NOT_ASKED_FOR[url]
    else:
        assert targets["skipped"][url] in _REASONS[why]


def test_page_marked_noindex_is_skipped(targets: dict[str, Any]) -> None:
    marked = [url for g in EXPECTED["pages"] if g.get("robots") == "noindex" for url in g["urls"]]
    assert [targets["skipped"][url] for url in marked] == ["noindex"]


def test_nothing_outside_of_the_demo_is_recorded(demo: Crawled) -> None:
    known = set(demo.rows("SELECT url FROM urls"))
    assert not known & EXPECTED["never_fetched"].keys()
