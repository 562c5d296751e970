"""The knowledge of a site at some time, and how its pages are read with it."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from itertools import compress
from math import log

import numpy as np
from xxhash import xxh32_intdigest

from dedup.document import TextSource
from dedup.names import is_in_title, name_of, own_title, split_title, url_file_name
from dedup.sites.counts import Contribution, SiteCounts, contribution, mean_figures, title_parts
from dedup.sites.lines import Keys, Numbers, PageLines, outer_kinds
from dedup.sites.outline import Line, Outline
from dedup.sites.own_text import Knowledge, Mask, Measured
from dedup.sites.second_look import Rest, rest_of

NAMES = 10
"""Pages with this number of different names are enough to learn what a site repeats."""

FEW_NAMES = 4
"""This number is enough if no more pages will arrive."""

SETTLED_NAMES = 128
"""From this number on texts hardly change any more; earlier pages are read one last time."""

_COMMON = 0.5
"""A line on the pages of half of all names has a rarity of 0."""

_MANY_COMMON_LINES = 20
_COMPANY = 0.2
"""A page with a smaller share of a site's many common lines does not belong to their template: its
common lines may be its own, repeated by somebody else."""

_SMALL = 4
_TITLE_PART = 0.6
_MANY_NAMES = 10
_RARE_SHARE = 200
_RARE_AT_LEAST = 2
_HEADING_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says, and how that is known.

    Attributes:
        text: one line for each line of the page's own; a heading outside of them comes first.
        heading: the page's own heading; "" if it has none.
        title: the page's title without the site's part, as far as that is known.
        source: see `Document.source`.
        site_version: of what was known of the site; 0: nothing was.
        rest: what is rare on the page, for the second look; None: its lines are not known.
        contribution: what the page adds to what is known of its site.
        outline: to learn from, and to read the page again when more is known; None: not needed.
    """

    text: str
    heading: str
    title: str
    source: TextSource
    site_version: int = 0
    rest: Rest | None = None
    contribution: Contribution | None = None
    outline: Outline | None = None


class Site:
    """What is known of a site; it does not change.

    Args:
        counts: the counts of its pages; later changes to them have no effect.
        version: its number; 0: nothing is known.
    """

    def __init__(self, counts: SiteCounts | None = None, *, version: int = 0) -> None:
        counts = counts or SiteCounts()
        self.version = version if counts.n_names else 0
        self.n_names = counts.n_names
        is_repeated = counts.line_counts > 1
        self._names = counts.names
        self._lines, self._counts = counts.lines[is_repeated], counts.line_counts[is_repeated]
        is_common = (self._counts >= _COMMON * self.n_names) & ((self._lines & 1) == 0)
        self._n_common = int(is_common.sum())
        self._kinds, self._kind_counts = counts.kinds, counts.kind_counts.astype(np.float64)
        self._kind_means = mean_figures(counts.kind_counts, counts.kind_sums)
        self._parts = frozenset(
            part for part, count in counts.parts.items() if count >= _TITLE_PART * counts.n_names
        )
        self._no_names = frozenset(
            part for part, count in counts.parts.items() if count >= _MANY_NAMES
        )

    @property
    def is_settled(self) -> bool:
        """Is enough known, so that texts hardly change any more?"""
        return self.n_names >= SETTLED_NAMES

    def __bool__(self) -> bool:
        return self.version > 0

    def own_title(self, title: str) -> str:
        """The title without the site's part; "" if many pages share all parts of the rest."""
        own = own_title(title, self._parts)
        return "" if all(part in self._no_names for part in split_title(own)) else own

    def read(self, page: Outline, title: str, url: str) -> PageText | None:
        """Read a page's own text; None: nothing is known, or the page has no text."""
        if not self or not page.lines:
            return None
        return self._read(PageLines(page), name_key(page, title, url), title, is_new=True)

    def read_again(self, page: PageLines, name: int, title: str) -> PageText | None:
        """The same of a page that was read before, without its contribution.

        `name`: see `name_key`.
        """
        if not self or not page.lines:
            return None
        return self._read(page, name, title, is_new=False)

    def _read(self, lines: PageLines, name: int, title: str, *, is_new: bool) -> PageText:
        known = self.known_of(lines, name)
        measured = Measured(lines, known)
        return PageText(
            *self._text(lines, measured.own().is_own, known.counts, title),
            source="box",
            site_version=self.version,
            rest=rest_of(lines, known.counts <= self.rare_limit),
            contribution=contribution(lines, name, title, measured) if is_new else None,
        )

    def known_of(self, page: PageLines, name: int | None) -> Knowledge:
        """What is known of a page's lines and boxes, with the page itself counted.

        `name`: the page's, see `name_key`; None: its name has been counted.
        """
        is_new = name is not None and not bool((self._names == name).any())
        counts = np.maximum(self.line_counts(page.keys) + is_new, 1)
        return Knowledge(
            n_names=self.n_names,
            counts=counts,
            rarity=self._rarity(page.keys, counts, max(2, self.n_names + is_new)),
            n_pages=_looked_up(self._kinds, self._kind_counts, page.kinds),
            means=_looked_up(self._kinds, self._kind_means, page.kinds),
        )

    @property
    def rare_limit(self) -> int:
        """The maximum of names whose pages have a rare line."""
        return max(_RARE_AT_LEAST, self.n_names // _RARE_SHARE)

    def is_rare(self, keys: Keys) -> Mask:
        """Select the lines that hardly any page has."""
        return self.line_counts(keys) <= self.rare_limit

    def line_counts(self, keys: Keys) -> Numbers:
        """The number of names whose pages have each line; 0 for a line of fewer than two names."""
        return _looked_up(self._lines, self._counts, keys)

    def _rarity(self, keys: Keys, counts: Numbers, n_names: int) -> Numbers:
        if n_names <= _SMALL:
            return (counts < 2).astype(np.float64)
        found: Numbers = np.maximum(0, 1 - np.log(counts) / log(_COMMON * n_names))
        if self._n_common >= _MANY_COMMON_LINES:
            is_common = (counts >= _COMMON * n_names) & ((keys & 1) == 0)
            if len(np.unique(keys[is_common])) < _COMPANY * self._n_common:
                found[is_common] = 1.0
        return found

    def _text(
        self, page: PageLines, is_own: Mask, counts: Numbers, title: str
    ) -> tuple[str, str, str]:
        """The text, the heading and the title of a page."""
        is_heading = counts < max(_RARE_AT_LEAST, _HEADING_SHARE * self.n_names)
        headings = [place for place in page.headings if is_heading[place]]
        heading = _h1((page.lines[place] for place in headings if is_own[place]), title)
        beside = None if heading else _h1((page.lines[place] for place in headings), title)
        if not (heading or beside):
            # "Part 1" and "Part 2" count as the same line, but are two names.
            own = [page.lines[place] for place in page.headings if is_own[place]]
            numbered = [line for line in own if any(map(str.isdigit, line.text))]
            mine = compress(page.lines, is_own.tolist())
            heading = _h1(numbered, title) or next(
                (line.text for line in mine if line.block == "h2"), ""
            )
        text = page.text_of(is_own)
        if beside:
            text = f"{beside}\n{text}"
        return text, heading or beside or "", self.own_title(title)


def learn(
    pages: Iterable[tuple[Outline | PageLines, str, str]], known: SiteCounts | None = None
) -> SiteCounts:
    """Count the first pages of a site, given the outline, title and URL of each.

    All lines are counted before the boxes are measured; without that every line would be rare.
    `known`: the counts of other pages, which are counted on and not changed.
    """
    counts = deepcopy(known) if known else SiteCounts()
    new = []
    for page, title, url in pages:
        lines = _lines_of(page)
        name = name_key(lines.outline, title, url)
        if counts.add_lines(name, lines.distinct_keys(), title_parts(title)):
            new.append((lines, name, title))
    site = Site(counts, version=1)
    for lines, name, title in new:
        measured = Measured(lines, site.known_of(lines, None))
        first = contribution(lines, name, title, measured)
        counts.add_kinds(first.kinds, first.figures)
    return counts


def _lines_of(page: Outline | PageLines) -> PageLines:
    return page if isinstance(page, PageLines) else PageLines(page)


def rest_by_itself(page: Outline) -> Rest:
    """The rare shingles of a page if nothing is known of its site: all of them."""
    lines = PageLines(page)
    return rest_of(lines, np.ones(len(lines), np.bool_))


def name_key(page: Outline, title: str, url: str) -> int:
    """Return a hash of a page's own name: copies of a page share it, other pages do not.

    The name consists of the title and first heading, without versions; the name of the file, as
    all pages of some sites have the same title and heading; and the outer boxes, as versions of a
    manual share all names, but differ in design and furniture.
    """
    parts = (name_of(title, first_heading(page)), url_file_name(url), *outer_kinds(page))
    return xxh32_intdigest("\n".join(parts).encode(errors="replace"))


def first_heading(page: Outline) -> str:
    """The first `<h1>`, or else the first `<h2>`; "" if there is neither."""
    for block in ("h1", "h2"):
        for line in page.lines:
            if line.block == block:
                return line.text
    return ""


def _h1(lines: Iterable[Line], title: str) -> str | None:
    """The first heading; of several, the first one that is also in the title."""
    headings = [line.text for line in lines if line.block == "h1"]
    if len(headings) < 2:
        return headings[0] if headings else None
    return next((heading for heading in headings if is_in_title(heading, title)), headings[0])


def _looked_up(ascending: Keys, values: Keys | Numbers, keys: Keys) -> Numbers:
    """The values, or rows, of some keys; 0 for a missing key."""
    if not len(ascending):
        return np.zeros((len(keys), *values.shape[1:]))
    at = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    found = values[at].astype(np.float64)
    found[ascending[at] != keys] = 0.0
    return found
