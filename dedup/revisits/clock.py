"""How fast time goes by in each folder: pages of a folder change together.

A page changes at its rate, times the activity of its folder since the refresh before: an author
rewrites a chapter, and leaves the others alone. Visits of some pages thus tell of the others: of
those that the same refresh has not visited yet, and of those whose last visit lies before. The
activity has the mean 1 (a gamma distribution); it and the changes that a visit stands for are found
by turns (expectation and maximisation), as the rates are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_EXPECTED_CHANGES = 0.1
"""What an activity of 1 weighs. Smaller values have few changes found tell more of a folder."""

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


def activity(
    visits: Sequence[Visit],
    folder: NDArray[np.int64],
    section: NDArray[np.int64],
    rates: Floats,
    seconds: Floats,
) -> Floats:
    """The activity of each folder (rows) before each refresh (columns).

    It is that of the folder's section, times its own.

    Args:
        visits: of pages; those of this refresh have its number, that of the last column plus one.
        folder: of each page.
        section: of each folder.
        rates: of each page, in changes a second.
        seconds: what lies between each refresh and the one before.
    """
    own = np.ones((len(section), len(seconds)))
    if not visits or not len(seconds):
        return own
    page, before, refresh, has_changed = np.array(visits, dtype=np.int64).T
    at, rate = folder[page], rates[page]
    expected = _in_spans(at, before, refresh, rate, own.shape) * seconds
    shared = np.ones((int(section.max()) + 1, len(seconds)))
    for _ in range(_ROUNDS):
        found = shared[section] * own
        clock = elapsed(found, seconds)
        changes = rate * (clock[at, refresh] - clock[at, before])
        weight = np.where(has_changed, rate / np.maximum(-np.expm1(-changes), _LEAST), 0)
        here = _in_spans(at, before, refresh, weight, own.shape) * found * seconds
        shared = _ratio(_summed(here, section), _summed(expected * own, section))
        own = _ratio(here, expected * shared[section])
    product: Floats = shared[section] * own
    return product


def _ratio(changes: Floats, expected: Floats) -> Floats:
    return (_EXPECTED_CHANGES + changes) / (_EXPECTED_CHANGES + expected)


def _summed(values: Floats, section: NDArray[np.int64]) -> Floats:
    """The sums of rows by section."""
    summed = np.zeros((int(section.max()) + 1, values.shape[1]))
    np.add.at(summed, section, values)
    return summed


def elapsed(found: Floats, seconds: Floats) -> Floats:
    """The seconds from the first crawl to each refresh, as they go by in each folder."""
    clock = np.zeros((found.shape[0], found.shape[1] + 1))
    np.cumsum(found * seconds, axis=1, out=clock[:, 1:])
    return clock


def _in_spans(
    at: NDArray[np.int64],
    before: NDArray[np.int64],
    refresh: NDArray[np.int64],
    weight: Floats,
    shape: tuple[int, int],
) -> Floats:
    """The sum of the weights of all visits whose span has the time before a refresh."""
    steps = np.zeros((shape[0], shape[1] + 1))
    np.add.at(steps, (at, before), weight)
    np.add.at(steps, (at, refresh), -weight)
    summed: Floats = steps.cumsum(axis=1)[:, :-1]
    return summed
