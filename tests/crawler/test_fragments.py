"""Refreshes with a budget of sites that have the search index of Pagefind: a file for each page."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from xxhash import xxh3_64_hexdigest

from dedup.scrapy.job.visit_order import Said, _lost_fragments
from dedup.scrapy.reading.search_index import MAX_PAGES
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
        salted: more of which the digests of pages are made.
        failing: the statuses of the fragments of pages that cannot be had; "": of the index.
        hanging: the page whose fragment does not come.
        folder: of the index.
        links: that pages have, beside those to each other.
        read: the pages whose fragments the last refresh has read, in their order.
        visited: the pages that it has visited.
        trust: how many of the pages that were named had changed, until now, and how many had not.
        rows: what is known of each page.
        n_fragments: of how many fragments something is known.
    """

    def __init__(
        self,
        crawl: Crawler,
        site: WebSite,
        make: SimpleNamespace,
        *,
        urls: str = "",
        n_sites: int = 1,
    ) -> None:
        self.texts = {
            name: f"text of {name}" for name in ("/", *(f"/docs/{n}/" for n in range(12)))
        }
        self.languages = ["en_1"]
        self.addresses: dict[str, str] = {}
        self.head = self.generator = self.hanging = ""
        self.salted: dict[str, str] = {}
        self.failing: dict[str, int] = {} if n_sites else {"": 404}
        self.folder = _FOLDER
        self.links: list[str] = []
        self._crawl, self._site, self._make = crawl, site, make
        self._fragments: dict[str, str] = {}
        self._publish()
        self._urls = urls or site.url
        crawl("site", url=self._urls)
        self.refresh()
        assert len(self.read) == n_sites  # there is nothing to compare with

    def _publish(self) -> None:
        names = {self.name_of(page): page for page in self.texts}
        languages = {str(n): {"hash": each} for n, each in enumerate(self.languages)}
        head = f"<script src='{self.folder}pagefind-ui.js'></script>{self.head}"
        page, answer = self._make.page, self._make.Answer
        links = (*self.texts, *self.links)
        routes = {name: page(text, *links, head=head) for name, text in self.texts.items()}
        entry = json.dumps({"languages": languages}).encode()
        status = self.failing.get("", 200)
        routes[f"{self.folder}pagefind-entry.json"] = answer(entry, status, "application/json")
        for each in self.languages:
            is_there = each.startswith("en")
            body = answer(listing(*names), 200 if is_there else 404, None)
            routes[f"{self.folder}pagefind.{each}.pf_meta"] = body
        for name, of in names.items():
            address = f"{self.folder}fragment/{name}.pf_fragment"
            self._fragments[address] = of
            url = self.addresses.get(of, of.removeprefix("/docs"))
            told = answer(fragment(url, self.texts[of]), self.failing.get(of, 200), None)
            routes[address] = self._never if of == self.hanging else told
        self._site.routes |= routes

    def name_of(self, page: str) -> str:
        """Of the fragment of a page."""
        text = (page, self.texts[page], self.generator, self.salted.get(page, ""))
        return f"en_{xxh3_64_hexdigest(' '.join(text).encode())[:7]}"

    @staticmethod
    def _never(handler: Any) -> bytes:
        time.sleep(3)
        return b""

    def refresh(self, *changed: str, **budget: Any) -> None:
        """Give pages another text, and visit eight pages, unless the budget is another."""
        self.texts |= {name: f"another {self.texts[name]}" for name in changed}
        self._publish()
        self._site.asked.clear()
        crawled = self._crawl("site", url=self._urls, refresh=1, **budget or {"max_pages": 8})
        assert crawled.status == 0, crawled.output
        asked = list(self._site.asked)
        self.read = [self._fragments[each] for each in asked if each in self._fragments]
        asked.remove("/")  # it may have a search index
        self.visited = {each for each in asked if each in self.texts}
        counts = "SELECT sum(named_changed), sum(named_same) FROM lastmods"
        (self.trust,) = crawled.rows(counts)
        n_fragments = "SELECT count(*) FROM lastmods WHERE url LIKE '%fragment%'"
        (self.n_fragments,) = crawled.rows(n_fragments)
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
    manual.refresh(*changed, max_pages=4)
    first = manual.read
    manual.refresh(max_pages=4)
    assert len(first) == len(manual.read) == 2
    assert {*first, *manual.read} == changed


def test_a_page_whose_fragment_has_gone_is_named_once(manual: Manual) -> None:
    """Though the new one is read later."""
    manual.refresh("/docs/3/", "/docs/4/")
    manual.failing = {"/docs/3/": 503}
    manual.refresh("/docs/3/", "/docs/4/", max_pages=12)
    assert {"/docs/3/", "/docs/4/"} < manual.visited
    manual.failing = {}
    manual.refresh(max_pages=13)
    assert manual.read == ["/docs/3/"]
    assert manual.trust == (4, 0)


def test_links_that_are_asked_for_again_and_fragments_stay_within_a_budget(
    manual: Manual, site: WebSite
) -> None:
    manual.links = [f"/dead/{n}" for n in range(30)]
    manual.refresh(max_pages=0)
    manual.refresh()
    manual.refresh("/docs/3/", "/docs/7/", max_pages=20)
    assert {*manual.read} == {"/docs/3/", "/docs/7/"}
    n_dead = sum(each in manual.links for each in site.asked)
    assert n_dead
    assert len(manual.visited) + n_dead + 2 == 20


def test_sites_that_are_read_at_once_share_a_budget(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    other = site.url.replace("127.0.0.1", "localhost")
    manual = Manual(crawl, site, make, urls=f"{site.url},{other}", n_sites=2)
    for _ in range(2):
        manual.refresh("/docs/3/", "/docs/7/", "/docs/9/", max_pages=4)
        assert len(manual.read) == 2
        assert manual.visited


def test_an_index_is_believed_though_a_sitemap_was_wrong(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    manual = Manual(crawl, site, make, n_sites=0)
    for date in range(4):
        entries = (f"<url><loc>{n}</loc><lastmod>{date}</lastmod></url>" for n in manual.texts)
        site.routes["/sitemap.xml"] = f"<urlset>{''.join(entries)}</urlset>".encode()
        manual.refresh(max_pages=13)
    assert manual.trust[1] > 20
    manual.failing = {}
    manual.refresh()
    assert len(manual.read) == 1
    changed = {"/docs/3/", "/docs/4/", "/docs/5/"}
    manual.refresh(*changed)
    assert {*manual.read} == changed < manual.visited


def test_a_section_may_have_an_index_beside_that_of_the_root(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    pages = [f"/{folder}/{n}/" for folder in ("blog", "news", "docs") for n in range(6)]
    names = {f"en_{n:07x}": page for n, page in enumerate(pages[:12])}
    entry = make.Answer(b'{"languages": {"en": {"hash": "en_1"}}}', 200, "application/json")
    docs = [{"location": page[1:], "text": page} for page in pages[12:]]
    index = make.Answer(json.dumps({"docs": docs}).encode(), 200, "application/json")
    manual_head = "<script>base_url = '/'</script>"
    site.routes |= {
        "/": make.page("/", *pages, head="<script src=/pagefind/pagefind-ui.js></script>"),
        **{page: make.page(page) for page in pages[:12]},
        **{page: make.page(page, head=manual_head) for page in pages[12:]},
        "/pagefind/pagefind-entry.json": entry,
        "/pagefind/pagefind.en_1.pf_meta": make.Answer(listing(*names), 200, None),
        **{
            f"/pagefind/fragment/{name}.pf_fragment": make.Answer(fragment(page, page), 200, None)
            for name, page in names.items()
        },
        "/search/search_index.json": index,
    }
    crawl("site", url=site.url)
    for n_refresh in range(3):
        site.asked.clear()
        crawled = crawl("site", url=site.url, refresh=1, max_pages=20)
        assert "/search/search_index.json" in site.asked
        n_asked = sum(each in pages[:12] for each in site.asked)
        assert n_asked == 12 + (n_refresh == 0)  # of one section a page is known
    assert crawled.rows("SELECT sum(named_same) FROM lastmods") == [0]


def test_fragments_of_another_index_that_cannot_be_read_now_are_kept() -> None:
    known = [f"http://a.example/{name}.pf_fragment" for name in ("a/1", "a/2", "b/1")]
    known += ["http://b.example/a/1.pf_fragment", "http://a.example/page"]
    said = Said(listed={known[1]})
    assert _lost_fragments(known, said) == [known[0], known[2]]
    said.unread = {"a.example"}
    assert _lost_fragments(known, said) == [known[0]]
    many = [f"http://a.example/c/{n}.pf_fragment" for n in range(MAX_PAGES)]
    assert len(_lost_fragments([*known, *many], said)) == MAX_PAGES + 2


def test_fragments_that_were_new_before_all_pages_were_visited_say_nothing(
    manual: Manual,
) -> None:
    manual.refresh("/docs/5/", max_seconds=20)
    assert manual.read == ["/docs/5/"]
    manual.refresh("/docs/6/", max_pages=0)
    manual.refresh("/docs/7/")
    assert len(manual.read) == 1  # to see that it can be done
    manual.refresh("/docs/8/")
    assert manual.read == ["/docs/8/"]
    manual.salted = {name: "2" for name in manual.texts if name != "/docs/8/"}
    for n_read in (1, 0):  # by a new version of the generator, say
        manual.refresh(max_pages=17)
        assert len(manual.read) == n_read
    assert manual.trust == (2, 0)


def test_fragments_tell_of_pages_below_the_folder_of_their_index(manual: Manual) -> None:
    manual.addresses["/docs/4/"] = "../"
    manual.refresh("/docs/4/")
    assert manual.read == ["/docs/4/"]
    assert {*manual.rows} == manual.texts.keys() - {"/"}
    assert f"text {manual.name_of('/docs/4/')}" not in manual.rows.values()


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
    manual.salted = {"/docs/5/": "2"}
    before = manual.trust
    manual.refresh(max_pages=14)
    assert manual.read == ["/docs/5/"]
    assert manual.trust == before


def test_fragments_that_fail_are_read_the_next_time(manual: Manual) -> None:
    manual.failing = {"/docs/3/": 503, "/docs/4/": 404}
    manual.refresh("/docs/3/", "/docs/4/", "/docs/5/")
    assert {*manual.read} == {"/docs/3/", "/docs/4/", "/docs/5/"}
    manual.failing = {}
    manual.refresh()
    assert manual.read == ["/docs/3/"]  # a page of which the other is, too, is not known


def test_fragments_that_do_not_arrive_leave_the_others_and_the_sitemap(
    manual: Manual, site: WebSite
) -> None:
    manual.hanging = "/docs/3/"
    python = with_constants({"spiders.site_hints._FRAGMENT_SECONDS": 0.5})
    manual.refresh("/docs/3/", "/docs/4/", python=python, max_pages=8)
    assert {*manual.read} == {"/docs/3/", "/docs/4/"}
    assert "/docs/4/" in manual.visited
    assert "/sitemap.xml" in site.asked
    assert len(manual.visited) == 7


def test_an_index_that_names_pages_that_have_not_changed_is_believed_less(manual: Manual) -> None:
    n_read = []
    for generator in range(6):
        manual.salted = {f"/docs/{n}/": str(generator) for n in range(4)}
        manual.refresh(max_pages=12)
        n_read.append(len(manual.read))
    assert n_read[0] == 4
    assert n_read[-1] <= 1


def test_fragments_of_an_index_that_was_moved_are_forgotten(manual: Manual) -> None:
    manual.folder = "/docs/_pagefind/"
    for n_read in (1, 0):
        manual.refresh()
        assert len(manual.read) == n_read
    assert manual.n_fragments == 13
    manual.refresh("/docs/8/")
    assert manual.read == ["/docs/8/"]


@pytest.mark.parametrize("status", [404, 500])
def test_an_index_that_is_not_there_leaves_the_sitemap(
    manual: Manual, site: WebSite, status: int
) -> None:
    def publish(date: str) -> None:
        dates = dict.fromkeys(manual.texts, "2026-01-01") | {"/docs/5/": date}
        entries = (f"<url><loc>{n}</loc><lastmod>{at}</lastmod></url>" for n, at in dates.items())
        site.routes["/sitemap.xml"] = f"<urlset>{''.join(entries)}</urlset>".encode()

    manual.refresh("/docs/7/")
    manual.failing = {"": status}
    publish("2026-01-01")
    manual.refresh(max_pages=2)
    publish("2026-01-02")
    manual.refresh("/docs/5/", max_pages=2)
    assert ("/docs/5/" in manual.visited) == (status == 404)
    manual.failing = {}
    manual.refresh("/docs/6/")
    assert {"/docs/6/"} <= {*manual.read} <= {"/docs/5/", "/docs/6/"}
    assert manual.trust[1] == 0


def test_fragments_that_are_forbidden_leave_the_sitemap(manual: Manual, site: WebSite) -> None:
    site.routes["/robots.txt"] = f"User-agent: *\nDisallow: {_FOLDER}fragment/".encode()
    manual.generator = "2"
    for date in ("2026-01-01", "2026-01-01", "2026-01-02"):
        dates = dict.fromkeys(manual.texts, "2026-01-01") | {"/docs/5/": date}
        entries = (f"<url><loc>{n}</loc><lastmod>{at}</lastmod></url>" for n, at in dates.items())
        site.routes["/sitemap.xml"] = f"<urlset>{''.join(entries)}</urlset>".encode()
        manual.refresh(*(["/docs/5/"] if date.endswith("2") else []), max_pages=2)
    assert manual.read == []
    assert "/docs/5/" in manual.visited


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
