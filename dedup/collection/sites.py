"""What the templates of a collection's hosts repeat, learned in a pass of its own.

Which pages are learned from depends on their URLs alone, not on the order of the collection.
"""

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from xxhash import xxh3_64_intdigest
from zstandard import ZstdCompressor, ZstdDecompressor

from dedup.collection.reading import Broken, Item, read_items
from dedup.html import bounded, parse_page
from dedup.html.unfolding import unfolded
from dedup.templates.learning import FEW_PAGES, PAGES, Sample, learn
from dedup.templates.outline import Outline, outline
from dedup.templates.site import MAX_TEMPLATES, Site
from dedup.urls.parts import host_of

SAMPLE_PAGES = 256
"""Pages of a host that its templates are learned from, at most."""

MAX_PAGES = 50_000
"""Pages of all hosts together, some 3 kB each; of collections with more hosts, fewer of each."""

_ROUND_PAGES = 64


def learn_sites(path: Path) -> dict[str, Site]:
    """Learn the templates of each host that has pages of a URL in a collection.

    Reads the whole file, and parses the pages of the sample: of each host those whose URLs have the
    lowest hashes, 256 at the most. The same pages in any order give the same templates.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ModuleNotFoundError: what reads its format is not installed.
    """
    samples = _HostSamples()
    for item in read_items(path):
        if not isinstance(item, Broken) and item.html is not None and item.url:
            samples.add(item)
    return {host: site for host, pages in samples if (site := _learn(pages)).templates}


class _Packed(NamedTuple):
    order: int  # minus the hash of the URL: a heap keeps the largest
    url: str
    title: str
    outline: bytes


class _HostSamples:
    """Of each host the pages whose URLs have the lowest hashes."""

    def __init__(self) -> None:
        self._hosts: dict[str, list[_Packed]] = {}
        self._at_most = SAMPLE_PAGES
        self._n_pages = 0
        self._pack = ZstdCompressor(level=3)
        self._unpack = ZstdDecompressor()

    def add(self, item: Item) -> None:
        url = item.url or ""
        order = -xxh3_64_intdigest(url.encode(errors="surrogatepass"))
        pages = self._hosts.setdefault(host_of(url), [])
        is_full = len(pages) >= self._at_most
        if (is_full and order <= pages[0].order) or any(page.order == order for page in pages):
            return
        page = self._packed(order, url, item)
        if page is None:
            return
        if is_full:
            heapq.heapreplace(pages, page)
        else:
            heapq.heappush(pages, page)
            self._n_pages += 1
        while self._n_pages > MAX_PAGES and self._at_most > PAGES:
            self._at_most = max(self._at_most // 2, PAGES)
            for others in self._hosts.values():
                while len(others) > self._at_most:
                    heapq.heappop(others)
                    self._n_pages -= 1

    def __iter__(self) -> Iterator[tuple[str, list[Sample]]]:
        for host in sorted(self._hosts):
            yield host, [self._unpacked(page) for page in sorted(self._hosts[host], reverse=True)]

    def _packed(self, order: int, url: str, item: Item) -> _Packed | None:
        html = bounded(item.html or "")
        body = None if html.is_flat else unfolded(html).body
        if body is None:
            return None
        title = item.title or parse_page(html, url).title
        found = outline(body).without_inner_boxes()
        text = found.to_json().encode("utf-8", "surrogatepass")
        return _Packed(order, url, title, self._pack.compress(text))

    def _unpacked(self, page: _Packed) -> Sample:
        text = self._unpack.decompress(page.outline).decode("utf-8", "surrogatepass")
        return Sample(page.title, Outline.from_json(text))


def _learn(samples: Iterable[Sample]) -> Site:
    """Learn in rounds: the pages that a round explains leave their places to others."""
    rest = [sample for sample in samples if sample.outline.lines]
    site = Site()
    for min_pages in (PAGES, FEW_PAGES):
        start = 0
        while len(rest) - start >= min_pages and len(site.templates) < MAX_TEMPLATES:
            found = learn(rest[start : start + _ROUND_PAGES], min_pages=min_pages)
            if not found:
                start += _ROUND_PAGES
                continue
            site = Site([*site.templates, *found])
            unread = [each for each in rest if site.read_outline(each.outline, each.title) is None]
            start = 0 if len(unread) < len(rest) else start + _ROUND_PAGES
            rest = unread
    return site
