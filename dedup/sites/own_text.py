"""Selects the lines of a page that are its own, with what is known of its site.

1. *Beside*: a box is beside the content if almost none of its words outside links are rare, on this
   page and on others with a box of its kind, while the rest of the page has enough rare words.
   Links to other sites do not count as links here: they are references.
2. *Core*: of the rest, the box that has the page's rare words and little else, together with the
   box that has them on other pages.
3. The text is the whole core, without those boxes beside the content that recur with it. Contents
   lists, indexes and summaries, which few pages of a template have, are content, and so is text
   that no other page has. A box with the same words on nearly all pages is left out.

A page is judged by its own figures and by the mean of at most three other pages with a box of the
same kind, so that neither one page nor ten decide for all others.

Source: Gibson, Punera, Tomkins, The volume and evolution of web page templates, WWW 2005 (counting
lines over a host's pages); Yi, Liu, Li, Eliminating noisy information in web pages, KDD 2003 (a box
is judged by the boxes of the same place on other pages).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.sites.lines import Numbers, PageLines

Mask = NDArray[np.bool_]

N_FIGURES = 4
"""The figures of a box: the share of its words that are rare and outside links; the number of such
words elsewhere on the page; its share of the page's rare words; the mean rarity of its words."""

_MIN_WORDS = 7
_BESIDE = 0.15
_ENOUGH = 50
_ENOUGH_FOR_LINKS = 40
_AT_MOST = 200
"""The maximum of rare words elsewhere that count, so that one long page does not decide."""
_OTHERS = 3
_RECALL_WEIGHT = 4
_HALF = 0.5
_RECURS = 0.5
_COMMON = 0.3
_NEARLY_ALL = 0.8
_AT_LEAST_PAGES = 10
_NEARLY_ALL_WORDS = 0.95
_MIN_FURNITURE_WORDS = 12
_MAX_PROSE_WORDS = 100


class Knowledge(NamedTuple):
    """What is known of the lines and boxes of a page.

    Attributes:
        n_names: how many pages of the site were counted.
        counts: on how many pages each line stands.
        rarity: of each line: 1 if no other page has it, 0 if half of the pages have it.
        n_pages: of each box: how many pages have a box of its kind.
        means: of each box: the means of the figures of its kind.
    """

    n_names: int
    counts: Numbers
    rarity: Numbers
    n_pages: Numbers
    means: Numbers


class OwnLines(NamedTuple):
    """The lines of a page that are its own.

    Attributes:
        is_own: for each line, whether it is the page's own.
        core: which of the page's boxes has them.
        left_out: the boxes in the core that are left out.
    """

    is_own: Mask
    core: int
    left_out: list[int]


class Measured:
    """The figures of a page, given what is known of its site."""

    def __init__(self, page: PageLines, known: Knowledge) -> None:
        self._page, self._known = page, known
        self._rarity, self._n_pages, self._means = known.rarity, known.n_pages, known.means
        plain = (page.sizes - page.linked + page.outward) * self._rarity
        self._words = page.sums(page.sizes)
        kinds, places, times = page.kinds_found
        self._is_only_one = times[places] == 1
        # The columns of a table are content, or they are not, together.
        self._plain = np.bincount(places, page.sums(plain), len(kinds))[places]
        words = np.bincount(places, self._words, len(kinds))[places]
        self._total_plain = float(plain.sum())
        self._bare = self._plain / np.maximum(words, 1)
        self._elsewhere = np.minimum(self._total_plain - self._plain, _AT_MOST)
        self._beside = self._find_beside()

    def figures(self) -> Numbers:
        """The figures of the page's boxes, to be learned: `N_FIGURES` for each box."""
        return np.column_stack((self._bare, self._elsewhere, *self._of_rest))

    def own(self) -> OwnLines:
        """Select the lines that are the page's own."""
        page = self._page
        core = self._find_core()
        first, end = int(page.first[core]), int(page.end[core])
        is_own = np.zeros(len(page), np.bool_)
        is_own[first:end] = True
        furniture = [
            *(box for box in self._beside if self._recurs(box, core)),
            *self._same_on_all(core),
        ]
        for box in furniture:
            is_own[page.first[box] : page.end[box]] = False
        return OwnLines(is_own, core, sorted(set(furniture)))

    @cached_property
    def _of_rest(self) -> tuple[Numbers, Numbers]:
        """For each box, its share of the page's rare words, and the mean rarity of its words.

        Boxes beside the content do not count. Of equal lines on the page only one counts,
        preferably one outside links.
        """
        page = self._page
        is_out = np.zeros(len(page), np.bool_)
        for box in self._beside:
            is_out[page.first[box] : page.end[box]] = True
        order = np.lexsort((page.keys & 1, is_out, page.keys >> 1))
        is_repeated = np.zeros(len(page), np.bool_)
        ordered = page.keys[order] >> 1
        is_repeated[order[1:]] = ordered[1:] == ordered[:-1]
        sizes = np.where(is_out | is_repeated, 0.0, page.sizes)
        rare = sizes * self._rarity
        in_boxes, total = page.sums(rare), float(rare.sum())
        return in_boxes / (total or 1), in_boxes / np.maximum(page.sums(sizes), 1)

    def _with_others(self, column: int, own: Numbers) -> Numbers:
        """A figure of this page, averaged with at most three other pages."""
        weight = np.minimum(self._n_pages, _OTHERS)
        found: Numbers = (own + weight * self._means[:, column]) / (1 + weight)
        return found

    def _find_beside(self) -> list[int]:
        page = self._page
        self._linked = linked = page.sums(page.linked)
        enough = np.where(2 * linked > self._words, _ENOUGH_FOR_LINKS, _ENOUGH)
        is_beside = (
            (self._words >= _MIN_WORDS)
            & (self._n_pages >= 2)
            & (self._with_others(0, self._bare) < _BESIDE)
            & (self._with_others(1, self._elsewhere) >= enough)
            # This page's own figures count, whatever others have posted on other pages:
            & (self._bare < 2 * _BESIDE)
            & (self._plain <= _HALF * self._total_plain)
        )
        is_beside[0] = False
        return self._outermost(np.flatnonzero(is_beside).tolist())

    def _outermost(self, boxes: list[int]) -> list[int]:
        found, end = [], 0
        for box in boxes:
            if self._page.first[box] >= end:
                found.append(box)
                end = int(self._page.end[box])
        return found

    def _find_core(self) -> int:
        """The box with the best F-score, weighted towards recall; of equal boxes the innermost.

        It has half of the page's rare words. If other pages have most of their rare words in
        another box next to this one, somebody else may have repeated this page's words: the text is
        then the innermost box that contains both.
        """
        share, mean = self._of_rest
        recall, precision = self._with_others(2, share), self._with_others(3, mean)
        denominator = _RECALL_WEIGHT * precision + recall
        score = (1 + _RECALL_WEIGHT) * precision * recall / np.where(denominator, denominator, 1)
        core = _best(np.where(share < _HALF, -1, score))
        first, end = self._page.first, self._page.end
        is_usual = (self._n_pages >= _OTHERS) & (self._means[:, 2] >= _HALF) & self._is_only_one
        is_usual &= (end <= first[core]) | (first >= end[core])
        if not is_usual.any():
            return core
        both = [core, _best(np.where(is_usual, score, -1))]
        return int(np.flatnonzero((first <= min(first[both])) & (end >= max(end[both])))[-1])

    def _is_inside(self, box: int, core: int) -> bool:
        page = self._page
        return bool(
            page.first[core] <= page.first[box]
            and page.end[box] <= page.end[core]
            and page.end[box] - page.first[box] < page.end[core] - page.first[core]
        )

    def _recurs(self, box: int, core: int) -> bool:
        """Does a box beside the content recur as furniture, unlike lists on a few pages?"""
        if not self._is_inside(box, core):
            return False
        if 2 * self._linked[box] < self._words[box] > _MAX_PROSE_WORDS:
            return False
        lines = slice(self._page.first[box], self._page.end[box])
        sizes = self._page.sizes[lines]
        rarity = float(sizes @ self._rarity[lines]) / max(1.0, float(sizes.sum()))
        return bool(self._n_pages[box] >= _RECURS * self._n_pages[core]) or rarity < _COMMON

    def _same_on_all(self, core: int) -> list[int]:
        """The boxes in the core with the same words on nearly all pages that have this core."""
        page, n_core = self._page, float(self._n_pages[core])
        if n_core < max(_AT_LEAST_PAGES, _HALF * self._known.n_names):
            return []
        counts = self._known.counts
        is_same = (counts >= _NEARLY_ALL * n_core) & (counts * _NEARLY_ALL <= n_core)
        same = page.sums(np.where(is_same, page.sizes, 0.0))
        is_furniture = (
            self._is_only_one  # the entries of a list are alike, and content
            & (self._n_pages >= _NEARLY_ALL * n_core)
            & (self._words >= _MIN_FURNITURE_WORDS)
            & ((self._words <= _MAX_PROSE_WORDS) | (2 * self._linked >= self._words))
            & (same >= _NEARLY_ALL_WORDS * self._words)
        )
        inside = [
            box for box in np.flatnonzero(is_furniture).tolist() if self._is_inside(box, core)
        ]
        return self._outermost(inside)


def _best(score: Numbers) -> int:
    """The last box with the best score; 0, the whole page, if no score is above 0."""
    best = np.flatnonzero(score >= score.max())
    return int(best[-1]) if score.max() > 0 else 0
