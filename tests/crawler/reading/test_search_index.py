"""Search indexes that sites publish, as generators of manuals write them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.scrapy.reading.page_reader import PageReader
from dedup.scrapy.reading.search_index import (
    MAX_PAGES,
    SearchIndexError,
    index_addresses,
    read_search_index,
    spellings,
)
from dedup.scrapy.reading.worker_protocol import ReadingError
from tests.crawler.reading.test_page_reader import WANTED

BASE = "https://example.org/docs/"


def _mkdocs(**texts: str) -> str:
    docs = [{"location": f"{name}/", "title": name, "text": text} for name, text in texts.items()]
    return json.dumps({"config": {"lang": ["en"]}, "docs": docs})


def _documenter(**texts: str) -> str:
    return f"var documenterSearchIndex = {_mkdocs(**texts)}\n"


def _sphinx(**texts: str) -> str:
    terms: dict[str, list[int] | int] = {}
    for number, text in enumerate(texts.values()):
        for word in text.split():
            terms[word] = number if word not in terms else [0, 1]
    index = {"docnames": [*texts], "titles": [*texts], "terms": terms, "titleterms": {}}
    return f"Search.setIndex({json.dumps(index)})"


def _old_sphinx(**texts: str) -> str:
    found = _sphinx(**texts)
    for name in ("docnames", "titles", "terms", "titleterms"):
        found = found.replace(f'"{name}"', name)
    return found


def _mdbook_json(**texts: str) -> str:
    docs = {
        str(number): {"id": str(number), "title": name, "body": text, "breadcrumbs": name}
        for number, (name, text) in enumerate(texts.items())
    }
    store = {"documentStore": {"docs": docs, "save": True}, "fields": ["title"]}
    return json.dumps({"doc_urls": [f"{name}.html#{name}" for name in texts], "index": store})


def _mdbook(**texts: str) -> str:
    quoted = _mdbook_json(**texts).replace("\\", "\\\\").replace("'", "\\'")
    return f"window.search = Object.assign(window.search, JSON.parse('{quoted}'));"


def _just_the_docs(**texts: str) -> str:
    entries = [
        {"title": n, "content": t, "url": f"/docs/{n}/", "relUrl": f"/{n}/"}
        for n, t in texts.items()
    ]
    return json.dumps({str(number): entry for number, entry in enumerate(entries)})


def _quarto(**texts: str) -> str:
    return json.dumps(
        [{"objectID": n, "href": f"{n}.html#{n}", "text": t} for n, t in texts.items()]
    )


def _docusaurus(**texts: str) -> str:
    names = [sha256(name.encode()).hexdigest()[:8] for name in texts]
    digests = [sha256(text.encode()).hexdigest()[:8] for text in texts.values()]
    named, chunks = (
        ",".join(f'{number}:"{value}"' for number, value in enumerate(values, 100))
        for values in (["935f2afb", *names], ["1a2b3c4d", *digests])
    )
    runtime = (
        f'r.u=e=>"assets/js/"+({{{named}}}[e]||e)+"."+{{{chunks}}}[e]+".js",r.miniCssF=e=>{{}}'
    )
    parts = {"__comp": "17896441", "__context": {"plugin": "935f2afb"}}
    routes = {
        f"/docs/{name}-{place:03x}": parts | {"content": names[place]}
        for place, name in enumerate(texts)
    }
    both = routes | {"/docs-fff": {"__comp": "5e95c892", "routes": "none"}}
    quoted = json.dumps(both, separators=(",", ":"))
    return f"{runtime}\n(self.x=[]).push([1],{{2:e=>{{e.exports=JSON.parse('{quoted}')}}}})"


def _bookdown(**texts: str) -> str:
    return json.dumps([[f"{name}.html", name, text] for name, text in texts.items()])


KINDS = [
    *(_mkdocs, _documenter, _sphinx, _old_sphinx, _mdbook, _mdbook_json),
    *(_just_the_docs, _quarto, _bookdown, _docusaurus),
]


@pytest.mark.parametrize("index", KINDS)
def test_pages_with_another_text_have_another_fingerprint(index):
    def read(**texts: str) -> dict[str, str]:
        found = read_search_index(index(**texts).encode(), BASE)
        return {min(spellings(url), key=len): text for url, text in found.items()}

    before = read(guide='it\'s a \\ "guide"', start="how to start")
    assert before.keys() == {f"{BASE}guide", f"{BASE}start"}
    assert read(guide='it\'s a \\ "guide"', start="how to start") == before
    after = read(guide='it\'s a \\ "guide"', start="how one starts", third="a new page")
    assert {url for url in before if before[url] != after[url]} == {f"{BASE}start"}


def test_the_sections_of_a_page_are_one_text_in_any_order():
    parts = [{"location": f"a/#{n}", "text": n} for n in "123"]
    read = [read_search_index(json.dumps(each).encode(), BASE) for each in (parts, parts[::-1])]
    assert read[0] == read[1] != read_search_index(json.dumps(parts[1:]).encode(), BASE)


@pytest.mark.parametrize(
    ("html", "address", "base"),
    [
        ("var base_url = '../..';", "search/search_index.json", ""),
        ('{"base": "../..", "features": [], "search": "x.js"}', "search/search_index.json", ""),
        ('<script src="../../mkdocs/js/search.js">', "mkdocs/search_index.json", ""),
        ('<script src="../../_static/documentation_options.js?v=5">', "searchindex.js", ""),
        ('var path_to_root = "../../";', "searchindex.js", ""),
        ('<script src="../../libs/gitbook-2.6.7/js/plugin-search.js">', "search_index.json", ""),
        ('path_to_searchindex_js = "../../searchindex-5a4b.js"', "searchindex-5a4b.js", None),
        ('<meta name="quarto:offset" content="../../">', "search.json", ""),
        ('<script>documenterBaseURL="../.."</script>', "search_index.js", ""),
        ('<script src="/docs/assets/js/just-the-docs.js">', "assets/js/search-data.json", ""),
        ('data-index="/docs/offline-search-index.1a.json"', "offline-search-index.1a.json", None),
        ('<input data-search-index="../../search.json">', "search.json", None),
    ],
)
def test_pages_lead_to_the_index_of_their_manual(html, address, base):
    (found,) = index_addresses(f"<p>Text.</p>{html}", f"{BASE}guide/start/")
    assert found.urls == (BASE + address,)
    assert found.base == BASE + (address if base is None else base)


def test_pages_of_docusaurus_lead_to_two_scripts():
    scripts = [f'<script src="/docs/assets/js/{n}.0d1e2f34.js">' for n in ("runtime~main", "main")]
    html = '<div id="__docusaurus"></div>' + "".join(scripts)
    urls = tuple(f"{BASE}assets/js/{name}.0d1e2f34.js" for name in ("runtime~main", "main"))
    assert index_addresses(html, f"{BASE}guide") == [(urls, f"{BASE}guide")]
    assert index_addresses("".join(scripts), BASE) == []


def test_other_pages_lead_to_none():
    html = '<script src="/js/search.js"></script><a href="/search?q=index">x</a> base_url = 5'
    assert index_addresses(html, BASE) == []
    for address in ("var base_url = 'http://[';", "'//[/main.0d1e2f34.js'", "'//[/search.json'"):
        assert index_addresses(address, BASE) == []
    many = "".join(f"'/{n}/search.json'" for n in range(99))
    assert len(index_addresses(many, BASE)) == 5


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"nothing", b"{", b"[]", b"{}", b'{"docs": [{"text": "no address"}]}'),
        *(
            b"[" * 100_000,
            b'{"terms": {"a": 0}, "docnames": 5}',
            b'{"doc_urls": ["a"], "index": 5}',
        ),
        *(b"[1" + b"0" * 10_000 + b"]", b"\xff\xfe{", b"JSON.parse('{')", b'"__comp":"1"'),
    ],
)
def test_what_is_no_index_is_refused(body):
    with pytest.raises(SearchIndexError):
        read_search_index(body, BASE)


def test_an_index_has_a_bound():
    names = [[f"{n}.html", "x"] for n in range(MAX_PAGES + 5)]
    assert len(read_search_index(json.dumps(names).encode(), BASE)) == MAX_PAGES
    long = [["a" * 3_000 + ".html", "x"], ["b.html", "x"]]
    assert read_search_index(json.dumps(long).encode(), BASE).keys() == {f"{BASE}b.html"}


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "url",
                        "docnames",
                        "terms",
                        "doc_urls",
                        "index",
                        "text",
                        "documentStore",
                        "docs",
                    ]
                ),
                inner,
            )
        ),
    )
)
def test_any_json_is_read_or_refused(value):
    try:
        found = read_search_index(json.dumps(value).encode(), BASE)
    except SearchIndexError:
        return
    assert all(isinstance(url, str) and text for url, text in found.items())


def test_index_is_read_in_another_process_within_bounds():
    def read(body: bytes, **bounds: float) -> dict[str, str]:
        async def read_by_reader() -> dict[str, str]:
            reader = PageReader(replace(WANTED, **bounds), processes=1)
            try:
                return await reader.read_search_index(body, BASE)
            finally:
                await reader.close()

        return asyncio.run(read_by_reader())

    body = _mkdocs(guide="a guide").encode()
    assert read(body) == read_search_index(body, BASE)
    with pytest.raises(ReadingError, match="no JSON") as caught:
        read(b"nothing")
    assert caught.value.reason == "parse_error"
