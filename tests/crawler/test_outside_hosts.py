"""A crawl that begins at the wrong host says so at its end, and what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from dedup.scrapy.spiders.outside_hosts import OutsideHosts
from dedup.scrapy.spiders.scope import Scope

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

START = "http://localhost:8000/"
WWW = "https://www.example.com/"


def _at(origin: str, count: int) -> list[str]:
    return [f"{origin}{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("links", "n_pages", "is_told", "why"),
    [
        (_at(WWW, 20) + _at(START, 1), 1, True, "nearly all lead to one other host"),
        (_at(WWW, 20) + _at(START, 9), 1, False, "some lead into the crawl"),
        (_at(WWW, 10) + _at("http://other.example/", 10), 1, False, "not to one host"),
        (_at(WWW, 20), 50, False, "an earlier run has found pages"),
        (_at(WWW, 2), 1, False, "too few to tell"),
        ([], 0, False, "no links"),
    ],
)
def test_links_to_another_host(links: list[str], n_pages: int, is_told: bool, why: str) -> None:
    outside = OutsideHosts(Scope([START]))
    outside.note_links(links)
    assert bool([*outside.sentences(n_pages)]) is is_told, why


def test_links_of_successful_crawl_are_not_reported() -> None:
    outside = OutsideHosts(Scope([START]))
    for _ in range(6):
        outside.note_links(_at(WWW, 20))
    assert [*outside.sentences(1)] == []


def test_hosts_that_allow_names_are_not_outside() -> None:
    outside = OutsideHosts(Scope([START], allow="https?://www"))
    outside.note_links(_at(WWW, 20))
    assert [*outside.sentences(1)] == []


def test_listed_urls_of_several_hosts_are_counted_in_bounded_memory() -> None:
    outside = OutsideHosts(Scope([START]))
    outside.note_listed([*_at(START, 5), *_at(WWW, 3)])
    outside.note_listed(f"http://{number}.example/" for number in range(2_000))
    (said,) = outside.sentences(5)
    assert said.startswith(
        "2,003 of 2,008 URLs listed in sitemaps were left out because they are on "
    )
    assert "other hosts, mostly www.example.com, outside the crawl" in said


def test_a_mirror_whose_links_lead_to_the_sites_own_name(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start", *_at(WWW, 30), "/robots.txt")
    crawled = crawl("site", url=site.url)
    assert (
        "30 of 31 links found lead to www.example.com, outside the crawl: start there, or add"
        " it to -a url=\n"
    ) in crawled.output


def test_start_url_redirected_to_another_host(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {"/": make.redirect(f"{WWW}docs"), "/x": make.redirect(f"{WWW}x")}
    said = f"redirects to {WWW}docs, outside the crawl: start with -a url={WWW}docs\n"
    crawled = crawl("site", url=site.url)
    assert crawled.status == 1
    assert f"{site.url} {said}" in crawled.output
    crawled = crawl("site", url=f"{site.url},{site.url}x", job="both")
    assert "outside the crawl (and 1 more start URL to another host): start" in crawled.output


def test_robots_txt_redirected_to_another_host(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/robots.txt"] = make.redirect(f"{WWW}robots.txt")
    crawled = crawl("sitemap", "-s", "ROBOTSTXT_OBEY=0", url=site.url)
    assert crawled.status == 1
    assert (
        f"{site.url}robots.txt redirects to {WWW}robots.txt, outside the crawl:"
        f" start with -a url={WWW}\n"
    ) in crawled.output


def test_a_sitemap_of_another_hosts_urls(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/a"] = make.page("a")
    urls = [*_at(WWW, 105), f"{site.url}a"]
    site.routes["/sitemap.xml"] = make.Answer("\n".join(urls).encode(), content_type="text/plain")
    crawled = crawl("sitemap", url=site.url)
    assert crawled.stats["pages"]["unique"] == 1
    assert (
        "105 of 106 URLs listed in sitemaps were left out because they are on www.example.com,"
        " outside the crawl: start there, or add it to -a url=\n"
    ) in crawled.output
