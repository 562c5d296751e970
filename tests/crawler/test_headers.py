"""Headers of requests and responses are stored as they came, and without secrets."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.store import open_store
from dedup.store.exchange import Exchange

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawled, Crawler, WebSite

archives = pytest.importorskip("warcio.archiveiterator", reason="warcio is not installed")


def exchanges(crawled: Crawled) -> list[Exchange]:
    with open_store(crawled.folder, read_only=True) as store:
        packed = [store.page(number).exchange for number in store.exports.page_numbers()]
    return [Exchange.unpack(each) for each in packed if each is not None]


def test_they_are_stored_and_exported(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, gzipped: Callable[[bytes], bytes]
) -> None:
    start = make.page("start", "/plain")
    headers = {
        "Content-Encoding": "gzip",
        "Set-Cookie": "session=s3cret",
        "X-Two": "a",
        "x-two": "b",
        "Link": "<http://user:s3cret@a.example/>",
    }
    cookies: list[str] = []

    def plain(handler: Any) -> bytes:
        cookies.append(handler.headers["Cookie"])
        return bytes(make.page("plain"))

    site.routes = {
        "/": make.Answer(gzipped(start), headers=headers),
        "/plain": plain,
    }
    crawled = crawl("site", "-s", "COOKIES_ENABLED=1", url=site.url)
    first, second = exchanges(crawled)
    assert (first.protocol, first.ip_address, first.method) == ("HTTP/1.1", "127.0.0.1", "GET")
    came = dict(first.response)
    assert came["Content-Length"] == str(len(gzipped(start)))
    assert came["X-Crawler-Content-Encoding"] == "gzip"
    assert came["Link"] == "<http://a.example/>"
    assert [value for name, value in first.response if name == "X-Two"] == ["a", "b"]
    assert "Set-Cookie" not in came
    assert "Content-Encoding" not in came
    sent = dict(second.request)
    assert sent["User-Agent"].startswith("scrapy-dedup/")
    assert cookies == ["session=s3cret"]
    assert "Cookie" not in sent
    assert "X-Crawler-Content-Encoding" not in dict(second.response)
    assert main(["export", str(crawled.folder), "-o", str(crawled.folder / "x.warc.gz")]) == 0
    with (crawled.folder / "x.warc.gz").open("rb") as file:
        found = {
            each.rec_type: (each.http_headers, each.content_stream().read())
            for each in archives.ArchiveIterator(file, check_digests="raise")
            if each.rec_headers.get_header("WARC-Target-URI") == site.url
        }
    head, body = found["response"]
    assert body == start
    assert head.get_header("Content-Length") == str(len(start))
    assert head.get_header("X-Crawler-Content-Length") == str(len(gzipped(start)))
    assert found["request"][0].get_header("Host") == site.url.split("/")[2]


def test_they_are_not_stored_without_bodies(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes = {"/": make.page("start")}
    assert exchanges(crawl("site", "-s", "DEDUP_STORE_BODIES=0", url=site.url)) == []
