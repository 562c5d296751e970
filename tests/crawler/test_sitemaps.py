import asyncio
import gzip
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy.http import Response

from dedup.config import DedupConfig
from dedup.scrapy.reading import sitemap_file as sitemaps
from dedup.scrapy.reading.content import Wanted
from dedup.scrapy.reading.page_reader import PageReader
from dedup.scrapy.reading.sitemap_file import (
    MAX_PARTS,
    Sitemap,
    SitemapError,
    read_sitemap,
)
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.scrapy.robots_file import sitemaps_in_robots

WANTED = Wanted(
    "content",
    links=True,
    is_nofollow_obeyed=True,
    bodies=False,
    stages=frozenset(),
    detection=DedupConfig(),
)

NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>'


def urlset(*locations):
    urls = b"".join(b"<url><loc>%s</loc></url>" % location for location in locations)
    return b"<urlset %s>%s</urlset>" % (NAMESPACE, urls)


ONE = urlset(b"http://a.example/")

# What sites serve as a sitemap, and the URLs in it.
READABLE = [
    (ONE, ["http://a.example/"]),
    (b"<urlset><url><loc>http://a.example/</loc></url></urlset>", ["http://a.example/"]),
    (b"\xef\xbb\xbf" + DECLARATION + ONE, ["http://a.example/"]),  # byte order mark
    (b"\n\n" + DECLARATION + ONE, ["http://a.example/"]),  # not allowed, and common
    (urlset(b"\n http://a.example/\t", b"", b"  "), ["http://a.example/"]),
    (urlset(b"http://a.example/?x=1&amp;y=&#50;"), ["http://a.example/?x=1&y=2"]),
    (urlset(b"<![CDATA[http://a.example/?x&y]]>"), ["http://a.example/?x&y"]),
    (urlset(b"http://a.example/<!-- old -->new"), ["http://a.example/new"]),
    (urlset("http://a.example/茶".encode()), ["http://a.example/茶"]),
    (b'<?xml version="1.0" encoding="ISO-8859-1"?>' + urlset(b"/\xe9"), ["/é"]),
    (
        b'<urlset xmlns:image="i"><url><loc>/page</loc><image:image><image:loc>/picture'
        b"</image:loc></image:image></url></urlset>",
        ["/page"],  # pictures are no pages
    ),
    # Broken XML counts up to the damage.
    (urlset(b"/1", b"/2")[:-20], ["/1", "/2"]),
    (b"<urlset><url><loc>/1</loc></url><url><loc>/2</url></urlset>", ["/1", "/2"]),
    (b"<urlset><url><loc>/1</loc></url>" + b"<a>" * 100_000, ["/1"]),
    (b"<urlset/>", []),
    (b'<urlset xmlns="a}{b"><url><loc>/1</loc></url></urlset>', ["/1"]),  # braces are lxml's own
    # Feeds.
    (
        b"<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><link>/home</link>"
        b"<item><atom:link href='/not'/><link> http://a.example/1 </link></item>"
        b"<item><guid>http://a.example/2</guid></item>"
        b"<item><guid isPermaLink='false'>3</guid></item><item/></channel></rss>",
        ["http://a.example/1", "http://a.example/2"],
    ),
    (
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.example/blog/'>"
        b"<link href='/home'/><entry><link rel='edit' href='/edit'/><link href='1'/></entry>"
        b"<entry><link rel='alternate' href='http://b.example/2'/><link href='/x'/></entry>"
        b"<entry><link/></entry><entry/></feed>",
        ["http://a.example/blog/1", "http://b.example/2"],
    ),
    (b"<feed xmlns='http://purl.org/atom/ns#'><entry><link href='/1'/></entry></feed>", ["/1"]),
    # Text.
    (b"http://a.example/\r\nhttps://b.example/ \n\nftp://c.example/\nhello", None),
    (b"\xef\xbb\xbfhttp://a.example/\nhttps://b.example/", None),
]


def test_when_pages_changed_is_read_where_a_sitemap_has_it():
    entry = b"<url><loc> /%s </loc><lastmod>%s</lastmod></url>"
    body = b"<urlset %s>%s%s<url><loc>/c</loc></url></urlset>" % (
        NAMESPACE,
        entry % (b"a", b" 2026-01-01 "),
        entry % (b"b", b"9" * 99),
    )
    assert read_sitemap(body).lastmods == {"/a": "2026-01-01", "/b": "9" * 40}
    index = b"<sitemapindex><sitemap><loc>/1</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"
    assert not read_sitemap(index).lastmods


@pytest.mark.parametrize(("body", "urls"), READABLE)
def test_sitemaps_are_read_plain_and_compressed(body, urls):
    urls = ["http://a.example/", "https://b.example/"] if urls is None else urls
    assert read_sitemap(body) == Sitemap(urls, is_index=False)
    assert read_sitemap(gzip.compress(body)) == Sitemap(urls, is_index=False)


def test_index_differs_from_sitemap():
    body = b"<sitemapindex %s><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>" % NAMESPACE
    assert read_sitemap(DECLARATION + body) == Sitemap(["/1.xml"], is_index=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "neither XML nor a list of URLs"),
        (b"Not found", "neither XML"),
        (b"<", "not XML"),
        (b"<\xff\xfe\x00", "not XML"),
        (b"<!-- only this -->", "not XML"),
        (
            b"<html><body>Not found</body></html>",
            "expected <urlset>, <sitemapindex>, <rss> or <feed>",
        ),
        (b"<!DOCTYPE html><html></html>", "expected <urlset>"),
        (ONE.decode().encode("utf-16"), "neither XML"),
        (b"\x1f\x8b\x08garbage", "damaged gzip"),
        (b"\x1f\x8b", "damaged gzip"),
    ],
)
def test_other_file_as_sitemap_is_reported(body, message):
    with pytest.raises(SitemapError, match=message):
        read_sitemap(body)


def entities(count, factor, last):
    """`count` entities, each `factor` times the one before."""
    later = (
        b'<!ENTITY e%d "%s">' % (number, b"&e%d;" % (number - 1) * factor)
        for number in range(1, count)
    )
    return b'<!DOCTYPE urlset [<!ENTITY e0 "lol">%s%s]>' % (b"".join(later), last)


HOSTILE = {
    "billion laughs": entities(11, 10, b"") + urlset(b"&e10;"),
    "laughs in an attribute": entities(11, 10, b"") + b'<urlset a="&e10;"/>',
    "laughs in a default": entities(9, 10, b'<!ATTLIST url a CDATA "&e8;">')
    + urlset(*[b"/"] * 1000),
    "quadratic": entities(2, 100_000, b"") + urlset(*[b"&e1;"] * 1000),
    "recursive": b'<!DOCTYPE u [<!ENTITY a "&b;"><!ENTITY b "&a;">]>' + urlset(b"&a;"),
    "parameter entities": b'<!DOCTYPE u [<!ENTITY % a "x"><!ENTITY % b "%a;%a;">%b;]>' + ONE,
    "external and own": b'<!DOCTYPE u [<!ENTITY a SYSTEM "a"><!ENTITY b "b">]>' + urlset(b"&b;"),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_entities_are_refused_and_never_expanded(body):
    with pytest.raises(SitemapError, match=r"^declares entities of its own|not XML"):
        read_sitemap(body)


def test_external_entities_are_left_out_and_not_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("http://secret.example/")
    uri = secret.as_uri().encode()
    cases = {
        b"": ["/1"],
        b'[<!ENTITY e SYSTEM "%s">]' % uri: ["/1"],
        b'SYSTEM "http://127.0.0.1:9/x.dtd"': ["/1"],
        b'[<!ENTITY %% e SYSTEM "%s">%%e;]' % uri: ["/1"],
    }
    for declared, urls in cases.items():
        body = b"<!DOCTYPE urlset %s>" % declared
        assert read_sitemap(body + urlset(b"/&e;", b"/1", b"&e;")).urls == urls, declared
    item = b"<rss><channel><item><link>/2&e;</link><guid>/2</guid></item></channel></rss>"
    assert read_sitemap(b"<!DOCTYPE rss [<!ENTITY e SYSTEM 'e'>]>" + item).urls == ["/2"]


def test_a_gzip_bomb_is_stopped_at_the_limit(monkeypatch):
    monkeypatch.setattr(sitemaps, "MAX_SIZE_BYTES", 100_000)
    bomb = gzip.compress(b"<urlset>" + b" " * 10_000_000)
    for body in (bomb, bomb * 3, gzip.compress(b"<urlset>") + bomb):
        with pytest.raises(SitemapError, match="larger than 100000 bytes"):
            read_sitemap(body)
    with pytest.raises(SitemapError, match="larger than 100000 bytes"):
        read_sitemap(b"<urlset>" + b" " * 100_000)
    assert read_sitemap(gzip.compress(b" " * (100_000 - len(ONE)) + ONE)).urls


def test_gzip_counts_up_to_the_damage():
    body = urlset(*[b"/%d" % number for number in range(20_000)])
    cut = gzip.compress(body)[:-2000]
    found = read_sitemap(cut).urls
    assert 5000 < len(found) < 20_000
    assert found[:-1] == [f"/{number}" for number in range(len(found) - 1)]


def test_all_members_of_a_gzip_file_are_read():
    body = urlset(b"/1", b"/2")
    assert read_sitemap(gzip.compress(body[:60]) + gzip.compress(body[60:])).urls == ["/1", "/2"]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(ONE)), st.booleans())
def test_any_bytes_give_a_sitemap_or_the_one_error(noise, position, is_compressed):
    body = ONE[:position] + noise + ONE[position:]
    try:
        result = read_sitemap(gzip.compress(body) if is_compressed else body)
    except SitemapError:
        return
    assert all(url and url == url.strip() for url in result.urls)


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        (b"", []),
        (b"Sitemap: http://a.example/1.xml\nsitemap:/2.xml", ["http://a.example/1.xml", "/2.xml"]),
        (b"\xef\xbb\xbfSitemap: /1.xml", ["/1.xml"]),
        (b"SITEMAP : /1.xml # the first\r\n# Sitemap: /2.xml\r\nSitemap:", ["/1.xml"]),
        (b"User-agent: sitemap: /1.xml\nSitemaps: /2.xml\n\xff\xfe: /3.xml", ["/2.xml"]),
    ],
)
def test_sitemaps_in_robots(body, urls):
    assert sitemaps_in_robots(body) == urls


@pytest.mark.parametrize("part", [b"<a/>", b"<a b='1'/>", b"http://a.example/\n", b"<"])
def test_more_parts_than_a_sitemap_has_are_refused(part, gzipped):
    """Of 64 kB, 64 MB of empty elements took 2 GB and 3 s in the crawl's own process."""
    body = gzipped(b"<urlset>" + part * (MAX_PARTS + 1))
    with pytest.raises(SitemapError, match="more than 2000000 tags"):
        read_sitemap(body)


def read_by_reader(body, **bounds):
    async def read():
        reader = PageReader(replace(WANTED, **bounds), processes=1)
        try:
            return await reader.read_sitemap(Response("http://a.example/s", body=body))
        finally:
            await reader.close()

    return asyncio.run(read())


def test_sitemap_is_read_in_another_process_within_bounds():
    assert read_by_reader(gzip.compress(ONE)) == read_sitemap(ONE)
    with pytest.raises(ReadingError, match="neither XML") as caught:
        read_by_reader(b"nothing")
    assert caught.value.reason == "sitemap_error"
    # Each address was joined to a base of 40 kB: 350 s and more.
    base = b"<feed xml:base='http://a/" + b"a/" * 20_000 + b"'>"
    entries = b"<entry><link href='a'/></entry>" * 400_000
    with pytest.raises(ReadingError, match="more than 1 s of CPU") as caught:
        read_by_reader(base + entries + b"</feed>", cpu_seconds=1.0)
    assert caught.value.reason == "too_complex"


def test_lines_end_at_a_carriage_return_and_are_counted(monkeypatch):
    assert read_sitemap(b"http://a/\rhttp://b/\r\nhttp://c/").urls == [
        *("http://a/", "http://b/", "http://c/")
    ]
    monkeypatch.setattr(sitemaps, "MAX_PARTS", 1_000)
    with pytest.raises(SitemapError, match="more than 1000"):
        read_sitemap(b"http://a/" + b"\r" * 1_001)
