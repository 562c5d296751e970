"""What a whole page says, menus aside: facts beside its text change while that stays the same.

The text that is learned leaves out boxes of which most pages say the same but for numbers and a few
values: price, place, whether it is in stock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from itertools import compress, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.changes.dates import without_ages, without_counts
from dedup.changes.lines import MAX_NUMBERED, line_key, passages
from dedup.changes.navigation import own_lines, without_menus, words_in
from dedup.sites.lines import PageLines, box_kinds
from dedup.sites.outline import Line, Outline, text_of
from dedup.sites.own_text import Mask
from dedup.sites.site import Site
from dedup.sites.stored import outline_of
from dedup.store.records import Page

Places = NDArray[np.int64]

_MAX_BYTES = 500_000
"""Larger pages are not compared, as that happens in the crawl's own process, too."""

_MANY = 5
"""A line that so many pages have is a place of its own, whatever its numbers are."""

_DIFFERING, _KEPT = 5, 20
"""Of a place that rotates: pages on which it differed, so that it counts as one, and so that pages
that differ in nothing else get the new body, and no version up to the end of the visit."""

_LEAST_SHARE = 0.25
"""Of the pages of a host: what differs on fewer may be lists that all got an entry."""

_NO_KEY = -1
_BESIDE_COUNTS = 1 << 61
"""Tells the place of what differs beside a counter from that of the counter's line."""

_MAX_PLACES = 100_000
_LINES_A_PAGE = 1_000


def whole_pages(then: Page, now: Page) -> tuple[PageLines, PageLines] | None:
    """Both versions of a page without menus, see `both_whole`; None: a body cannot be read."""
    old, new = map(small_outline, (then, now))
    if old is None or new is None:
        return None
    return both_whole((old, then.title), (new, now.title))


def both_whole(then: tuple[Outline, str], now: tuple[Outline, str]) -> tuple[PageLines, PageLines]:
    """Both versions of a page, given with their titles, but for menus and sidebars.

    Nor do they have lines whose words both have as often, but one of them in a menu.
    """
    kept = [without_menus(outline, title) for outline, title in (then, now)]
    n_then, n_now = map(_line_counts, (then[0], now[0]))
    n_old, n_new = map(_line_counts, kept)
    moved = {
        words
        for words in n_old.keys() | n_new.keys()
        if n_old[words] != n_new[words] and n_then[words] == n_now[words]
    }
    old, new = (
        PageLines(
            Outline(each.boxes, [line for line in each.lines if words_in(line.text) not in moved])
        )
        for each in kept
    )
    return old, new


def text_with_labels(page: PageLines, chosen: Mask) -> str:
    """The text of some lines, those of a `<dl>` as rows: each name with what it says of it."""
    lines: list[Line] = []
    for line in compress(page.lines, chosen.tolist()):
        if line.block == "dd" and lines and lines[-1][::3] == (line.box, "dt"):
            line = line._replace(text=f"{lines.pop().text}\t{line.text}")
        lines.append(line)
    return text_of(page.outline.boxes, lines)


def _line_counts(page: Outline) -> Counter[str]:
    return Counter(words_in(line.text) for line in page.lines)


def small_outline(page: Page) -> Outline | None:
    """The lines of a body; None: it was not kept, is too large, or has none."""
    return None if len(page.body or b"") > _MAX_BYTES else outline_of(page)


class Bodies:
    """What differs in the bodies of the changed pages of hosts.

    Attributes:
        rotating: which places do on most pages.

    Args:
        rotating: what `Rotating.to_json` gave.
    """

    def __init__(self, rotating: str | None = None) -> None:
        self.rotating = Rotating(rotating)
        self._n_pages: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._n_keys = 0

    def add(self, host: str, site: Site, then: Page, now: Page) -> None:
        """Count a page, menus included; what rotates, without lists of links."""
        old, new = map(small_outline, (then, now))
        if old is None or new is None:
            return
        both = PageLines(own_lines(old, then.title)), PageLines(own_lines(new, now.title))
        self.rotating.differing(host, site, *both)
        found = self._n_pages[host]
        lines = (
            line.text
            for page, is_other in zip((old, new), _differing(old, new), strict=True)
            for line in compress(page.lines, is_other)
        )
        for key in set(map(line_key, islice(lines, _LINES_A_PAGE))):
            self._n_keys += key not in found
            if key in found or self._n_keys <= _MAX_PLACES:
                found[key] += 1

    def are_on(self, host: str, n_pages: int, lines: Iterable[str]) -> list[bool]:
        """Which lines, or all of their cells, came or went on so many pages?"""
        found = self._n_pages[host]
        return [
            all(found[line_key(cell)] >= n_pages for cell in line.split("\t")) for line in lines
        ]


class Rotation(NamedTuple):
    """A place that rotates.

    Attributes:
        refresh: the number of the first one in a row in which it did.
        n_pages: on so many it differed then, or on more.
        came, went: a line that came to one of them, and one that went, shortened.
    """

    refresh: int
    n_pages: int
    came: str
    went: str


class Rotating:
    """Counts on how many visited pages of a host each place has other words than before.

    A place is the boxes of one kind, or, if many pages have a line, that line in them as long as
    its numbers alone differ. What is another in most words, on most of the pages that may have the
    place, rotates: advertisements, how long the server took, what others look at. Pages that differ
    in most words, such as lists that got an entry at their top, say nothing of that.

    Args:
        known: what `to_json` gave of another one; these places rotate, whatever is counted.

    Attributes:
        known: the same, by host and place.
    """

    def __init__(self, known: str | None = None) -> None:
        self.known = _read(known)
        self._n_visited: Counter[str] = Counter()
        self._examples: dict[tuple[str, int], list[str]] = {}
        """A line that went, and one that came, of places that may rotate."""
        self._found: defaultdict[str, dict[int, tuple[int, float]]] = defaultdict(dict)
        """By host and place: the number of pages that differ, and the share of pages with it."""
        self._n_places = 0
        self._last: dict[str, list[int]] = {}
        """The places of a host that rotate, as long as nothing is counted."""

    def note_visits(self, host: str, n_pages: int = 1) -> None:
        """Count pages of a host that were visited, and may be compared."""
        self._n_visited[host] += n_pages
        self._last.pop(host, None)

    def differing(self, host: str, site: Site, then: PageLines, now: PageLines) -> list[int]:
        """The places in which a page differs; they are counted."""
        n_words, n_other = Counter[int](), Counter[int]()
        shares: dict[int, float] = {}
        examples: defaultdict[int, list[str]] = defaultdict(lambda: ["", ""])
        are_other = _differing(then, now)
        beside = beside_counts(then, now)
        both = [_Places.of(page, site) for page in (then, now)]
        old, new = (each.keys[other] for each, other in zip(both, are_other, strict=True))
        same = np.intersect1d(old, new)
        for side, (page, found) in enumerate(zip((then, now), both, strict=True)):
            places, share = found.with_keys(same[same != _NO_KEY])
            places = np.where(_are_in(page, beside), places ^ _BESIDE_COUNTS, places)
            shares.update(zip(places.tolist(), share.tolist(), strict=True))
            rows = zip(page.lines, places.tolist(), page.sizes, are_other[side], strict=True)
            for line, place, size, other in rows:
                n_words[place] += size
                n_other[place] += size * other
                if other and not examples[place][side]:
                    examples[place][side] = line.text
        is_rewritten = 2 * n_other.total() > n_words.total()
        differing = [place for place, n in n_other.items() if n]
        for place in differing:
            if is_rewritten or 2 * n_other[place] <= n_words[place]:
                continue
            if self._note(host, place, shares[place]) == _DIFFERING:
                self._examples[host, place] = examples[place]
        return differing

    def rotate(self, host: str, places: Iterable[int]) -> bool:
        """Are all of these places known well enough to rotate, in this visit?"""
        return all(self._rotates(host, place, _KEPT) for place in places)

    def are_own(self, host: str, site: Site, beside: Collection[str], page: PageLines) -> Mask:
        """Which lines of a page do not rotate? `beside`: see `beside_counts`."""
        out = self._places_of(host)
        if not out:
            return np.ones(len(page), np.bool_)
        found = _Places.of(page, site)
        flags = np.where(_are_in(page, beside), _BESIDE_COUNTS, 0)
        return ~(np.isin(found.kinds ^ flags, out) | np.isin(found.keys ^ flags, out))

    def to_json(self, refresh: int, before: Rotating) -> str:
        """The places that rotate in a refresh, with what was known of them before it."""
        rows: dict[str, list[tuple[object, ...]]] = {}
        for host in self._found:
            known, places = before.known.get(host, {}), self._places_of(host)
            found = (known.get(each) or self._rotation(host, each, refresh) for each in places)
            rows[host] = [(place, *each) for place, each in zip(places, found, strict=True)]
        return json.dumps({host: found for host, found in rows.items() if found})

    def _rotation(self, host: str, place: int, refresh: int) -> Rotation:
        went, came = passages(lines := self._examples[host, place], lines)
        return Rotation(refresh, self._found[host][place][0], came, went)

    def _places_of(self, host: str) -> list[int]:
        if host not in self._last:
            found = (each for each in self._found.get(host, ()) if self._rotates(host, each))
            self._last = {host: [*self.known.get(host, {}), *found]}
        return self._last[host]

    def _note(self, host: str, place: int, share: float) -> int:
        self._last.pop(host, None)
        n_pages, known = self._found[host].get(place, (0, 0.0))
        self._n_places += not n_pages
        if n_pages or self._n_places <= _MAX_PLACES:
            self._found[host][place] = n_pages + 1, max(share, known)
        return n_pages + 1

    def _rotates(self, host: str, place: int, at_least: int = _DIFFERING) -> bool:
        n_pages, share = self._found[host].get(place, (0, 0.0))
        least = max(share / 2, _LEAST_SHARE) * self._n_visited[host]
        return n_pages >= at_least and n_pages > least


def _read(known: str | None) -> dict[str, dict[int, Rotation]]:
    """What `Rotating.to_json` gave; nothing if it is damaged."""
    try:
        return {
            host: {
                int(np.int64(place)): Rotation(int(refresh), int(n_pages), str(came), str(went))
                for place, refresh, n_pages, came, went in rows
            }
            for host, rows in json.loads(known or "{}").items()
        }
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):
        return {}


def _differing(then: Outline | PageLines, now: Outline | PageLines) -> tuple[Mask, Mask]:
    """Which lines of each version does the other one not have as often?"""
    both = [[without_ages(line.text.lower()) for line in page.lines] for page in (then, now)]
    n_then, n_now = map(Counter, both)
    other = {text for text in n_then.keys() | n_now.keys() if n_then[text] != n_now[text]}
    first, second = (np.array([text in other for text in each], np.bool_) for each in both)
    return first, second


def beside_counts(then: Outline | PageLines, now: Outline | PageLines) -> frozenset[str]:
    """The lines with counters of two versions in which something else differs, too."""
    rests: list[dict[str, str]] = []
    n_rests: list[Counter[str]] = []
    for page, are_other in zip((then, now), _differing(then, now), strict=True):
        lines = [line.text for line in compress(page.lines, are_other)]
        lines = [line for line in lines if len(line) <= MAX_NUMBERED]
        rests.append({line: without_counts(without_ages(line.lower())) for line in lines})
        n_rests.append(Counter(rests[-1][line] for line in lines))
    n_then, n_now = n_rests
    return frozenset(
        line
        for each in rests
        for line, rest in each.items()
        if n_then[rest] != n_now[rest] and rest != without_ages(line.lower())
    )


def _are_in(page: PageLines, texts: Collection[str]) -> Mask:
    return np.array([line.text in texts for line in page.lines], np.bool_)


class _Places(NamedTuple):
    """Where the lines of a page are.

    Attributes:
        kinds: of the innermost box around each line.
        keys: of each line that many pages have, in boxes of its kind; `_NO_KEY`: few have it.
        shares, key_shares: on which share of the site's pages these are, at most: small boxes are
            not counted, and new ones not yet, but those around them are.
    """

    kinds: Places
    keys: Places
    shares: NDArray[np.float64]
    key_shares: NDArray[np.float64]

    @classmethod
    def of(cls, page: PageLines, site: Site) -> _Places:
        known = site.known_of(page, None)
        n_names = max(1, known.n_names)
        n_pages = np.full(len(page), n_names, np.float64)
        for first, end, n in zip(page.first, page.end, known.n_pages, strict=True):
            n_pages[first:end] = n or n_pages[first:end]
        kinds = box_kinds(page.outline.boxes)
        of_lines = np.array([kinds[line.box] for line in page.lines], np.int64)
        in_boxes = (page.keys.astype(np.int64) << 30) ^ of_lines | (1 << 62)
        keys = np.where(known.counts >= _MANY, in_boxes, _NO_KEY)
        shares = n_pages / n_names
        return cls(of_lines, keys, shares, np.minimum(shares, known.counts / n_names))

    def with_keys(self, keys: Places) -> tuple[Places, NDArray[np.float64]]:
        """The place of each line, and its share; those with such a key are of their own."""
        is_key = np.isin(self.keys, keys)
        places = np.where(is_key, self.keys, self.kinds)
        return places, np.where(is_key, self.key_shares, self.shares)
