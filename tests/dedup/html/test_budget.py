"""Pages of a few kilobytes, compressed, that took parsers and regexes time quadratic in size."""

from __future__ import annotations

import time

import pytest

from dedup.html import bounded, decode, extract_text, parse_page
from dedup.html.page import MAX_LINK_CHARACTERS, MAX_LINKS

_MOST_SECONDS = 4.0
"""Of CPU; all take under half a second, and took 5 s to minutes."""

_PAGES = {
    "options": b"<select>" + b"<option>a" * 60_000,
    "groups of options": b"<select>" + b"<optgroup><option>" * 30_000,
    "formatting, each with other attributes": b"".join(b"<font a%d=1>" % n for n in range(40_000)),
    "formatting between links": b"<a><b>" * 60_000,
    "bodies with other attributes": b"".join(b"<body a%d>" % n for n in range(60_000)),
    "tags of 10,000 attributes": b"<p %s>" % b" ".join(b"a%d=1" % n for n in range(10_000)) * 20,
    "attributes behind quotes": b'<p x=">" %s>' % b" ".join(b"a%d" % n for n in range(90_000)),
    "late declarations without end": b"\xff" + b"<meta " * 60_000,
    "declarations of spaces": b"\xff<meta charset" + b" " * 500_000,
    "scripts without end": b"<script " * 60_000,
    "a long base": (
        b'<base href="http://a.example/%s">' % (b"a/" * 40_000)
        + b"".join(b"<a href=x%d>" % n for n in range(5_000))
    ),
    "paragraphs deep in each other's boxes": b"<article>" + (b"<div><p>" + b"y " * 30) * 2_400,
    "equals signs": b"<div>" * 5_001 + b"<p " + b"=" * 500_000,
}


@pytest.mark.parametrize("name", _PAGES)
def test_hostile_pages_are_read_in_linear_time(name: str) -> None:
    began = time.process_time()
    page = bounded(decode(_PAGES[name], "text/html").text)
    parse_page(page, "http://a.example/").links()
    extract_text(page)
    assert time.process_time() - began < _MOST_SECONDS


def test_attributes_up_to_the_bound_count() -> None:
    names = " ".join(f"a{number}={number}" for number in range(5_000))
    page = bounded(f"<a {names} href=late>x</a><a href=first {names}>y</a>" + " " * 20_000)
    assert parse_page(page, "http://a.example/").links() == ["http://a.example/first"]


def test_a_flat_page_keeps_language_links_and_options() -> None:
    options = "".join(f"<option>Choice {number}" for number in range(6_000))
    page = bounded(f"<html lang=de><body><a href=b>c</a><select>{options}</select>")
    assert page.is_flat
    found = parse_page(page, "http://a.example/")
    assert (found.language, found.links()) == ("de", ["http://a.example/b"])
    assert "Choice 5999" in extract_text(page)


def test_links_beyond_the_bound_are_counted() -> None:
    hrefs = "".join(f"<a href=/{number}>" for number in range(MAX_LINKS + 7))
    links, n_left = parse_page(hrefs, "http://a.example/").bounded_links()
    assert (len(links), n_left) == (MAX_LINKS, 7)
    page = parse_page(_PAGES["a long base"].decode(), "http://a.example/")
    links, n_left = page.bounded_links()
    assert sum(map(len, links)) <= MAX_LINK_CHARACTERS
    assert len(links) + n_left == 5_000


@pytest.mark.parametrize(
    "late",
    [
        b"<meta charset=gb2312>",
        b"<META content='text/html; charset = gb2312' http-equiv=content-type>",
        b'< meta charset="gb2312" />',
    ],
)
def test_a_late_declaration_counts(late: bytes) -> None:
    body = b"<p>" + b" " * 9_000 + late + "汉语".encode("gbk") * 3
    assert decode(body).encoding == "gb18030"
