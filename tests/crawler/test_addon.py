"""The add-on in another Scrapy project, with warnings as errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.with_constants import groups_of

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite

_SETTINGS = """
ROBOTSTXT_OBEY = False
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 16
ADDONS = {"dedup.scrapy.DedupAddon": 500}
"""

_SPIDER = """
import scrapy


class Shop(scrapy.Spider):
    name = "shop"

    def __init__(self, url="", fields="html", **kwargs):
        super().__init__(**kwargs)
        self.url, self.fields = url, fields

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"price": 12, "url": response.url}  # no text: not a page
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_page, cb_kwargs={"found_on": response.url})

    def parse_page(self, response, found_on):
        if response.url.endswith("/raises"):
            raise RuntimeError("a fault of the spider")
        texts = response.css("main ::text").getall()
        content = {"html": response.text} if self.fields == "html" else {"text": " ".join(texts)}
        yield {"url": response.url, "found_on": found_on, **content}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_page, cb_kwargs={"found_on": response.url})
"""

_PIPELINES = """
import asyncio

from scrapy.exceptions import DropItem


class Awaits:
    async def process_item(self, item, spider=None):
        await asyncio.sleep(0)
        return item


class Raises:
    def process_item(self, item, spider=None):
        if item["url"].endswith("/wrong"):
            raise RuntimeError("a fault of the project")
        if item["url"].endswith("/b"):
            raise DropItem("not wanted")
        return item
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project from `scrapy startproject`, with a spider and pipelines of its own."""
    folder = tmp_path_factory.mktemp("project")
    command = [sys.executable, "-m", "scrapy", "startproject", "shop", str(folder)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    with (folder / "shop" / "settings.py").open("a") as file:
        file.write(_SETTINGS)
    (folder / "shop" / "spiders" / "shop.py").write_text(_SPIDER)
    (folder / "shop" / "pipelines.py").write_text(_PIPELINES)
    # A module of the same name as a package of ours.
    (folder / "settings.py").write_text("raise RuntimeError('not to be imported')\n")
    return folder


@pytest.fixture
def shop(crawl: Crawler, made: Path) -> Any:
    def start(*options: str, python: Sequence[str] = (), **arguments: Any) -> Any:
        return crawl.start(
            "shop",
            *options,
            cwd=made,
            python=("-W", "error", *python),
            is_guest=True,
            feed=True,
            **arguments,
        )

    return start


@pytest.fixture
def shop_site(site: WebSite, make: SimpleNamespace) -> WebSite:
    site.routes |= {
        "/": make.page("start", "/a", "/copy", "/near", "/b#x", "/b", "/wrong", "/missing"),
        "/a": make.page("a"),
        "/copy": make.page("a"),
        "/near": f"<title>a</title><main>{make.prose('a')} And more.</main>".encode(),
        "/b": make.page("b", "/a"),
        "/wrong": make.page("wrong"),
    }
    return site


def _urls(crawled: Crawled, site: WebSite) -> list[str]:
    """The pages in the feed: items with a text."""
    rows = crawled.feed_rows()
    return sorted("/" + row["url"].removeprefix(site.url) for row in rows if "found_on" in row)


def test_duplicates_of_another_project_are_dropped(shop: Any, shop_site: WebSite) -> None:
    crawled = shop(url=shop_site.url, fields="text").finish()
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    urls = _urls(crawled, shop_site)
    assert len({"/a", "/copy", "/near"} & set(urls)) == 1
    assert {"/b", "/wrong"} <= set(urls)
    assert len(urls) == 3
    prices = [row for row in crawled.feed_rows() if "price" in row]
    assert prices == [{"price": 12, "url": shop_site.url}]
    assert crawled.stats["pages"]["unique"] == 3
    assert sum(crawled.stats["pages"]["duplicates"].values()) == 2
    assert crawled.stats["urls"]["queued"] == 0
    assert shop_site.asked.count("/b") == 1


def test_html_of_few_pages_is_dropped_only_where_the_texts_are_equal(
    shop: Any, shop_site: WebSite
) -> None:
    crawled = shop(url=shop_site.url).finish()
    assert "Traceback" not in crawled.output, crawled.output
    assert len({"/a", "/copy"} & set(_urls(crawled, shop_site))) == 1
    assert crawled.stats["pages"]["duplicates"] == {
        "text": 1
    }  # of the site of /near nothing is known


def test_html_of_many_pages_is_compared_without_furniture(
    shop: Any, shop_site: WebSite, make: SimpleNamespace
) -> None:
    menu = f"<aside>{make.prose('menu', 400)}</aside>".encode()
    routes = {f"/{number}": make.page(f"page {number}") + menu for number in range(20)}
    routes["/first"] = make.page("first", *routes) + menu
    routes["/19"] = make.page("page 19", "/like-4") + menu
    routes["/like-4"] = make.page("page 4", body="<p>One more line.</p>") + menu
    shop_site.routes = {"/": make.page("start", "/first"), **routes}
    options = ("-s", "CONCURRENT_REQUESTS=1", "-s", "DEDUP_ITEM_IGNORE_FIELDS=found_on")
    crawled = shop(*options, url=shop_site.url).finish()
    assert set(routes) - set(_urls(crawled, shop_site)) == {"/like-4"}


def test_copies_in_flight_at_once_are_stored_once(shop: Any, shop_site: WebSite) -> None:
    pipelines = 'ITEM_PIPELINES={"shop.pipelines.Awaits": 500}'
    crawled = shop("-s", pipelines, url=shop_site.url, fields="text").finish()
    assert "Traceback" not in crawled.output, crawled.output
    assert crawled.stats["pages"]["unique"] == 3
    assert len(_urls(crawled, shop_site)) == 3


def test_pages_that_a_pipeline_of_the_project_takes_are_counted(
    shop: Any, shop_site: WebSite
) -> None:
    pipelines = 'ITEM_PIPELINES={"shop.pipelines.Raises": 500}'
    crawled = shop("-s", pipelines, url=shop_site.url).finish()
    assert crawled.status == 0
    assert crawled.stats["pages"]["skipped"] == {"pipeline_dropped": 1, "pipeline_error": 1}
    assert crawled.stats["reason"] == "finished"
    assert crawled.stats["pages"]["unique"] == 2  # a page, and one like it
    assert len(_urls(crawled, shop_site)) == 2


def test_a_callback_that_raises_is_recorded(shop: Any, shop_site: WebSite, make: Any) -> None:
    shop_site.routes |= {"/b": make.page("b", "/raises"), "/raises": make.page("raises")}
    crawled = shop(url=shop_site.url).finish()
    assert crawled.stats["failed"] == {"callback_error": 1}
    assert crawled.skipped(shop_site) == {"/raises": "callback_error"}
    assert crawled.stats["reason"] == "finished"


def test_pipelines_can_be_taken_out_and_moved(shop: Any, shop_site: WebSite) -> None:
    near = '"dedup.scrapy.pipelines.NearDuplicate": null'
    moved = '"dedup.scrapy.pipelines.ExactContent": 950, "dedup.scrapy.pipelines.StorePage": 940'
    options = ("-s", "DEDUP_SENTENCES_ENABLED=0", "-s", f"ITEM_PIPELINES={{{near}, {moved}}}")
    crawled = shop(*options, url=shop_site.url).finish()
    assert crawled.status == 0, crawled.output
    assert "Traceback" not in crawled.output, crawled.output
    assert crawled.stats["pages"]["duplicates"] == {"text": 1}
    assert "/near" in _urls(crawled, shop_site)


def test_switched_off_it_leaves_the_project_alone(shop: Any, shop_site: WebSite) -> None:
    crawled = shop("-s", "DEDUP_ENABLED=False", url=shop_site.url).finish()
    assert crawled.status == 0, crawled.output
    assert _urls(crawled, shop_site) == ["/a", "/b", "/copy", "/near", "/wrong"]
    assert not crawled.folder.exists()


def test_killed_crawl_of_another_project_goes_on_with_its_callbacks(
    shop: Any, crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    size = 60
    targets = [f"/{number}" for number in range(size)]
    for number, target in enumerate(targets):
        children = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < size]
        site.routes[target] = make.page(target, *children)
    site.routes["/"] = make.page("start", "/0", "/missing")
    ready = threading.Event()

    def kill(target: str) -> None:
        if target == "/30" and ready.wait(60):
            os.kill(crawling.process.pid, signal.SIGKILL)

    site.on_request = kill
    crawling = shop(url=site.url, python=groups_of(5))
    ready.set()
    killed = crawling.finish()
    assert killed.status == -signal.SIGKILL
    before = set(killed.stored(site))
    assert 0 < len(before) < size
    site.on_request = lambda target: None
    site.asked.clear()
    resumed = shop(url=site.url).finish()
    assert resumed.status == 0, resumed.output
    assert resumed.stored(site) == set(targets)
    assert sum(resumed.records().values()) == len(resumed.records())
    assert len(before & set(site.asked)) <= 16  # those in flight
    found_on = {row["url"]: row["found_on"] for row in resumed.feed_rows() if "found_on" in row}
    assert found_on[site.url + "59"] == site.url + "29"  # the callback's arguments came back
    site.asked.clear()
    again = shop(url=site.url).finish()
    assert "nothing is fetched and feeds are unchanged" in again.output
    assert site.asked == []
