"""Mutated pages, URLs, robots files, sitemaps, stores and archives: no crash, no hang.

10,000 by default in all, the same ones each time.
"""

from __future__ import annotations

import gzip
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dedup import Document, StateError
from dedup.collection import read_documents
from dedup.config import DedupConfig
from dedup.scrapy.addresses import AddressPolicy, resolved_host
from dedup.scrapy.reading.page import ContentReader, RawPage, TooComplexError, Wanted
from dedup.scrapy.reading.sitemap_file import SitemapError, read_sitemap
from dedup.scrapy.robots_file import RuleBook, rules_for, sitemaps_in_robots
from dedup.sites.site import Site
from dedup.store import SqliteStore
from dedup.terminal.plain import guarded
from dedup.urls import canonical_url
from dedup.urls.credentials import credentials_of, without_credentials
from dedup.urls.traps import pattern_of, suspicion
from tests.warc_records import HTML, http_response, warc_record

_MOST_SECONDS = 5


def _fuzz(n_examples: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=n_examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def _no_hang() -> Iterator[None]:
    """Have SIGALRM end what does not come to an end."""
    signal.alarm(_MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


_PIECES = [
    *("<", ">", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "<!doctype html>", "&", "&#", ";"),
    *("<p>", "</p>", "<div>", "<table>", "<tr><td>", "<select>", "<option>", "<b>", "<i>", "<a>"),
    *("<a href=", "<base href=", "<meta charset=", "<meta http-equiv=refresh content='0;url="),
    *("<script>", "</script>", "<template>", "<svg>", "<math>", "<noscript>", "<textarea>"),
    *("<article>", "<main>", "<title>", "<h1>", "<ul><li>", "<pre>", "<figure>", "<iframe src="),
    *("class='entry'", "rel=canonical", "rel=nofollow", '"', "'", "=", " ", "\n", "\0", "//", "#"),
    *("http://a.example/", "?q=1", "汉语", "\u0301", "\ufdfa", "\ud800", "😀", "word "),
]
_MARKUP = st.lists(
    st.tuples(st.sampled_from(_PIECES) | st.text(max_size=5), st.sampled_from([1, 1, 1, 3, 500])),
    max_size=40,
).map(lambda parts: "".join(piece * times for piece, times in parts))
_BYTES = st.one_of(
    _MARKUP.map(lambda text: text.encode("utf-8", "surrogatepass")),
    _MARKUP.map(lambda text: b"\xff" + text.encode("utf-8", "replace")),
    st.binary(max_size=300),
)
_TYPES = st.sampled_from(["", "text/html", "text/html; charset=gbk", "text/html;charset=utf-16"])


@pytest.fixture(scope="module")
def reader() -> ContentReader:
    stages = frozenset({"body", "text", "sentences", "simhash", "minhash"})
    return ContentReader(
        Wanted(
            "content",
            links=True,
            is_nofollow_obeyed=True,
            bodies=True,
            stages=stages,
            detection=DedupConfig(),
        )
    )


@_fuzz(2_500)
@given(body=_BYTES, content_type=_TYPES)
def test_pages(reader: ContentReader, body: bytes, content_type: str) -> None:
    with _no_hang():
        try:
            content = reader.read(RawPage(body, "http://a.example/x/", content_type, ()), Site())
        except TooComplexError:
            return
    assert all(link.startswith(("http://", "https://")) for link in content.links)


_URLS = st.lists(
    st.sampled_from(
        [
            *"/:@?#[].%\\&=;-",
            "http",
            "https",
            "file",
            "//",
            "127.0.0.1",
            "0x7f.1",
            "[::1]",
            "a.example",
            "faß",
            "%2e%2e",
            "..",
            "xn--",
            "user:p",
            "8080",
            "\t",
            " ",
            "１２７",
        ]
    )
    | st.text(max_size=4),
    max_size=12,
).map("".join)


@_fuzz(4_000)
@given(url=_URLS)
def test_urls(url: str) -> None:
    with _no_hang():
        resolved_host(url)
        credentials_of(url)
        suspicion_url = f"http://a.example/{without_credentials(url).replace('[', '')}"
        suspicion(suspicion_url, depth=1, year=2026)
        pattern_of(suspicion_url)
        AddressPolicy().may_follow(url, "http://a.example/")
        guarded(url)
        try:
            canonical = canonical_url(f"http://{url}")
        except ValueError:
            return
    assert canonical_url(canonical) == canonical


_LINES = st.lists(
    st.sampled_from(
        [
            "User-agent: *",
            "Disallow: /a*b$",
            "Allow: /%",
            "Crawl-delay: 1e999",
            "Sitemap: //[",
            "#",
            "Crawl-delay: -1",
            "Crawl-delay: x",
            "Sitemap: file:///",
            "\ufeff",
            "Disallow: " + "*" * 9,
        ]
    )
    | st.text(max_size=20),
    max_size=15,
).map("\n".join)


@_fuzz(1_000)
@given(text=_LINES)
def test_robots_files(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    with _no_hang():
        sitemaps_in_robots(body)
        book, rules = RuleBook(), rules_for("me", body)
        book.may_fetch("http://a.example/aaab", rules)
        assert 0 <= book.delay_seconds(rules) < float("inf")


_XML = st.lists(
    st.sampled_from(
        [
            "<urlset>",
            "<sitemapindex>",
            "<sitemap>",
            "<url>",
            "<loc>",
            "</loc>",
            "</url>",
            "<!--",
            "<?xml version='1.0'?>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]>",
            "&b;",
            "http://a.example/",
            "</urlset>",
            "\x00",
            "<![CDATA[",
            "<rss>",
            "<feed>",
            "<item><link>",
            " xmlns='a'",
        ]
    )
    | st.text(max_size=8),
    max_size=25,
).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


@_fuzz(1_500)
@given(body=_XML, cut=st.integers(0, 40), is_packed=st.booleans())
def test_sitemaps(body: bytes, cut: int, is_packed: bool) -> None:
    with _no_hang(), suppress(SitemapError):
        read_sitemap(gzip.compress(body, 1)[: -cut or None] if is_packed else body)


@pytest.fixture(scope="module")
def whole_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "crawl.sqlite"
    store = SqliteStore(path)
    for number in range(20):
        store.add(Document(id="", text=f"Text {number}. " * 40, url=f"http://a/{number}"), {})
    store.close()
    return path


_CHANGES = st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8)), max_size=8)


@_fuzz(500)
@given(changes=_CHANGES, cut=st.sampled_from([0, 0, 0, 1, 4096, 10_000]))
def test_stores(
    whole_store: Path, tmp_path: Path, changes: list[tuple[float, bytes]], cut: int
) -> None:
    data = bytearray(whole_store.read_bytes())
    for place, new in changes:
        start = int(place * (len(data) - len(new)))
        data[start : start + len(new)] = new
    path = tmp_path / "crawl.sqlite"
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    path.write_bytes(data[: len(data) - cut])
    with _no_hang():
        try:
            store = SqliteStore(path, read_only=True)
        except StateError:
            return
        try:
            list(store.exports.pages())
            list(store.exports.duplicates())
            [store.learned.site(host) for host in store.learned.hosts()]
            list(store.explain.all_apart())
        except StateError:
            pass
        finally:
            try:
                store.close()
            except (StateError, sqlite3.DatabaseError) as error:
                pytest.fail(f"closing raised {error!r}")


_RECORD = warc_record("http://a.example/", http_response(b"<p>Some words of a page.</p>\r\n", HTML))


@_fuzz(500)
@given(changes=_CHANGES, times=st.integers(1, 3))
def test_archives(tmp_path: Path, changes: list[tuple[float, bytes]], times: int) -> None:
    pytest.importorskip("warcio", reason="warcio is not installed")
    data = bytearray(_RECORD * times)
    for place, new in changes:
        start = int(place * (len(data) - len(new)))
        data[start : start + len(new)] = new
    path = tmp_path / "a.warc"
    path.write_bytes(data)
    with _no_hang():
        try:
            list(read_documents(path))
        except (OSError, ValueError) as error:  # told in a sentence
            assert str(error)  # noqa: PT017 -- not the error is tested, but that it says something
