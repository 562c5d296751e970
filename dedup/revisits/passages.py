"""Pages that have likely changed, as others have lost a passage that they share.

A passage that leaves one page often leaves others: versions and languages of a manual, lists and
what they quote, pages that repeat a note. So a page is *named* if four of its shingles or more have
left other pages of its host since its last visit, each of them for the first time. What a page
kept when others lost it for the first time says nothing of it later, as a list's excerpt of an
article that moves from one page of the list to the next; nor does what many pages have. How far
this is believed is learned for each host from the visits that are known (`Trust`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from dedup.revisits.clock import Floats, Numbers
from dedup.revisits.hints import Trust, odds_of
from dedup.text.passages import joined_by_kind
from dedup.urls.parts import host_of

Shingles = NDArray[np.uint64]

_LEAST_SHINGLES = 4

_MANY = 0.03
"""What so large a share of a host's pages have, or had, beside the one that lost it, and two at
least, is furniture, or a phrase."""

_MAX_SHINGLES = 1 << 22
"""Of more, a sample is looked at that is the same of all texts. They take 12 bytes each, and 40
while they are sorted."""

_TEXTS_AT_ONCE = 1_000


class PageText(NamedTuple):
    """A text that a page has, or had.

    Attributes:
        url: of the page.
        since: when it was fetched.
        until: when the next one was; infinite: it is the last.
        text: or the text's shingles, see `shingles_of`.
    """

    url: str
    since: float
    until: float
    text: str | Shingles


def shingles_of(texts: Sequence[str | Shingles]) -> list[Shingles]:
    """The shingles of each text, ascending, without repeats; of some they may be known."""
    found = [each if isinstance(each, np.ndarray) else np.empty(0, np.uint64) for each in texts]
    unknown = [place for place, each in enumerate(texts) if isinstance(each, str)]
    for places, joined in joined_by_kind([str(texts[place]) for place in unknown]):
        for place, shingles in zip(places, joined.sets(), strict=True):
            found[unknown[place]] = shingles
    return found


class SharedPassages:
    """Which pages have the passages that others have lost, and how often such pages had changed.

    Args:
        texts: of the pages; those of one page stand together, in the order of time.
    """

    def __init__(self, texts: Iterable[PageText] = ()) -> None:
        self._pages: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._step = 1
        self._visits: list[tuple[int, float, bool]] = []
        self._lost: list[tuple[Shingles, Floats]] = []
        rows: list[tuple[int, float, float]] = []
        parts: list[Shingles] = []
        size = 0
        left = iter(texts)
        while some := list(islice(left, _TEXTS_AT_ONCE)):
            for each, shingles in zip(some, shingles_of([t.text for t in some]), strict=True):
                page = self._pages.setdefault(each.url, len(self._pages))
                rows.append((page, each.since, each.until))
                parts.append(self._sampled(each.url, shingles))
                size += len(parts[-1])
            while size > _MAX_SHINGLES:
                self._step *= 2
                parts = [part[part % np.uint64(self._step) == 0] for part in parts]
                size = sum(map(len, parts))
        pages, self._since, self._until = np.array(rows, np.float64).reshape(-1, 3).T
        self._page_of = pages.astype(np.int64)
        self._row_of = dict(zip(self._page_of.tolist(), range(len(rows)), strict=True))  # the last
        for row in np.flatnonzero(self._page_of[:-1] == self._page_of[1:]).tolist():
            self._lose(parts[row], parts[row + 1], self._until[row])
        hashes = np.concatenate([np.empty(0, np.uint64), *parts])
        rows_of = np.repeat(np.arange(len(parts), dtype=np.int32), list(map(len, parts)))
        order = np.argsort(hashes, kind="stable")  # so that those of one page stand together
        self._hashes, self._rows = hashes[order], rows_of[order]
        hosts = (self._hosts.setdefault(host_of(url), len(self._hosts)) for url in self._pages)
        self._host = np.fromiter(hosts, np.int64, len(self._pages))

    def _sampled(self, url: str, shingles: Shingles) -> Shingles:
        """Those in the sample, with other numbers on each host."""
        numbers = shingles ^ np.uint64(xxh3_64_intdigest(host_of(url).encode()))
        found: Shingles = numbers[numbers % np.uint64(self._step) == 0]
        return found

    def _lose(self, then: Shingles, now: Shingles, at: float) -> None:
        lost = np.setdiff1d(then, now, assume_unique=True)
        self._lost.append((lost, np.full(len(lost), at)))

    def visited(self, url: str, at: float, *, has_changed: bool) -> None:
        """Take the answer to a visit, at a time."""
        if url in self._pages:
            self._visits.append((self._pages[url], at, has_changed))

    def replaced(self, url: str, at: float, then: str | Shingles, now: str | Shingles) -> None:
        """Take a new text of a page, which was visited at a time: what it was then and is now."""
        if url in self._pages:
            self._until[self._row_of[self._pages[url]]] = at
            before, after = (self._sampled(url, each) for each in shingles_of([then, now]))
            self._lose(before, after, at)

    def odds(self, urls: Iterable[str]) -> dict[str, float]:
        """The factors by which changes of these pages are more likely, or less."""
        number, at, changed = np.array(self._visits, np.float64).reshape(-1, 3).T
        page, has_changed = number.astype(np.int64), changed > 0
        before, waiting = self._counts(page, at)
        kind = 2 * ~has_changed + ~self._are_named(before)
        found = np.bincount(4 * self._host[page] + kind, minlength=4 * len(self._hosts))
        rows = found.astype(np.float64).reshape(-1, 4).tolist()
        trust = {host: Trust(*row) for host, row in zip(self._hosts, rows, strict=True)}
        is_named = self._are_named(waiting).tolist()
        left = {url: is_named[self._pages[url]] for url in urls if url in self._pages}
        return odds_of(left, trust)

    def _are_named(self, counts: Numbers) -> NDArray[np.bool_]:
        return counts * self._step >= _LEAST_SHINGLES

    def _counts(self, page: Numbers, at: Floats) -> tuple[Numbers, Numbers]:
        """How many shingles others lost before each visit since the one before; and since all.

        Returns:
            A number for each visit; a number for each page.
        """
        losers, lost_at = self._held()
        pages, times = np.concatenate([losers, page]), np.concatenate([lost_at, at])
        is_visit = np.arange(len(pages)) >= len(losers)
        order = np.lexsort((is_visit, times, pages))
        visits = order[is_visit[order]]
        following = np.cumsum(is_visit[order])[~is_visit[order]]
        losses = order[~is_visit[order]]
        pages_after = np.append(pages[visits], -1)[following]
        is_before = pages_after == pages[losses]
        counts = np.bincount(visits[following[is_before]] - len(losers), minlength=len(page))
        return counts, np.bincount(pages[losses[~is_before]], minlength=len(self._pages))

    def _held(self) -> tuple[Numbers, Floats]:
        """The pages that had a shingle when another page lost it first, and when: one a shingle."""
        hashes, lost_at = self._first_losses()
        start = np.searchsorted(self._hashes, hashes)
        count = np.searchsorted(self._hashes, hashes, side="right") - start
        shingle = np.repeat(np.arange(len(hashes)), count)
        place = np.arange(len(shingle)) - np.repeat(count.cumsum() - count - start, count)
        row, at = self._rows[place], lost_at[shingle]
        page = self._page_of[row]
        is_other = np.ones(len(page), np.bool_)
        is_other[1:] = (shingle[1:] != shingle[:-1]) | (page[1:] != page[:-1])
        having = np.bincount(shingle[is_other], minlength=len(hashes))
        most = np.maximum(_MANY * np.bincount(self._host), 2)[self._host[page]]
        found = (having[shingle] - 1 <= most) & (self._since[row] < at) & (at < self._until[row])
        return page[found], at[found]

    def _first_losses(self) -> tuple[Shingles, Floats]:
        none = np.empty(0, np.uint64), np.empty(0)
        hashes, at = (np.concatenate(each) for each in zip(none, *self._lost, strict=True))
        order = np.lexsort((at, hashes))
        hashes, at = hashes[order], at[order]
        is_first = np.ones(len(hashes), np.bool_)
        np.not_equal(hashes[1:], hashes[:-1], out=is_first[1:])
        self._lost = [(hashes[is_first], at[is_first])]
        return self._lost[0]
