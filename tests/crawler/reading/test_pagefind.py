"""The files of Pagefind, which name each other, and pages."""

from __future__ import annotations

import gzip
import json

import pytest

from dedup.scrapy.reading.search_index import (
    MAX_PAGES,
    SearchIndexError,
    index_addresses,
    read_search_index,
)
from tests.pagefind import fragment, listing

FOLDER = "https://example.org/docs/pagefind/"


def test_files_name_those_of_languages_then_fragments_then_a_page():
    entry = {"version": "1.3.0", "languages": {"en": {"hash": "en_1a2b"}, "zh": {"hash": "zh-cn"}}}
    assert read_search_index(json.dumps(entry).encode(), f"{FOLDER}pagefind-entry.json") == {
        f"{FOLDER}pagefind.en_1a2b.pf_meta": "en_1a2b",
        f"{FOLDER}pagefind.zh-cn.pf_meta": "zh-cn",
    }
    names = ["en_49d2b17", "zh-hans-cn_0123456789abcdef0123", "en_2168dea0"]
    found = read_search_index(listing(*names), f"{FOLDER}pagefind.en_1a2b.pf_meta")
    assert found == {f"{FOLDER}fragment/{name}.pf_fragment": name for name in names}
    for address, page in {
        "/guide/?a=1": "https://example.org/docs/guide/?a=1",
        "guide/": "https://example.org/docs/guide/",
        "https://example.net/": "https://example.net/",
        "/": "https://example.org/docs/",
    }.items():
        assert [*read_search_index(fragment(address, "text"), next(iter(found)))] == [page]


def test_files_that_the_server_has_sent_as_compressed_are_read():
    url = f"{FOLDER}fragment/en_49d2b17.pf_fragment"
    plain = gzip.decompress(fragment("/a/", "text"))
    assert read_search_index(plain, url) == read_search_index(fragment("/a/", "text"), url)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        *(("pagefind-entry.json", body) for body in (b"", b"[]", b"{", b'{"languages": ["en"]}')),
        ("pagefind-entry.json", b'{"languages": {"en": {"hash": "../../x"}}}'),
        ("pagefind-entry.json", b"[" * 100_000),
        ("pagefind.en.pf_meta", b"pagefind_dcd\x82"),
        ("pagefind.en.pf_meta", b"en_49d2b17"),
        ("pagefind.en.pf_meta", listing(*(f"en_{number:07d}" for number in range(999)))[:-50]),
        ("pagefind.en.pf_meta", b"\x1f\x8bno gzip"),
        *(("fragment/a.pf_fragment", b"pagefind_dcd" + text) for text in (b"", b"[]", b"\xff{")),
        ("fragment/a.pf_fragment", b'pagefind_dcd{"content": "text"}'),
        ("fragment/a.pf_fragment", b'pagefind_dcd{"url": "http://["}'),
        ("fragment/a.pf_fragment", b'pagefind_dcd{"url": "/\\ud800"}'),
        ("pagefind-entry.json", b'{"languages": {"en": {"hash": null}}}'),
    ],
)
def test_what_is_no_such_file_is_refused(name, body):
    with pytest.raises(SearchIndexError):
        read_search_index(body, FOLDER + name)


def test_a_listing_has_a_bound():
    names = [f"en_{number:07x}" for number in range(MAX_PAGES + 5)]
    assert len(read_search_index(listing(*names), f"{FOLDER}pagefind.en.pf_meta")) == MAX_PAGES


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<script src="../pagefind/pagefind-ui.js">', "/docs/pagefind/"),
        ("import('/pagefind/pagefind.js?v=1')", "/pagefind/"),
        ("import(`/pagefind/pagefind.js`)", "/pagefind/"),
        ("<script src=/pagefind/pagefind-ui.js></script>", "/pagefind/"),
        ('{baseUrl:"",bundlePath:"/docs/pagefind/",x:""}', "/docs/pagefind/"),
        ('<link href="/docs/_pagefind/pagefind-modular-ui.css">', "/docs/_pagefind/"),
        ('{bundlePath:"/docs/pagefind/"}', "/docs/pagefind/"),
        ('<main data-pagefind-body><link href="/docs/_astro/a.css">', "/docs/pagefind/"),
        ('<main data-pagefind-body="" class="a">', "/pagefind/"),
        ('<link href="/docs/_astro/a.css">', "/docs/pagefind/"),
        ('<link href="/docs/astro/a.css">', None),
    ],
)
def test_pages_lead_to_pagefind(html, found):
    addresses = index_addresses(html, "https://example.org/docs/guide/")
    expected = [f"https://example.org{found}pagefind-entry.json"] if found else []
    assert [url for address in addresses for url in address.urls] == expected
