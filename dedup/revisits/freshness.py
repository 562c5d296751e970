"""How fresh the stored pages are, as estimated from rates and as measured by visits.

A page is fresh while it is what its site shows. Estimated: the mean, over pages, of the chance that
a page has not changed since its last visit. Measured: the share of time in which pages were fresh,
in the intervals that visits ended. Pages are visited the more often the more they change, so a
plain share of the visits that found no change would be too low under one schedule and too high
under another; each visit therefore counts by the time since the visit before, and these intervals
follow each other without a gap, whoever chose the visits. When a page changed within an interval is
not known: it was fresh for the mean time up to the first change, by the page's rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.rates import Floats, Rates, estimate


class Interval(NamedTuple):
    """What lies between two visits of a page; `is_changed`: the second found a change."""

    url: str
    seconds: float
    is_changed: bool


class Freshness(NamedTuple):
    """How fresh stored pages are.

    Attributes:
        estimated: the share of pages that are probably what their site shows; None: no page.
        measured: the share of time in which pages were; None: no visit tells.
        visits: those that `measured` counts.
        age_seconds: the mean time since pages were visited.
    """

    estimated: float | None
    measured: float | None
    visits: int
    age_seconds: float


def freshness(pages: Iterable[PageHistory], visits: Iterable[Interval], now: float) -> Freshness:
    """How fresh the pages are that are stored; duplicates do not count."""
    known = [page for page in pages if not page.is_duplicate]
    if not known:
        return Freshness(None, None, 0, 0.0)
    histories = Histories.of(known)
    rates = estimate(histories)
    since = np.maximum(now - histories.asked_at, 0)
    n_visits, measured = _measured(known, rates, visits)
    return Freshness(float(unchanged(rates, since).mean()), measured, n_visits, float(since.mean()))


def unchanged(rates: Rates, since: Floats) -> Floats:
    """The chance that each page has not changed for so many seconds."""
    chance: Floats = np.exp(-rates.shape * np.log1p(since / rates.seconds))
    return chance


def _measured(
    pages: Sequence[PageHistory], rates: Rates, visits: Iterable[Interval]
) -> tuple[int, float | None]:
    number = {page.url: each for each, page in enumerate(pages)}
    found = [
        (number[url], seconds, is_changed) for url, seconds, is_changed in visits if url in number
    ]
    page, seconds, is_changed = np.array(found, dtype=np.float64).reshape(-1, 3).T
    whole = seconds.sum()
    if not whole:
        return len(found), None
    changes = (rates.shape / rates.seconds)[page.astype(np.int64)] * seconds
    share = np.where(is_changed > 0, _before_first_change(changes), 1.0)
    return len(found), float((seconds * share).sum() / whole)


def _before_first_change(changes: Floats) -> Floats:
    """The mean share of an interval before its first change, if it has one, by changes in it."""
    many = np.maximum(changes, 1e-4)  # below, the difference of two large numbers
    share: Floats = np.where(changes < 1e-4, 0.5, 1 / many - 1 / np.expm1(np.minimum(many, 700.0)))
    return share
