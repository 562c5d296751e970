"""The gate on sites: no page of its own is dropped, no copy is stored, and the texts are whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from dedup.store import SqliteStore
from tests.accuracy.attacks import words_found
from tests.accuracy.look_alikes import LOOK_ALIKES
from tests.accuracy.small_sites import SITES, SmallSite
from tests.crawler.conftest import Crawler, WebSite

ALL_SITES = (*SITES, *LOOK_ALIKES)
_RECALL = 0.95
_PRECISION = 0.95


@dataclass
class Judged:
    """A site after the crawl: stored texts by path, and originals of what was dropped."""

    site: SmallSite
    texts: dict[str, str]
    dropped: dict[str, str]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Judged]]:
    """All sites, crawled at once: each has a host of its own."""
    folder = tmp_path_factory.mktemp("jobs")
    with ExitStack() as stack:
        sites = {make.__name__: make().with_index() for make in ALL_SITES}
        servers = {
            name: stack.enter_context(
                WebSite({f"/{path}": html.encode() for path, html in site.pages.items()})
            )
            for name, site in sites.items()
        }
        urls = ",".join(server.url for server in servers.values())
        crawled = Crawler(folder).start("site", url=urls).finish(timeout=240)
        assert crawled.status == 0, crawled.output
        store = SqliteStore(Path(crawled.folder, "crawl.sqlite"), read_only=True)
        stack.callback(store.close)
        stored = {page["url"]: page["text"] for page in store.exports.pages()}
        dropped = {each["url"]: each["duplicate_of_url"] for each in store.exports.duplicates()}
        yield {
            name: Judged(
                site,
                {path: stored[url] for path, url in _urls(servers[name], stored)},
                {
                    path: dropped[url].removeprefix(servers[name].url)
                    for path, url in _urls(servers[name], dropped)
                },
            )
            for name, site in sites.items()
        }


def _urls(server: WebSite, urls: Iterable[str]) -> Iterator[tuple[str, str]]:
    for url in urls:
        if url.startswith(server.url):
            yield url.removeprefix(server.url), url


@pytest.mark.parametrize("name", [make.__name__ for make in ALL_SITES])
def test_pages_are_kept_and_copies_dropped(judged: dict[str, Judged], name: str) -> None:
    found = judged[name]
    assert _pairs(found.dropped) == _pairs(found.site.copies)  # whichever came first
    assert found.texts.keys() == found.site.pages.keys() - found.dropped.keys()


def _pairs(copies: dict[str, str]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in copies.items()}


@pytest.mark.parametrize("name", [make.__name__ for make in ALL_SITES])
def test_texts_are_whole_and_without_furniture(judged: dict[str, Judged], name: str) -> None:
    found = judged[name]
    missing = {
        (path, line)
        for path, lines in found.site.own.items()
        if path in found.texts
        for line in lines
        if line not in found.texts[path]
    }
    assert missing == set()
    foreign = {
        (path, line)
        for path, text in found.texts.items()
        for line in found.site.foreign
        if line in text
    }
    assert foreign == set()


@pytest.mark.parametrize("name", [make.__name__ for make in LOOK_ALIKES])
def test_texts_have_the_words_of_their_pages_and_no_others(
    judged: dict[str, Judged], name: str
) -> None:
    found = judged[name]
    stored = {path: found.texts[path] for path in found.site.texts if path in found.texts}
    assert stored
    for path, text in stored.items():
        assert words_found(found.site.texts[path], text) >= _RECALL, path
        assert words_found(text, found.site.texts[path]) >= _PRECISION, path
