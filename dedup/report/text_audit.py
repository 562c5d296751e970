"""Are the stored texts complete? The audit does not depend on how they were extracted.

It counts which lines are rare on each large host, from a sample of stored bodies. For each page of
the sample, it measures the share of the page's rare words that the stored text has. Words in links
do not count: side bars with titles of other pages are also rare, but belong to no text.

Pages with few rare words are left out, because a date or a price would decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlsplit

import numpy as np

from dedup.report.sample import Sample, SampledPage
from dedup.sites.lines import Numbers, Words, words_of
from dedup.sites.site import NAMES, Site, learn, name_key
from dedup.text.codepoints import hash_windows

MIN_WORDS = 20
"""Pages with fewer rare words are left out."""

SMALL = 0.5
"""A text with a smaller share of its page's rare words is suspiciously small."""

MAX_SMALL = 0.05
"""The share of a host's texts that may be small, such as contents lists or catalogue pages."""

MIN_SMALL = 3
MIN_PART = 5
"""Pages that a part of a host must have in the sample to be reported."""

MIN_MEDIAN = 0.6
"""The minimum for a host, and for each of its parts."""

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class TextShare:
    """A page of the sample.

    Attributes:
        share: the share of the page's rare words that its stored text has, 0 to 1.
        rare_words: the number of rare words of the page, weighted by rarity.
        characters: the length of the stored text.
    """

    url: str
    share: float
    rare_words: int
    characters: int


@dataclass(frozen=True, slots=True)
class Part:
    """Pages with similar URL paths, and the median of their shares."""

    pattern: str
    pages: int
    median: float


@dataclass(frozen=True, slots=True)
class HostAudit:
    """The result for a host.

    Attributes:
        sampled: the number of pages in the sample.
        measured: the number of these with enough rare words.
        median: the median of their shares; None: there are none.
        small: the number of texts with less than half of their page's rare words.
        worst: the part of the host with the lowest median; None: no part has five pages.
        examples: the pages with the smallest shares.
    """

    host: str
    sampled: int
    measured: int
    median: float | None
    small: int
    worst: Part | None
    examples: tuple[TextShare, ...]

    @property
    def is_suspicious(self) -> bool:
        """Are texts of this host too small for their pages?"""
        if self.median is None:
            return False
        if self.worst is not None and self.worst.median < MIN_MEDIAN:
            return True
        is_many = self.small >= max(MIN_SMALL, MAX_SMALL * self.measured)
        return self.median < MIN_MEDIAN or is_many


def audit(sample: Sample) -> list[HostAudit]:
    """Measure the texts of each host that has at least ten pages with different names."""
    found = (_audited(host, list(sample.pages(host))) for host in sample.hosts)
    return [each for each in found if each is not None]


def _audited(host: str, pages: Sequence[SampledPage]) -> HostAudit | None:
    counts = learn((each.lines, each.page.title, each.page.url or "") for each in pages)
    if counts.n_names < NAMES:
        return None
    site = Site(counts, version=1)
    shares = [each for each in (_share(site, page) for page in pages) if each is not None]
    shares.sort(key=lambda each: (each.share, each.url))
    return HostAudit(
        host=host,
        sampled=len(pages),
        measured=len(shares),
        median=median(each.share for each in shares) if shares else None,
        small=sum(each.share < SMALL for each in shares),
        worst=_worst(shares),
        examples=tuple(shares[:_EXAMPLES]),
    )


def _share(site: Site, sampled: SampledPage) -> TextShare | None:
    page, lines = sampled.page, sampled.lines
    rarity = site.known_of(lines, name_key(sampled.outline, page.title, page.url or "")).rarity
    weights = (lines.sizes - lines.linked) * rarity
    total = float(weights.sum())
    if total < MIN_WORDS:
        return None
    share = float(weights @ shares_in(lines.words, page.text)) / total
    return TextShare(page.url or f"#{page.id}", share, round(total), len(page.text))


def shares_in(lines: Words, text: str) -> Numbers:
    """For each line, the share of its three-word shingles that a text has, 0 to 1.

    Line breaks of the text do not matter. A line of one or two words is a single shingle.
    """
    sizes, said = lines.counts, words_of([" ".join(text.split())]).hashes
    found, line_of = np.zeros(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    for width in (1, 2, 3):
        if min(len(lines.hashes), len(said)) < width:
            continue
        windows = hash_windows(lines.hashes, width)
        owners = line_of[: len(windows)]
        is_whole = np.arange(len(windows)) + width <= lines.first[1:][owners]
        is_whole &= (sizes[owners] == width) | (width == 3)
        owners, windows = owners[is_whole], windows[is_whole]
        is_said = np.isin(windows, hash_windows(said, width))
        counts = np.bincount(owners, minlength=len(sizes))
        there = np.bincount(owners, weights=is_said, minlength=len(sizes))
        found += there / np.maximum(counts, 1)
    return found


def _worst(shares: Sequence[TextShare]) -> Part | None:
    """The part with the lowest median."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for each in shares:
        parts[_part(each.url)].append(each.share)
    found = [
        Part(pattern, len(each), median(each))
        for pattern, each in parts.items()
        if len(each) >= MIN_PART
    ]
    return min(found, key=lambda part: (part.median, part.pattern), default=None)


def _part(url: str) -> str:
    """The part of a host that a URL belongs to: its first folder, and its depth.

    >>> _part("https://site.example/product/bag-2/index.htm")
    '/product/*/*'
    """
    try:
        folders = urlsplit(url).path.split("/")[1:]
    except ValueError:
        folders = []
    if len(folders) < 2:
        return "/*"
    return "/".join(("", folders[0], *("*" for _ in folders[1:])))
