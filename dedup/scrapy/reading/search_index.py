"""Reading the search indexes that sites publish: what text each of their pages has.

Manuals have such files for the search in the browser. They are made of the pages' texts as a site
is built, so that one request tells which of all pages have changed. Docusaurus has no such file,
but its scripts name the part that has the text of a page by a digest.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urljoin

from xxhash import xxh3_64_hexdigest

from dedup.scrapy.reading.pagefind import ENTRY, is_pagefind, read_pagefind

_NAMED = re.compile(
    r"""(?:\b(base_url|path_to_root|documenterBaseURL) *= *["']"""
    r"""|"(base)": *"(?=[^"<>]{0,300}", *"features":)|name="(quarto:offset)" content=")"""
    r"""([^"'<>\s]{0,300})["']"""
)
_INDEXES = {
    "base_url": "search/search_index.json",  # MkDocs
    "base": "search/search_index.json",  # Material for MkDocs
    "path_to_root": "searchindex.js",  # mdBook
    "documenterBaseURL": "search_index.js",  # Documenter.jl
    "quarto:offset": "search.json",
}
"""By what tells the way from a page to the root of its site."""

_OF_PAGEFIND = f"pagefind/{ENTRY}"

_QUOTED = re.compile(r"""["'`=]([^"'`<>\s]{1,500})(?=["'`>\s])""")
_BESIDE = {
    re.compile(rf"((?:.*/)?){end}"): index
    for end, index in {
        r"_static/documentation_options\.js": "searchindex.js",  # Sphinx
        r"assets/js/just-the-docs\.js": "assets/js/search-data.json",
        r"mkdocs/js/search\.js": "mkdocs/search_index.json",  # MkDocs before 1.0
        r"libs/gitbook-[^/]*/js/plugin-search\.js": "search_index.json",  # bookdown
        r"pagefind/(?:pagefind[\w.-]*\.(?:js|css))?": _OF_PAGEFIND,
        r"_pagefind/(?:pagefind[\w.-]*\.(?:js|css))?": f"_{_OF_PAGEFIND}",
        r"_astro/[^/]*": _OF_PAGEFIND,  # if it has one: its scripts alone tell
    }.items()
}
"""By the end of the address of a script, from the root."""

_HAS_PAGEFIND = "data-pagefind-"
"""An attribute that pages have if their site has such an index, somewhere."""

_IS_INDEX = re.compile(r"(?:[^/]*search[-_.]?(?:index|data)[^/]*\.js(?:on)?|search\.json)", re.I)
"""File names that pages have: Docsy, pkgdown, mdBook since 0.5."""

_URL_KEYS = ("location", "url", "href", "permalink", "relUrl", "path", "uri")
"""Of an entry: MkDocs and Documenter, Jekyll and Hugo, Quarto and DocFX, pkgdown, others."""

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[A-Za-z_$][\w$]*(?= *:)', re.DOTALL)
_PARSED = re.compile(r"JSON\.parse\( *'([^'\\]*(?:\\.[^'\\]*)*)' *\)", re.DOTALL)
_ESCAPED = re.compile(r"\\(['\\])")

MAX_PAGES = 50_000
"""Of an index; its other pages are left out. `DOWNLOAD_MAXSIZE` leaves out larger files anyway."""

_MAX_INDEXES = 5
"""That a page leads to."""

_MAX_ADDRESS = 2_000
"""Characters."""

_IS_DOCUSAURUS = "__docusaurus"
_SCRIPT = re.compile(r"(?:runtime~)?main\.[0-9a-f]{8,20}\.js")
_ROUTE = re.compile(r'"(/[^"\\\s]{0,1000}?)-[0-9a-f]{3}":')
_CONTENT = re.compile(r'"content":"([0-9a-f]{8})"')
_CHUNKS = re.compile(r'\{(?:"?\w{1,20}"?:"[\w~-]{1,80}",?)+\}')
_CHUNK = re.compile(r'"?(\w+)"?:"([\w~-]+)"')


class IndexAddress(NamedTuple):
    """Where an index is, as a whole or in parts, and from where it names pages."""

    urls: tuple[str, ...]
    base: str


class RawSearchIndex(NamedTuple):
    """A search index as received, and the URL from which it names pages."""

    body: bytes
    url: str


class SearchIndexError(ValueError):
    """The file cannot be read as a search index; the message says why."""


def index_addresses(html: str, url: str) -> list[IndexAddress]:
    """The search indexes that the page at `url` may have, as its generator names them.

    >>> html = '<script src="../_static/documentation_options.js?v=1"></script>'
    >>> index_addresses(html, "https://example.org/en/guide/")
    [IndexAddress(urls=('https://example.org/en/searchindex.js',), base='https://example.org/en/')]
    """
    found = [(root, _INDEXES[a or b or c]) for a, b, c, root in _NAMED.findall(html)]
    scripts: dict[str, str] = {}
    for quoted in _QUOTED.findall(html):
        address = quoted.partition("?")[0]
        for end, index in _BESIDE.items():
            if beside := end.fullmatch(address):
                found.append((beside[1], index))
        name = address.rpartition("/")[2]
        if _IS_INDEX.fullmatch(name):
            found.append((address, ""))
        if _SCRIPT.fullmatch(name):
            with suppress(ValueError):
                scripts[name.partition(".")[0]] = urljoin(url, address)
    if _HAS_PAGEFIND in html and not any(index.endswith(ENTRY) for _, index in found):
        found.append(("/", _OF_PAGEFIND))
    addresses: dict[IndexAddress, None] = {}
    if scripts.keys() == {"main", "runtime~main"} and _IS_DOCUSAURUS in html:
        addresses[IndexAddress((scripts["runtime~main"], scripts["main"]), url)] = None
    for root, index in found:
        with suppress(ValueError):
            base = urljoin(url, root if root.endswith("/") or not (root and index) else root + "/")
            addresses[IndexAddress((urljoin(base, index),), base)] = None
    return list(addresses)[:_MAX_INDEXES]


def read_search_index(body: bytes, base: str) -> dict[str, str]:
    """A fingerprint of the text of each page, by its URL, in a search index.

    Args:
        body: JSON, or a script that has it, or several, one after the other.
        base: the URL from which the index names pages; of a file of Pagefind, its own. Such a file
            may name other files instead (see `read_pagefind`).

    Raises:
        SearchIndexError: it is no search index.
    """
    texts = _of_pagefind(body, base) if is_pagefind(base) else _of_pages(body, base)
    if not texts:
        raise SearchIndexError("it names no page")
    return texts


def _of_pagefind(body: bytes, url: str) -> dict[str, str]:
    try:
        found = read_pagefind(body, url)
    except (ValueError, RecursionError) as error:
        raise SearchIndexError(f"not as Pagefind has it ({error})") from None
    names = [(url, name) for url, name in found.items() if len(url) <= _MAX_ADDRESS]
    return dict(names[:MAX_PAGES])


def _of_pages(body: bytes, base: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for entry, text in _texts(body.decode("utf-8-sig", "replace")):
        address = entry.partition("#")[0]
        if len(address) <= _MAX_ADDRESS and (address in found or len(found) < MAX_PAGES):
            digest = xxh3_64_hexdigest(text.encode("utf-8", "replace"))
            found.setdefault(address, []).append(digest)
    texts = {}
    for address, hashes in found.items():
        with suppress(ValueError):
            texts[urljoin(base, address)] = xxh3_64_hexdigest(" ".join(sorted(hashes)).encode())
    return texts


def _texts(index: str) -> Iterator[tuple[str, str]]:
    return _of_docusaurus(index) if '"__comp":' in index else _entries(_json(index))


def _of_docusaurus(scripts: str) -> Iterator[tuple[str, str]]:
    """The digests of each page's parts. `scripts`: the one that has the names of parts, first."""
    maps = (dict(_CHUNK.findall(each[0])) for each in _CHUNKS.finditer(scripts))
    names, digests = next(maps, {}), next(maps, {})
    digest_of = {names.get(number, number): digest for number, digest in digests.items()}
    routes = [*_ROUTE.finditer(scripts)]
    ends = [*(following.start() for following in routes[1:]), len(scripts)]
    for route, end in zip(routes, ends, strict=False):  # there may be no route
        parts = _CONTENT.findall(scripts, route.end(), end)
        if text := " ".join(digest_of.get(part, "") for part in parts).strip():
            yield route[1], text


def _json(text: str) -> Any:
    if parsed := _PARSED.search(text):
        text = _ESCAPED.sub(r"\1", parsed[1])
    starts = [place for sign in "{[" if (place := text.find(sign)) >= 0]
    if not starts:
        raise SearchIndexError("it has no JSON")
    text = text[min(starts) :]
    try:
        try:
            return json.JSONDecoder().raw_decode(text)[0]
        except ValueError:  # Sphinx before 7 does not quote the names of members
            return json.JSONDecoder().raw_decode(_TOKEN.sub(_quoted, text))[0]
    except (ValueError, RecursionError) as error:
        raise SearchIndexError(f"not JSON: {error}") from None


def _quoted(token: re.Match[str]) -> str:
    return token[0] if token[0].startswith('"') else f'"{token[0]}"'


def _entries(index: Any) -> Iterator[tuple[str, str]]:
    """The address of each page that the index has, with its text or a part of that."""
    if isinstance(index, dict) and isinstance(index.get("terms"), dict):
        yield from _of_sphinx(index)
        return
    left = [index]
    while left:
        value = left.pop()
        if isinstance(value, list):
            if len(value) > 1 and isinstance(value[0], str) and ".html" in value[0]:
                yield value[0], _text(value[1:])  # bookdown
            else:
                left += value
        elif isinstance(value, dict):
            if isinstance(urls := value.get("doc_urls"), list):  # mdBook
                yield from _of_mdbook(value, urls)
            elif address := next((a for k in _URL_KEYS if isinstance(a := value.get(k), str)), ""):
                yield address, _text({**value, **dict.fromkeys(_URL_KEYS)})
            else:
                left += value.values()


def _of_mdbook(index: Mapping[str, Any], urls: list[Any]) -> Iterator[tuple[str, str]]:
    with suppress(KeyError, TypeError, AttributeError):
        texts = index["index"]["documentStore"]["docs"]
        for number, url in enumerate(urls):
            yield str(url), _text({**texts[str(number)], "id": None})


def _of_sphinx(index: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The words of each document; the index has no texts."""
    names = index.get("docnames")
    if not isinstance(names, list):
        return
    words: defaultdict[int, list[str]] = defaultdict(list)
    for part in (index["terms"], index.get("titleterms")):
        for word, numbers in part.items() if isinstance(part, dict) else ():
            for number in numbers if isinstance(numbers, list) else [numbers]:
                if isinstance(number, int):
                    words[number].append(word)
    for number, name in enumerate(names):
        yield f"{name}.html", " ".join(sorted(words[number]))


def _text(entry: Any) -> str:
    """All texts of an entry, in their order; numbers, such as those of entries, do not count."""
    parts = []
    left = [entry]
    while left:
        value = left.pop()
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, list):
            left += reversed(value)
        elif isinstance(value, dict):
            left += [value[key] for key in sorted(value, reverse=True)]
    return "\n".join(parts)


def spellings(url: str) -> list[str]:
    """A URL as an index may have it, and the others that the same page may have.

    >>> spellings("https://example.org/guide")
    ['https://example.org/guide', 'https://example.org/guide/', 'https://example.org/guide.html']
    >>> spellings("https://example.org/a/index.html")[1:]
    ['https://example.org/a/', 'https://example.org/a', 'https://example.org/a/index']
    """
    if url.endswith("/index.html"):
        folder = url.removesuffix("index.html")
        return [url, folder, folder[:-1], url.removesuffix(".html")]
    if url.endswith(".html"):
        return [url, url.removesuffix(".html"), url.removesuffix(".html") + "/"]
    if url.endswith("/"):
        return [url, url + "index.html", url[:-1]]
    return [url, url + "/", url + ".html"]
