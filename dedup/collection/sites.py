"""What the templates of a collection's hosts repeat, learned in a pass of its own.

Which pages are learned from depends on their URLs alone, not on the order of the collection.
"""

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from xxhash import xxh3_64_intdigest
from zstandard import ZstdCompressor, ZstdDecompressor

from dedup.collection.columns import Columns, Fields, fields_of
from dedup.collection.rows import Broken, Row, WebPage
from dedup.html import bounded, decode, parse_page
from dedup.html.unfolding import unfolded
from dedup.templates.grouping import FEW_PAGES, PAGES
from dedup.templates.learning import learn
from dedup.templates.measuring import Sample
from dedup.templates.outline import Outline, outline
from dedup.templates.site import MAX_TEMPLATES, Site
from dedup.urls.parts import host_of

SAMPLE_PAGES = 256
"""Pages of a host that its templates are learned from, at most."""

MAX_PAGES = 50_000
"""Pages of all hosts together, some 3 kB each; of collections with more hosts, fewer of each."""

_ROUND_PAGES = 64


def learn_sites(rows: Iterable[Row | Broken], columns: Columns | None = None) -> dict[str, Site]:
    """Learn the templates of each host that has pages of a URL in a collection.

    Reads all rows, and parses the pages of the sample: of each host those whose URLs have the
    lowest hashes, 256 at the most. The same pages in any order give the same templates.
    """
    columns = columns or Columns()
    samples = _HostSamples()
    for row in rows:
        if not isinstance(row, Broken) and (page := _markup(row, columns)) is not None:
            samples.add(page)
    return {host: site for host, pages in samples if (site := _learn(pages)).templates}


def _markup(row: Row, columns: Columns) -> Fields | None:
    """What a row with a page of markup says; None: there is nothing to learn from it."""
    given = row.given()
    if isinstance(given, WebPage):
        if not given.url or given.content_type.lower().lstrip().startswith("text/plain"):
            return None
        text = decode(given.body, given.content_type).text
        return Fields(given.id, given.url, "", None, text)
    if isinstance(given, bytes):
        if json.dumps(columns.html).encode() not in given:  # a look at the bytes, not a parse
            return None
        try:
            given = json.loads(given.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return None
    try:
        fields = fields_of(given, columns) if isinstance(given, Mapping) else None
    except ValueError:
        return None
    return fields if fields is not None and fields.html is not None and fields.url else None


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

    def add(self, page: Fields) -> None:
        url = page.url or ""
        order = -xxh3_64_intdigest(url.encode(errors="surrogatepass"))
        pages = self._hosts.setdefault(host_of(url), [])
        is_full = len(pages) >= self._at_most
        if (is_full and order <= pages[0].order) or any(each.order == order for each in pages):
            return
        packed = self._packed(order, url, page)
        if packed is None:
            return
        if is_full:
            heapq.heapreplace(pages, packed)
        else:
            heapq.heappush(pages, packed)
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

    def _packed(self, order: int, url: str, page: Fields) -> _Packed | None:
        html = bounded(page.html or "")
        body = None if html.is_flat else unfolded(html).body
        if body is None:
            return None
        title = page.title or parse_page(html, url).title
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
