"""Refreshes with a budget of sites that have the search index of Pagefind: a file for each page."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from xxhash import xxh3_64_hexdigest

from tests.pagefind import fragment, listing
from tests.with_constants import with_constants

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

_FOLDER = "/docs/pagefind/"


class Manual:
    """A manual of 12 pages and a start page, and what a refresh asks of it.

    Attributes:
        texts: by the path of each page.
        languages: of its index.
        addresses: of pages in the index, if they are others than their own.
        head: more of what is in the head of each page.
        generator: the version of it, of which the digests are made, too.
        read: the pages whose fragments the last refresh has read, in their order.
        visited: the pages that it has visited.
        trust: how many of the pages that were named had changed, until now, and how many had not.
        rows: what is known of each page.
    """

    def __init__(self, crawl: Crawler, site: WebSite, make: SimpleNamespace) -> None:
        self.texts = {
            name: f"text of {name}" for name in ("/", *(f"/docs/{n}/" for n in range(12)))
        }
        self.languages = ["en_1"]
        self.addresses: dict[str, str] = {}
        self.head = self.generator = ""
        self._crawl, self._site, self._make = crawl, site, make
        self._fragments: dict[str, str] = {}
        self._publish()
        crawl("site", url=site.url)
        self.refresh()
        assert self.read == []  # there is nothing to compare with

    def _publish(self) -> None:
        names = {
            f"en_{xxh3_64_hexdigest(f'{page}: {text}{self.generator}'.encode())[:7]}": page
            for page, text in self.texts.items()
        }
        languages = {str(n): {"hash": each} for n, each in enumerate(self.languages)}
        head = f"<script src='{_FOLDER}pagefind-ui.js'></script>{self.head}"
        page, answer = self._make.page, self._make.Answer
        routes = {name: page(text, *self.texts, head=head) for name, text in self.texts.items()}
        entry = json.dumps({"languages": languages}).encode()
        routes[f"{_FOLDER}pagefind-entry.json"] = answer(entry, 200, "application/json")
        for each in self.languages:
            is_there = each.startswith("en")
            body = answer(listing(*names), 200 if is_there else 404, None)
            routes[f"{_FOLDER}pagefind.{each}.pf_meta"] = body
        for name, of in names.items():
            address = f"{_FOLDER}fragment/{name}.pf_fragment"
            self._fragments[address] = of
            url = self.addresses.get(of, of.removeprefix("/docs"))
            routes[address] = answer(fragment(url, self.texts[of]), 200, None)
        self._site.routes |= routes

    def refresh(self, *changed: str, **budget: Any) -> None:
        """Give pages another text, and visit eight pages, unless the budget is another."""
        self.texts |= {name: f"another {self.texts[name]}" for name in changed}
        self._publish()
        self._site.asked.clear()
        crawled = self._crawl("site", url=self._site.url, refresh=1, **budget or {"max_pages": 8})
        assert crawled.status == 0, crawled.output
        asked = list(self._site.asked)
        self.read = [self._fragments[each] for each in asked if each in self._fragments]
        asked.remove("/")  # it may have a search index
        self.visited = {each for each in asked if each in self.texts}
        counts = "SELECT sum(named_changed), sum(named_same) FROM lastmods"
        (self.trust,) = crawled.rows(counts)
        self.rows = {
            "/" + url.removeprefix(self._site.url): value
            for url, value in crawled.rows(
                "SELECT url, value FROM lastmods WHERE url NOT LIKE '%fragment%'"
            )
        }


@pytest.fixture
def manual(crawl: Crawler, site: WebSite, make: SimpleNamespace) -> Manual:
    return Manual(crawl, site, make)


def test_a_budget_goes_to_the_pages_whose_fragments_are_new(manual: Manual) -> None:
    """Each has to be read, in place of a visit."""
    for changed in ({"/docs/3/", "/docs/7/"}, {"/docs/3/", "/docs/9/"}, set()):
        manual.refresh(*changed)
        assert {*manual.read} == changed
        assert changed < manual.visited
        assert len(manual.visited) == 8 - len(changed)
    assert manual.trust == (4, 0)


def test_more_new_fragments_than_a_part_of_the_budget_are_read_the_next_time(
    manual: Manual,
) -> None:
    changed = {f"/docs/{n}/" for n in range(4)}
    manual.refresh(*changed)
    first = manual.read
    manual.refresh()
    assert len(first) == len(manual.read) == 2
    assert {*first, *manual.read} == changed


def test_fragments_that_were_new_before_all_pages_were_visited_say_nothing(
    manual: Manual,
) -> None:
    manual.refresh("/docs/5/", max_seconds=20)
    assert manual.read == ["/docs/5/"]
    manual.refresh("/docs/6/", max_pages=0)
    manual.refresh("/docs/7/")
    assert manual.read == []
    manual.refresh("/docs/8/")
    assert manual.read == ["/docs/8/"]
    manual.generator = "2"
    manual.refresh(max_pages=13)
    assert manual.read == []
    assert manual.trust == (2, 0)


def test_fragments_tell_of_pages_below_the_folder_of_their_index(manual: Manual) -> None:
    manual.addresses["/docs/4/"] = "../"
    manual.refresh("/docs/4/")
    assert manual.read == ["/docs/4/"]
    assert {*manual.rows} == manual.texts.keys() - {"/"}
    assert {*manual.rows.values()} == {"text ?"}


def test_another_search_index_that_has_the_texts_counts_more(
    manual: Manual, site: WebSite, make: SimpleNamespace
) -> None:
    manual.head = "<script>base_url = '/docs/'</script>"
    for n_refreshes, text in enumerate(["text", "text", "another text"]):
        docs = [{"location": f"{n}/", "text": text} for n in range(12)]
        index = make.Answer(json.dumps({"docs": docs}).encode(), 200, "application/json")
        site.routes["/docs/search/search_index.json"] = index
        before = manual.trust
        manual.refresh(max_pages=13)
        has_other = n_refreshes != 1  # the first time, another index
        assert (manual.trust != before) == has_other


@pytest.mark.parametrize(
    ("languages", "most"),
    [(["en_1", "zh_1"], 99), (["en_1"], 12), ([f"en_{n}" for n in range(200)], 99)],
)
def test_an_index_that_cannot_be_read_as_a_whole_says_nothing(
    manual: Manual, site: WebSite, languages: list[str], most: int
) -> None:
    manual.languages = languages
    python = with_constants({"spiders.site_hints.MAX_PAGES": most})
    manual.refresh("/docs/4/", python=python, max_pages=8)
    assert manual.read == []
    assert len([each for each in site.asked if each.startswith(_FOLDER)]) < 120
    manual.languages = ["en_1"]
    manual.refresh()
    assert manual.read == ["/docs/4/"]
