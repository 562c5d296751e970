"""robots.txt by RFC 9309."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite


@pytest.fixture
def pages(site: WebSite, make: SimpleNamespace) -> WebSite:
    site.routes = {"/": make.page("start", "/1", "/2"), "/1": make.page("1"), "/2": make.page("2")}
    return site


@pytest.mark.parametrize("switch", ["DEDUP_ENABLED", "DEDUP_URL_ENABLED"])
def test_robots_txt_is_obeyed_without_deduplication(
    switch: str, crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    rules = b"User-agent: *\nDisallow: /2\n"
    pages.routes["/robots.txt"] = make.Answer(rules, content_type="text/plain")
    crawled = crawl("site", "-s", f"{switch}=0", url=pages.url)
    assert crawled.status == 0, crawled.output
    assert sorted(pages.asked) == ["/", "/1", "/robots.txt"]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_an_answer_of_4xx_allows_all(
    status: int, crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    pages.routes["/robots.txt"] = make.Answer(b"Disallow: /", status)
    assert crawl("site", url=pages.url).stored(pages) == {"/", "/1", "/2"}


def test_a_host_whose_robots_txt_comes_back_is_crawled(
    crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    n_asked = 0

    def robots(handler: Any) -> Any:
        nonlocal n_asked
        n_asked += 1
        if n_asked < 3:
            assert pages.pages_asked() == []
            return make.Answer(b"", 503)
        return make.Answer(b"User-agent: *\nDisallow: /2\n", content_type="text/plain")

    pages.routes["/robots.txt"] = robots
    crawled = crawl("site", url=pages.url)
    assert crawled.stored(pages) == {"/", "/1"}
    assert crawled.skipped(pages) == {"/2": "robots"}
    assert "the host's URLs wait until it is available" in crawled.output


def _silent(handler: Any) -> None:
    handler.rfile.read(1)  # until the other side gives up
    handler.close_connection = True


def _slow(handler: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
    handler.wfile.flush()
    for _ in range(6):
        time.sleep(0.5)
        try:
            handler.wfile.write(b"#")
            handler.wfile.flush()
        except OSError:
            return
    handler.close_connection = True


@pytest.mark.parametrize("route", [500, 429, _silent, _slow], ids=["500", "429", "silent", "slow"])
def test_a_host_without_robots_txt_answer_is_not_crawled(
    route: Any, crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    answer = make.Answer(b"", route) if isinstance(route, int) else route
    pages.routes["/robots.txt"] = answer
    soon = with_constants({"middlewares.robots._MAX_UNAVAILABLE_SECONDS": 2})
    crawled = crawl("site", "-s", "DOWNLOAD_TIMEOUT=1", url=pages.url, python=soon)
    assert crawled.skipped(pages) == {"/": "robots_unavailable"}
    assert pages.pages_asked() == []


def test_files_made_to_hold_a_crawl_up_cost_their_own_hosts_alone(
    crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    agents = b"".join(b"user-agent: a%d\n" % number for number in range(15_000))
    rules = b"".join(b"disallow: /%d\n" % number for number in range(15_000))
    wildcards = b"user-agent: *\n" + b"disallow: /*a\n" * 30_000
    with (
        make.WebSite({"/": make.page("many")}, "127.0.0.2") as many,
        make.WebSite({"/": make.page("wild")}, "127.0.0.3") as wild,
    ):
        many.routes["/robots.txt"] = agents + rules
        wild.routes["/robots.txt"] = wildcards
        crawled = crawl("site", url=f"{many.url},{wild.url},{pages.url}")
        assert crawled.stored(pages) == {"/", "/1", "/2", many.url}
        assert crawled.skipped() == {wild.url: "robots_too_complex"}
        assert wild.pages_asked() == []
    assert crawled.status == 0


@pytest.mark.parametrize(("n_redirects", "is_obeyed"), [(5, True), (6, False)])
def test_five_redirects_are_followed(
    n_redirects: int, is_obeyed: bool, crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    targets = ["/robots.txt", *(f"/r{number}" for number in range(n_redirects))]
    for target, following in itertools.pairwise(targets):
        pages.routes[target] = make.redirect(following)
    pages.routes[targets[-1]] = make.Answer(b"User-agent: *\nDisallow: /\n")
    crawled = crawl("site", url=pages.url)
    assert (crawled.stored() == set()) == is_obeyed


@pytest.mark.slow
def test_crawl_delay_is_a_lower_bound(
    crawl: Crawler, pages: WebSite, make: SimpleNamespace
) -> None:
    moments: list[float] = []
    pages.on_request = lambda target: moments.append(time.monotonic())
    pages.routes["/robots.txt"] = make.Answer(b"User-agent: *\nCrawl-delay: 1.5\n")
    crawl("site", "-s", "AUTOTHROTTLE_ENABLED=1", url=pages.url)
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert len(gaps) == 3
    assert min(gaps) > 1.4
