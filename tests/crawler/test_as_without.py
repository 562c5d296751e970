"""What a project relies on beside the add-on: its fingerprinter, its HTTP cache, its JOBDIR."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawler.forked import Forked

if TYPE_CHECKING:
    from tests.crawler.conftest import WebSite

_SCRIPT = '''
import json
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.utils.request import RequestFingerprinter


class ByCallback(RequestFingerprinter):
    """One URL is two requests by two callbacks, as in scrapy-poet."""

    def fingerprint(self, request):
        return super().fingerprint(request) + getattr(request.callback, "__name__", "").encode()


class Book(scrapy.Item):
    url = scrapy.Field()
    text = scrapy.Field()


class Books(scrapy.Spider):
    name = "books"

    async def start(self):
        yield scrapy.Request(sys.argv[1])

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            item = Book(url=response.urljoin(href))
            yield response.follow(href, self.parse_book, cb_kwargs={"item": item})

    def parse_book(self, response, item):
        item["text"] = " ".join(response.css("main ::text").getall())
        yield item


class Deep(Books):
    def parse(self, response, item=None):
        yield {"url": response.url, "found": item, "key": response.meta.get("dedup_key")}
        for href in response.css("a::attr(href)").getall():
            item = Book(url=response.urljoin(href))
            meta = {"dedup_key": "the project's own"}
            yield response.follow(href, self.parse, cb_kwargs={"item": item}, meta=meta)


class Twice(Books):
    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_one)
            yield response.follow(href, self.parse_other)

    def parse_one(self, response):
        yield {"url": response.url, "callback": "one"}

    def parse_other(self, response):
        yield {"url": response.url, "callback": "other"}


class Metas(Books):
    """Items that are a response's meta, have its fields, or have it as a field."""

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_book, meta={"found_on": response.url})

    def parse_book(self, response):
        yield response.meta
        yield {**response.meta, "url": response.url}
        yield {"url": response.url, "meta": response.meta}


settings = json.loads(sys.argv[3])
if settings.pop("add-on"):
    settings["ADDONS"] = {"dedup.scrapy.DedupAddon": 500}
process = CrawlerProcess({"TELNETCONSOLE_ENABLED": False, **settings})
crawler = process.create_crawler(globals()[sys.argv[2]])
process.crawl(crawler)
process.start()
print(json.dumps(crawler.stats.get_stats(), default=str))
'''


@pytest.fixture
def run(tmp_path: Path, site: WebSite, make: SimpleNamespace) -> Any:
    """Crawl the site with a spider of the script; give its stats, and its log as `log`."""
    (tmp_path / "script.py").write_text(_SCRIPT)
    books = [f"/{number}" for number in range(20)]
    site.routes |= {"/": make.page("start", *books)}
    site.routes |= {book: make.page(book) for book in books}

    def start(spider: str = "Books", *, is_on: bool = True, **settings: Any) -> Forked:
        settings |= {"add-on": is_on, "HTTPCACHE_DIR": str(tmp_path / "cache")}
        settings["FEEDS"] = {str(tmp_path / "items.jsonl"): {"format": "jsonlines"}}
        with (tmp_path / "log").open("wb") as log:
            return Forked(
                ["script.py", site.url, spider, json.dumps(settings)],
                cwd=tmp_path,
                environment=os.environ,
                stderr=log,
            )

    def finish(process: Forked) -> dict[str, Any]:
        output, _ = process.communicate(timeout=240)
        log = (tmp_path / "log").read_text()
        assert process.returncode == 0, log
        return {**json.loads(output.splitlines()[-1]), "log": log}

    def items() -> list[dict[str, str]]:
        lines = (tmp_path / "items.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def crawl(*arguments: str, **settings: Any) -> dict[str, Any]:
        return finish(start(*arguments, **settings))

    crawl.start, crawl.finish, crawl.items = start, finish, items  # type: ignore[attr-defined]
    return crawl


def _interrupt_at(site: WebSite, run: Any, n_requests: int, **settings: Any) -> None:
    """Crawl with eight requests at once, and press Ctrl-C at the nth."""
    many, ready = threading.Event(), threading.Event()

    def on_request(target: str) -> None:
        if len(site.pages_asked()) >= n_requests and ready.wait(60) and not many.is_set():
            os.kill(process.pid, signal.SIGINT)
            many.set()
        elif target != "/":
            many.wait(10)

    site.on_request = on_request
    at_once = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0}
    process = run.start(**settings, **at_once)
    ready.set()
    assert "shutdown" in run.finish(process)["log"]
    site.on_request = lambda target: None


def test_an_http_cache_filled_without_the_add_on_is_used_with_it(run: Any) -> None:
    filled = run(is_on=False, HTTPCACHE_ENABLED=True)
    assert filled["httpcache/store"] == 21
    found = run(HTTPCACHE_ENABLED=True)
    assert found["httpcache/hit"] == 21
    assert "httpcache/miss" not in found


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}], ids=str)
def test_requests_that_the_project_tells_apart_are_not_one(run: Any, settings: Any) -> None:
    found = run("Twice", REQUEST_FINGERPRINTER_CLASS="__main__.ByCallback", **settings)
    callbacks = Counter(item["callback"] for item in run.items())
    assert callbacks == {"one": 20, "other": 20}
    assert "DEDUP_URL_RULES" not in found["log"]
    if settings:
        again = run("Twice", REQUEST_FINGERPRINTER_CLASS="__main__.ByCallback", **settings)
        assert again.get("downloader/request_count", 0) == 0


@pytest.mark.parametrize("settings", [{}, {"JOBDIR": "job"}], ids=str)
def test_urls_of_one_page_are_fetched_once(
    run: Any, site: WebSite, make: SimpleNamespace, settings: Any
) -> None:
    site.routes["/"] = make.page("start", "/1", "/1?utm_source=a", "/x/../1", "/1?")
    site.routes |= {target: make.page("/1") for target in ("/1?utm_source=a", "/x/../1", "/1?")}
    run(DEDUP_URL_RULES=["tracking"], **settings)
    assert len(site.pages_asked()) == 2
    assert len(run.items()) == 1


def test_items_with_a_responses_meta_have_what_the_project_put_there(
    run: Any, site: WebSite, tmp_path: Path
) -> None:
    run("Metas", is_on=False, JOBDIR="job without")
    without = _names(run.items())
    (tmp_path / "items.jsonl").unlink()
    run("Metas", JOBDIR="job")
    assert _names(run.items()) == without
    assert without.total() == 60
    site.asked.clear()
    run("Metas", JOBDIR="job")
    assert site.pages_asked() == []  # each request was recorded as done


def _names(items: list[dict[str, Any]]) -> Counter[tuple[object, ...]]:
    """How many items have these fields, and fields of fields."""
    return Counter((*sorted(item), *sorted(item.get("meta", ()))) for item in items)


def test_rules_without_effect_are_reported(run: Any) -> None:
    found = run(REQUEST_FINGERPRINTER_CLASS="__main__.ByCallback", DEDUP_URL_RULES=["tracking"])
    assert "DEDUP_URL_RULES has no effect: REQUEST_FINGERPRINTER_CLASS is" in found["log"]
    assert "ByCallback" in found["log"]


_PICKLES = {
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleLifoDiskQueue",
    "SCHEDULER_START_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}


@pytest.mark.parametrize("begun_with", [False, True])
def test_an_interrupted_crawl_with_items_under_way_goes_on(
    run: Any, site: WebSite, begun_with: bool
) -> None:
    _interrupt_at(site, run, 9, is_on=begun_with, JOBDIR="job")
    before = run.items()
    assert 0 < len(before) < 20
    settings = {"JOBDIR": "job"}
    if not begun_with:
        site.asked.clear()
        with pytest.raises(AssertionError, match="the crawl in this JOBDIR was started"):
            run(JOBDIR="job")
        assert site.pages_asked() == []
        settings |= _PICKLES
    found = run(**settings)
    urls = Counter(item["url"] for item in run.items())
    assert urls == {f"{site.url}{number}": 1 for number in range(20)}
    assert ("requests queued by Scrapy's own scheduler" in found["log"]) is not begun_with
    assert "scheduler/unserializable" not in found
    site.asked.clear()
    again = run(**settings)
    assert site.pages_asked() == []
    assert len(run.items()) == 20
    assert ("requests queued by Scrapy's own scheduler" in again["log"]) is not begun_with


def test_raised_depth_limit_keeps_request_data(
    run: Any, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {"/": make.page("start", "/1"), "/1": make.page("1", "/2")}
    run("Deep", JOBDIR="job", DEPTH_LIMIT=1)
    assert [item["url"] for item in run.items()] == [site.url, f"{site.url}1"]
    run("Deep", JOBDIR="job", DEPTH_LIMIT=2)
    found, key = {"url": f"{site.url}2"}, "the project's own"
    assert run.items()[2:] == [{"url": f"{site.url}2", "found": found, "key": key}]
    assert site.pages_asked() == ["/", "/1", "/2"]
