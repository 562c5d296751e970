"""How fast time goes by for a page: pages that have something in common change together.

A page changes at its rate, times the activity of its groups since the refresh before: an author
rewrites a chapter, or a page in all its versions and languages, and leaves the others alone. Visits
of some pages thus tell of the others: of those that the same refresh has not visited yet, and of
those whose last visit lies before. The activity has the mean 1 (a gamma distribution); it and the
changes that a visit stands for are found by turns (expectation and maximisation), as the rates are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

_EXPECTED_CHANGES = 0.2
"""What an activity of 1 weighs. Smaller values have few changes found tell more of a group."""

_ROUNDS = 4

_LEAST = 1e-12


class Visit(NamedTuple):
    """An answer to a visit.

    Attributes:
        page: its place among the pages.
        before: the number of the refresh that had the answer before; 0: the first crawl.
        refresh: the number of the refresh.
        has_changed: is the page another than at the answer before?
    """

    page: int
    before: int
    refresh: int
    has_changed: bool


def elapsed(
    visits: Sequence[Visit],
    groupings: Numbers,
    rates: Floats,
    seconds: Floats,
    since: Numbers,
) -> Floats:
    """The seconds from a refresh until now, as they go by for each page.

    Args:
        visits: of pages; those of this refresh have its number, that of `seconds` plus one.
        groupings: the number of each page's group; a row for each kind of groups.
        rates: of each page, in changes a second.
        seconds: what lies between each refresh and the one before.
        since: the refresh of each page.
    """
    page, before, refresh, has_changed = np.array(visits, dtype=np.int64).reshape(-1, 4).T
    visit, at = _spans(before, refresh)
    active = [np.ones((int(group.max(initial=0)) + 1) * len(seconds)) for group in groupings]
    cells = [group[page[visit]] * len(seconds) + at for group in groupings]
    changes = rates[page[visit]] * seconds[at]
    for _ in range(_ROUNDS):
        expected = _times(changes, active, cells)
        in_visit = np.bincount(visit, expected, len(page))
        many = np.where(has_changed, 1 / np.maximum(-np.expm1(-in_visit), _LEAST), 0)
        found = expected * many[visit]
        for each, cell in zip(active, cells, strict=True):
            usual = np.bincount(cell, _times(changes, active, cells) / each[cell], len(each))
            each[:] = _EXPECTED_CHANGES + np.bincount(cell, found, len(each))
            each /= _EXPECTED_CHANGES + usual
    page, at = _spans(since, np.full(len(since), len(seconds)))
    cells = [group[page] * len(seconds) + at for group in groupings]
    return np.bincount(page, _times(seconds[at], active, cells), len(since)).astype(np.float64)


def _times(values: Floats, active: Sequence[Floats], cells: Sequence[Numbers]) -> Floats:
    for each, cell in zip(active, cells, strict=True):
        values = values * each[cell]
    return values


def _spans(first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
    """The whole numbers from `first` up to `last`, of all pairs: the pair's place, the number."""
    length = np.maximum(last - first, 0)
    place = np.repeat(np.arange(len(first)), length)
    return place, np.arange(len(place)) - (length.cumsum() - length - first)[place]
