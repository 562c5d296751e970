"""What the pages of a collection's hosts repeat, learned in a separate pass.

Which pages are learned from depends on their URLs alone, not on the order of the collection.
"""

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest
from zstandard import ZstdCompressor, ZstdDecompressor

from dedup.collection.columns import Columns, Fields, fields_of
from dedup.collection.documents import fields_of_page, object_of
from dedup.collection.reading import has_any
from dedup.collection.rows import Broken, Row, WebPage
from dedup.collection.sources import Source
from dedup.detectors.second_check import RareOn
from dedup.sites.counts import SiteCounts
from dedup.sites.outline import Outline
from dedup.sites.second_look import IsRare
from dedup.sites.site import FEW_NAMES, NAMES, Site, learn
from dedup.urls.parts import host_of

SAMPLE_PAGES = 256
"""Pages of a host that are learned from, at most: those of the lowest `url_order`."""

MAX_PAGES = 50_000
"""Pages of all hosts together, some 3 kB each; of collections with more hosts, fewer of each."""


def learn_sites(rows: Iterable[Row | Broken], columns: Columns | None = None) -> dict[str, Site]:
    """Learn what the pages of each host repeat, of those in a collection that have URLs.

    Reads all rows, and parses the pages of the sample: of each host those whose URLs have the
    lowest hashes, 256 at the most. The same pages in any order give the same answer.
    """
    columns = columns or Columns()
    samples = _HostSamples()
    for row in rows:
        if not isinstance(row, Broken) and (page := _markup(row, columns)) is not None:
            samples.add(page)
    return {host: site for host, pages in samples if (site := site_of(learn_counts(pages)))}


def with_markup(sources: Iterable[Source], columns: Columns) -> list[Source]:
    """The files in which pages of markup may be: by a look at the bytes of those that are JSON.

    Raises:
        OSError: a file cannot be read, is damaged, or cut off.
    """
    names = _quoted(columns.html)
    return [source for source in sources if has_any(source, columns, names)]


def rare_lines(*known: Callable[[str], Site | None]) -> RareOn:
    """Make the test for lines that are rare on a host: in every collection that knows the host.

    Args:
        known: give, for each collection, what it knows of a host.
    """

    def rare_on(host: str) -> IsRare | None:
        return _rare_in_all([site.is_rare for find in known if (site := find(host))])

    return rare_on


def _rare_in_all(tests: Sequence[IsRare]) -> IsRare | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda keys: np.logical_and.reduce([is_rare(keys) for is_rare in tests])


def url_order(url: str) -> int:
    """A hash of 64 bits, by which the pages of a host are chosen."""
    return xxh3_64_intdigest(url.encode(errors="surrogatepass"))


def pages_of_each_host(pages_with_at_most: Callable[[int], int]) -> int:
    """The maximum number of pages learned from per host that keeps the total small enough.

    Args:
        pages_with_at_most: the number of pages of all hosts for a maximum per host.
    """
    at_most = SAMPLE_PAGES
    while at_most > NAMES and pages_with_at_most(at_most) > MAX_PAGES:
        at_most = max(at_most // 2, NAMES)
    return at_most


def _markup(row: Row, columns: Columns) -> Fields | None:
    """What a row with a page of markup says; None: there is nothing to learn from it."""
    given = row.given()
    if isinstance(given, bytes) and not any(name in given for name in _quoted(columns.html)):
        return None  # by a look at the bytes, without parsing them
    try:
        if isinstance(given, WebPage):
            return fields_of_page(given) if given.url and not given.is_plain else None
        fields = fields_of(object_of(given), columns)
    except (ValueError, RecursionError):
        return None
    return fields if fields.html is not None and fields.url else None


@cache
def _quoted(name: str) -> tuple[bytes, ...]:
    """What a row has that has the column, or the field that it is a path to."""
    return tuple(json.dumps(each).encode() for each in {name, name.rpartition(".")[2]})


Sample = tuple[Outline, str, str]
"""A page to learn from: its outline, its title and its URL."""


class PackedSample(NamedTuple):
    """A page to learn from, its outline compressed."""

    title: str
    url: str
    outline: bytes

    def unpack(self) -> Sample:
        text = ZstdDecompressor().decompress(self.outline).decode("utf-8", "surrogatepass")
        return Outline.from_json(text), self.title, self.url


def pack_sample(html: str, url: str, title: str) -> PackedSample | None:
    """Take the outline of a page; None: it has none."""
    from dedup.html import bounded, parse_page  # for collections of texts, no parser is loaded
    from dedup.html.unfolding import page_outline

    markup = bounded(html)
    found = page_outline(markup, url)
    if found is None:
        return None
    title = title or parse_page(markup, url).title
    text = found.to_json().encode("utf-8", "surrogatepass")
    return PackedSample(title, url, ZstdCompressor(level=3).compress(text))


class _Chosen(NamedTuple):
    order: int  # minus the hash of the URL: a heap keeps the largest
    sample: PackedSample | None


class _HostSamples:
    """Of each host the pages whose URLs have the lowest hashes, of each URL the first."""

    def __init__(self) -> None:
        self._hosts: dict[str, list[_Chosen]] = {}
        self._at_most = SAMPLE_PAGES
        self._n_pages = 0

    def add(self, page: Fields) -> None:
        url = page.url or ""
        order = -url_order(url)
        pages = self._hosts.setdefault(host_of(url), [])
        is_full = len(pages) >= self._at_most
        if (is_full and order <= pages[0].order) or any(each.order == order for each in pages):
            return
        chosen = _Chosen(order, pack_sample(page.html or "", url, page.title))
        if is_full:
            heapq.heapreplace(pages, chosen)
            return
        heapq.heappush(pages, chosen)
        self._n_pages += 1
        if self._n_pages > MAX_PAGES and self._at_most > NAMES:
            self._take_fewer()

    def _take_fewer(self) -> None:
        self._at_most = pages_of_each_host(self._count)
        for pages in self._hosts.values():
            while len(pages) > self._at_most:
                heapq.heappop(pages)
        self._n_pages = self._count(self._at_most)

    def _count(self, at_most: int) -> int:
        return sum(min(len(pages), at_most) for pages in self._hosts.values())

    def __iter__(self) -> Iterator[tuple[str, list[Sample]]]:
        for host in sorted(self._hosts):
            pages = sorted(self._hosts[host], key=lambda page: page.order, reverse=True)
            yield host, [page.sample.unpack() for page in pages if page.sample is not None]


def learn_counts(samples: Iterable[Sample]) -> SiteCounts:
    """Learn from pages of a host in the order of their URLs' hashes."""
    return learn(each for each in samples if each[0].lines)


def site_of(counts: SiteCounts) -> Site:
    """What is known of a host by that; of too few names, nothing."""
    return Site(counts, version=1) if counts.n_names >= FEW_NAMES else Site()
