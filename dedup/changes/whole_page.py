"""What a whole page says, menus aside: facts beside its text change while that stays the same.

The text that is learned leaves out boxes of which most pages say the same but for numbers and a few
values: price, place, whether it is in stock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from dedup.changes.navigation import without_menus
from dedup.sites.lines import PageLines, box_kinds
from dedup.sites.own_text import Mask
from dedup.sites.site import Site
from dedup.sites.stored import outline_of
from dedup.store.records import Page

Places = NDArray[np.int64]

_MAX_BYTES = 500_000
"""Larger pages are not parsed for this, as it happens in the crawl's own process, too."""

_MANY = 5
"""A line that so many pages have is a place of its own, whatever its numbers are."""

_DIFFERING, _KEPT = 5, 20
"""Of a place that rotates: pages on which it differed, so that it counts as one, and so that pages
that differ in nothing else are not even kept up to the end of the visit."""

_MAX_PLACES = 100_000


def whole_page(page: Page) -> PageLines | None:
    """The lines of a page but for what leads elsewhere; None: its body cannot be read."""
    outline = None if len(page.body or b"") > _MAX_BYTES else outline_of(page)
    return None if outline is None else PageLines(without_menus(outline, page.title))


class Rotating:
    """Counts on how many visited pages of a host each place has other words than before.

    A place is a line without its numbers, if many pages have it, or else the boxes of one kind.
    What is another in most words, on most of the pages that have the place, rotates:
    advertisements, how long the server took, what others look at.

    Args:
        known: what `to_json` gave of another one; these places rotate, whatever is counted.
    """

    def __init__(self, known: str | None = None) -> None:
        self._known = _read(known)
        self._n_visited: Counter[str] = Counter()
        self._found: defaultdict[str, dict[int, tuple[int, float]]] = defaultdict(dict)
        """By host and place: the number of pages that differ, and the share of pages with it."""
        self._n_places = 0

    def note_visits(self, host: str, n_pages: int = 1) -> None:
        """Count pages of a host that were visited, and may be compared."""
        self._n_visited[host] += n_pages

    def differs(self, host: str, site: Site, then: PageLines, now: PageLines) -> bool:
        """Count how a page differs: does it in more than what is known to rotate?"""
        n_words, n_other = Counter[int](), Counter[int]()
        shares: dict[int, float] = {}
        for page, is_other in zip((then, now), _differing(then, now), strict=True):
            places, share = _places(page, site)
            shares.update(zip(places.tolist(), share.tolist(), strict=True))
            for place, size, other in zip(places.tolist(), page.sizes, is_other, strict=True):
                n_words[place] += size
                n_other[place] += size * other
        for place, n in n_other.items():
            if 2 * n > n_words[place]:
                self._note(host, place, shares[place])
        return any(n and not self._rotates(host, place, _KEPT) for place, n in n_other.items())

    def are_own(self, host: str, site: Site, page: PageLines) -> Mask:
        """Which lines of a page do not rotate?"""
        out = self._places_of(host)
        if not out:
            return np.ones(len(page), np.bool_)
        return ~np.isin(_places(page, site)[0], out)

    def to_json(self) -> str:
        """The places that rotate, by host."""
        places = {host: self._places_of(host) for host in self._found}
        return json.dumps({host: found for host, found in places.items() if found})

    def _places_of(self, host: str) -> list[int]:
        found = self._known.get(host, [])
        return [*found, *(each for each in self._found.get(host, ()) if self._rotates(host, each))]

    def _note(self, host: str, place: int, share: float) -> None:
        n_pages, known = self._found[host].get(place, (0, 0.0))
        self._n_places += not n_pages
        if n_pages or self._n_places <= _MAX_PLACES:
            self._found[host][place] = n_pages + 1, max(share, known)

    def _rotates(self, host: str, place: int, at_least: int = _DIFFERING) -> bool:
        n_pages, share = self._found[host].get(place, (0, 0.0))
        return n_pages >= at_least and 2 * n_pages > share * self._n_visited[host]


def _read(known: str | None) -> dict[str, list[int]]:
    """What `Rotating.to_json` gave; nothing if it is damaged."""
    try:
        found = json.loads(known or "{}")
        return {host: np.array(places, np.int64).ravel().tolist() for host, places in found.items()}
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):
        return {}


def _differing(then: PageLines, now: PageLines) -> tuple[Mask, Mask]:
    """Which lines of each version does the other one not have as often?"""
    both = [[line.text for line in page.lines] for page in (then, now)]
    n_then, n_now = map(Counter, both)
    other = {text for text in n_then.keys() | n_now.keys() if n_then[text] != n_now[text]}
    first, second = (np.array([text in other for text in each], np.bool_) for each in both)
    return first, second


def _places(page: PageLines, site: Site) -> tuple[Places, NDArray[np.float64]]:
    """The place of each line, and on which share of the site's pages it is at most.

    Small boxes are not counted; the share of the next one around them is.
    """
    known = site.known_of(page, None)
    n_pages = np.zeros(len(page))
    for first, end, n in zip(page.first, page.end, known.n_pages, strict=True):
        n_pages[first:end] = n
    kinds = box_kinds(page.outline.boxes)
    of_lines = np.array([kinds[line.box] for line in page.lines], np.int64)
    are_many = known.counts >= _MANY
    places = np.where(are_many, page.keys.astype(np.int64) | (1 << 32), of_lines)
    shares = np.where(are_many, known.counts, n_pages) / max(1, known.n_names)
    return places, shares
