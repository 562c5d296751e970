"""What has been learned of a site, in versions, and what a crawl begins with."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, get_frame_parameters

from dedup.sites.counts import Contribution, SiteCounts
from dedup.sites.lines import Keys, PageLines
from dedup.sites.site import Site, learn

logger = logging.getLogger(__name__)

_GROWTH = 2
_LAG = 16

_MAX_STATE_BYTES = 4_000_000

_FITS = 0.8
"""The share of the lines, and of the boxes, of a template that an earlier crawl must know: the
template has changed if it lacks more."""


@dataclass(frozen=True, slots=True)
class _Version:
    """The knowledge at some time: the counts, as they are stored, and the site made from them."""

    counts: SiteCounts
    site: Site


class SiteState:
    """What has been learned of a site.

    The first version is made from ten names, and another one each time the number of names has
    doubled; names that an earlier crawl has counted do not count here, so that a change of the
    template is soon noticed. A version is used from `_LAG` names after it was made, so that pages
    being read at that moment need not be read again.

    Args:
        counts: the counts of its pages.
        used: the counts of the version in use; None: nothing is known yet.
        following: the counts of the next version, which is used from `next_from` names on.
        version: the number of the version in use.
        n_earlier: the names that an earlier crawl has counted.
    """

    def __init__(
        self,
        counts: SiteCounts | None = None,
        used: SiteCounts | None = None,
        following: SiteCounts | None = None,
        next_from: int = 0,
        version: int = 0,
        n_earlier: int = 0,
    ) -> None:
        self.counts = counts or SiteCounts()
        self._used = _version(used, version) if used else None
        self._next = _version(following, version + 1) if following else None
        self._next_from = next_from
        self._n_earlier = n_earlier

    @property
    def site(self) -> Site:
        """The version in use."""
        return self._used.site if self._used else Site()

    def site_for(self, ahead: int) -> Site:
        """The version that a page is read with if `ahead` other pages arrive before it."""
        if self._next and self.counts.n_names + ahead >= self._next_from:
            return self._next.site
        return self.site

    def begin(self, counts: SiteCounts) -> None:
        """Use the first version."""
        self.counts = counts
        self._used = _version(counts, 1)

    def go_on(self, counts: SiteCounts, earlier: SiteState) -> None:
        """Use the versions of an earlier crawl; `counts`: its counts and those of first pages."""
        self.counts, self._n_earlier = counts, earlier.counts.n_names
        self._used, self._next = earlier._used, earlier._next
        self._next_from = earlier._next_from

    def add(self, page: Contribution) -> bool:
        """Count a page; return True if the next version is used from now on."""
        if self._used is None or not self.counts.add(page):
            return False
        n_names = self.counts.n_names
        if self._next is None:
            n_own, n_used = n_names - self._n_earlier, self._used.counts.n_names - self._n_earlier
            if n_own >= max(1, _GROWTH * n_used):
                self._next = _version(self.counts, self.site.version + 1)
                self._next_from = n_names + _LAG
            return False
        if n_names < self._next_from:
            return False
        self._used, self._next = self._next, None
        return True

    def to_bytes(self) -> bytes:
        """Return the state as it is stored."""
        versions = [each.counts.to_bytes() if each else b"" for each in (self._used, self._next)]
        parts = [self.counts.to_bytes(), *versions]
        numbers = [self.site.version, self._next_from, *map(len, parts)]
        if self._n_earlier:
            numbers.append(self._n_earlier)
        head = json.dumps(numbers).encode()
        return ZstdCompressor(level=1).compress(b"".join((head, b"\n", *parts)))

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteState:
        """Return the state that `to_bytes` has written.

        Raises:
            ValueError: the bytes are in another format, or damaged.
        """
        try:
            if get_frame_parameters(data).content_size > _MAX_STATE_BYTES:  # so is one not told
                raise ValueError(f"more than {_MAX_STATE_BYTES:,} bytes")
            raw = ZstdDecompressor().decompress(data)
            head, _, rest = raw.partition(b"\n")
            version, next_from, *numbers = map(int, json.loads(head))
        except (ZstdError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"what was learned of a site is damaged: {error}") from error
        found: list[SiteCounts | None] = []
        lengths, n_earlier = numbers[:3], sum(numbers[3:])
        for length in lengths:
            found.append(SiteCounts.from_bytes(rest[:length]) if length else None)
            rest = rest[length:]
        counts, used, following = (*found, None, None, None)[:3]
        return cls(counts or SiteCounts(), used, following, next_from, version, n_earlier)


def read_state(host: str, data: bytes | None) -> SiteState:
    """The stored state of a host; a damaged one is logged, and counts as none."""
    try:
        return SiteState() if data is None else SiteState.from_bytes(data)
    except ValueError as error:
        logger.warning("%s: %s; it is learned again", host, error)
        return SiteState()


def _version(counts: SiteCounts, version: int) -> _Version:
    """Make a version, without the lines that only one page has: they carry no information."""
    found = deepcopy(counts)
    kept = found.line_counts > 1
    found.lines, found.line_counts = found.lines[kept], found.line_counts[kept]
    found.line_seen = found.line_seen[kept] * 0
    return _Version(found, Site(found, version=version))


def first_state(
    pages: Sequence[tuple[PageLines, str, str]], earlier: Iterable[SiteState] = ()
) -> SiteState:
    """What is known of a site after its first pages, given each one's lines, title and URL.

    It goes on from what an earlier crawl has learned, if the pages have the template of that time;
    of several, from the one that has counted most names.
    """
    state = SiteState()
    for known in sorted(earlier, key=lambda each: each.counts.n_names, reverse=True):
        if known.site and _fits([lines for lines, _, _ in pages], known.counts):
            state.go_on(learn(pages, known.counts), known)
            return state
    state.begin(learn(pages))
    return state


def _fits(pages: Sequence[PageLines], counts: SiteCounts) -> bool:
    """Were nearly all lines and boxes that half of these pages have repeated at that time, too?"""
    return _is_known(
        [page.distinct_keys() for page in pages], counts.lines[counts.line_counts > 1]
    ) and _is_known([page.kinds_found[0] for page in pages], counts.kinds[counts.kind_counts > 1])


def _is_known(of_pages: Sequence[Keys], known: Keys) -> bool:
    keys, n_pages = np.unique(np.concatenate(of_pages), return_counts=True)
    common = keys[2 * n_pages >= len(of_pages)]
    return bool(np.isin(common, known).sum() >= _FITS * len(common))
