"""What is asked for once, by whom it is decided, and that it is counted once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter

from dedup.scrapy.addresses import AddressPolicy
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.scheduler import DedupScheduler
from dedup.scrapy.spiders.link_filter import LinkFilter
from dedup.scrapy.spiders.scope import Scope
from dedup.scrapy.spiders.site import SiteSpider
from dedup.store import summarise

SITE = "http://example.com/"
PAGE = HtmlResponse(SITE, request=Request(SITE))


class ByPath(RequestFingerprinter):
    """A project's own fingerprinter: the query does not matter to it."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.partition("?")[0].encode()


def make_crawler(folder: Path, **settings: Any) -> Crawler:
    values = {"ADDONS": {"dedup.scrapy.DedupAddon": 500}, "JOBDIR": str(folder), **settings}
    crawler = Crawler(SiteSpider, Settings(values))
    crawler.spider = SiteSpider.from_crawler(crawler, url=SITE)
    # As Scrapy does it, but for the reactor.
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    fingerprinter = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
    crawler.request_fingerprinter = build_from_crawler(fingerprinter, crawler)
    return crawler


@pytest.fixture
def crawler(tmp_path: Path) -> Iterator[Crawler]:
    crawler = make_crawler(tmp_path / "job")
    yield crawler
    Job.of(crawler).close()


def link_filter(crawler: Crawler, **rules: str) -> LinkFilter:
    return LinkFilter(crawler, Scope([SITE], **rules), Job.of(crawler))


def filtered(crawler: Crawler) -> int:
    found: int = crawler.stats.get_value("dedup/url/filtered", 0)
    return found


def test_each_url_comes_once_however_it_is_spelt(crawler: Crawler) -> None:
    links = [SITE + "a?x=1&y=2", SITE + "a?y=2&x=1", "http://EXAMPLE.com:80/a?x=1&y=2", SITE + "b"]
    assert link_filter(crawler).new(links, PAGE) == [SITE + "a?x=1&y=2", SITE + "b"]
    assert filtered(crawler) == 0  # repeats within a page are one link


def test_what_the_dupefilter_has_seen_is_filtered_and_counted_once(crawler: Crawler) -> None:
    scheduler = DedupScheduler.from_crawler(crawler)
    links = link_filter(crawler)
    requests = [Request(url) for url in links.new([SITE + "a", SITE + "b"], PAGE)]
    assert [scheduler.enqueue_request(request) for request in requests] == [True, True]
    assert links.new([SITE + "./a", SITE + "b#top", SITE + "c"], PAGE) == [SITE + "c"]
    assert filtered(crawler) == 2
    assert not scheduler.enqueue_request(Request(SITE + "a"))
    assert filtered(crawler) == 3


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        (SITE + "a.html", True),
        (SITE, True),
        ("http://example.com", True),  # not a file called "example.com"
        (SITE + "a.PDF", False),
        (SITE + "a.zip?version=1#top", False),
        (SITE + "a?file=b.zip", True),  # the path decides, as in LinkExtractor
        ("http://other.example/a", False),
        (SITE + "private/a", False),
        ("https://example.com/a", True),
        ("http://example.com:8080/a", False),
    ],
)
def test_scope_and_extensions(url: str, is_kept: bool, crawler: Crawler) -> None:
    assert link_filter(crawler, deny="/private/").new([url], PAGE) == ([url] if is_kept else [])


def test_ignored_extensions_and_urls_that_are_none_are_counted(crawler: Crawler) -> None:
    links = link_filter(crawler, allow="://")
    assert links.new([SITE + "a.pdf", SITE + "b.jpg", "http://a..b/", SITE + "c"], PAGE) == [
        SITE + "c"
    ]
    assert crawler.stats.get_value("dedup/url/ignored_extension") == 2
    assert crawler.stats.get_value("dedup/url/invalid") == 1


def test_links_left_alone_are_counted_if_they_would_be_requested(crawler: Crawler) -> None:
    request = Request(SITE, meta={KEY: b"k" * 16})
    links = [SITE + "a", SITE + "b.pdf", "http://other.example/", SITE + "c"]
    link_filter(crawler).leave_alone(links, HtmlResponse(SITE, request=request))
    assert crawler.stats.get_value("dedup/url/nofollow") == 2
    assert filtered(crawler) == 0
    job = Job.of(crawler)
    assert summarise(job.store)["urls"]["nofollow"] == 0  # not recorded yet
    finishes = (FinishedUrl(b"k" * 16, SITE),)
    job.record(Outcome(kind="failed", url=SITE, finishes=finishes, reason="noindex"))
    assert summarise(job.store)["urls"]["nofollow"] == 2


def test_requests_other_than_plain_get_are_distinct(crawler: Crawler) -> None:
    scheduler = DedupScheduler.from_crawler(crawler)
    url = SITE + "a?y=1&x=2"
    requests = [
        Request(url),
        Request(url, method="POST"),
        Request(url, method="POST", body=b"form"),
        Request(url, method="HEAD"),
        Request(url, meta={"verbatim_url": True}),
    ]
    # The last one has Scrapy's own fingerprint of the URL as it is, not that of the canonical one.
    assert all(scheduler.enqueue_request(request.copy()) for request in requests)
    assert not any(scheduler.enqueue_request(request.copy()) for request in requests)
    assert link_filter(crawler).new([url], PAGE) == []


def test_with_a_projects_own_fingerprinter_the_dupefilter_alone_decides(tmp_path: Path) -> None:
    crawler = make_crawler(tmp_path / "job", REQUEST_FINGERPRINTER_CLASS=ByPath)
    scheduler = DedupScheduler.from_crawler(crawler)
    links = [SITE + "a?x=1", SITE + "a?x=2"]
    assert link_filter(crawler).new(links, PAGE) == links
    assert [scheduler.enqueue_request(Request(url)) for url in links] == [True, False]
    Job.of(crawler).close()


def test_links_that_are_too_long_are_recorded_once_and_count_for_nothing_else(
    tmp_path: Path,
) -> None:
    crawler = make_crawler(tmp_path / "job", URLLENGTH_LIMIT=60)
    short, long = f"{SITE}?q=short", f"{SITE}?q={'long' * 20}"
    chinese, folded = f"{SITE}?q={'长' * 6}", f"{SITE}{'a/../' * 20}"
    assert link_filter(crawler).new([short, long, chinese, folded], PAGE) == [short, folded]
    job = Job.of(crawler)
    rows = job.store.database.all("SELECT url, reason, is_fetched FROM skipped")
    assert [tuple(row) for row in rows] == [
        (long, "url_too_long", 0),
        (chinese, "url_too_long", 0),
    ]
    assert link_filter(crawler).new([long], PAGE) == []
    assert job.store.database.value("SELECT count(*) FROM skipped") == 2
    assert filtered(crawler) == 0
    job.close()


def test_a_wider_scope_counts_for_links_that_are_remembered(crawler: Crawler) -> None:
    scope = Scope([SITE])
    links = LinkFilter(crawler, scope, Job.of(crawler))
    other = "http://www.example.com/a"
    assert links.new([other], PAGE) == []
    scope.follow_start("http://www.example.com/", SITE)
    assert links.new([other], PAGE) == [other]


def test_repeated_long_link_is_recorded_once(tmp_path: Path) -> None:
    crawler = make_crawler(tmp_path / "job", URLLENGTH_LIMIT=60)
    long = f"{SITE}?q={'long' * 1000}"
    assert link_filter(crawler).new([long, long], PAGE) == []
    job = Job.of(crawler)
    assert job.store.database.value("SELECT count(*) FROM skipped") == 1
    job.close()


def test_links_that_were_seen_before_are_counted_by_page_as_at_first(crawler: Crawler) -> None:
    scheduler = DedupScheduler.from_crawler(crawler)
    links = link_filter(crawler)
    menu = [SITE + "a", SITE + "b", SITE + "./a", SITE + "c.pdf"]
    for url in links.new(menu, PAGE):
        scheduler.enqueue_request(Request(url))
    for n_pages in (1, 2, 3):  # from the second on, they are known to have been seen
        assert links.new([*menu, SITE + "a#top"], PAGE) == []
        assert filtered(crawler) == 2 * n_pages
        assert crawler.stats.get_value("dedup/url/ignored_extension") == 1 + n_pages
    other = HtmlResponse("http://example.com:80/", request=Request(SITE))
    assert links.new([SITE + "d", *menu, SITE + "d"], other) == [SITE + "d"]
    assert filtered(crawler) == 8


def test_links_from_public_pages_into_private_networks_are_dropped_however_often_seen(
    tmp_path: Path,
) -> None:
    crawler = make_crawler(tmp_path / "job", DEDUP_ALLOW_PRIVATE=False)
    AddressPolicy.of(crawler).start("http://127.0.0.1/")
    links = LinkFilter(crawler, Scope([SITE, "http://127.0.0.1/"]), Job.of(crawler))
    inside = HtmlResponse("http://127.0.0.1/", request=Request("http://127.0.0.1/"))
    found = links.new(["http://127.0.0.1/a"], inside)
    assert found == ["http://127.0.0.1/a"]
    DedupScheduler.from_crawler(crawler).enqueue_request(Request(found[0]))
    for _ in range(3):
        assert links.new(found, inside) == []
        assert links.new(["http://127.0.0.1/a", "http://127.0.0.1/b"], PAGE) == []
    assert filtered(crawler) == 3
    Job.of(crawler).close()
