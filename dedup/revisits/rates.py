"""How often pages change, from what visits of them have found.

Changes are taken for a Poisson process, of which a visit tells no more than whether there was one
(Cho and Garcia-Molina, Estimating frequency of change, TOIT 2003). Few visits say little of a
page, so its rate is a gamma distribution whose mean before the first visit is that of its section,
which in turn begins with that of its host. The number of changes that a visit stands for, and the
rates, are found by turns (expectation and maximisation), for intervals of any length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.revisits.histories import Histories

Floats = NDArray[np.float64]

_SHAPE = 2.0
"""Of the rates in a folder. Smaller values allow for a wider spread, but trust few visits more."""

_GROUP_CHANGES = 1.0
"""The mean of all weighs as much as this number of changes in a host, that of a host in a folder.
"""
_FIRST_SECONDS = 30 * 86_400.0
"""Nothing is known at first: one change in 30 days."""

_ROUNDS = 25


class Rates(NamedTuple):
    """The rate of each page as a gamma distribution: `shape` changes in `seconds`."""

    shape: Floats
    seconds: Floats


def estimate(pages: Histories) -> Rates:
    """The rates of pages."""
    interval = pages.changed_seconds / np.maximum(pages.n_changed, 1)
    changes = pages.n_changed.copy()
    rates = _rates(pages, changes)
    for _ in range(_ROUNDS):
        expected = rates.shape / rates.seconds * interval
        at_least_one = np.maximum(-np.expm1(-expected), 1e-12)
        changes = pages.n_changed * np.maximum(expected / at_least_one, 1)
        rates = _rates(pages, changes)
    return rates


def _rates(pages: Histories, changes: Floats) -> Rates:
    mean = np.full(len(changes), 1 / _FIRST_SECONDS)
    for group in (np.zeros(len(changes), dtype=np.int64), pages.host, pages.section):
        mean = _mean_of_groups(group, changes, pages.seen_seconds, mean)
    return Rates(_SHAPE + changes, _SHAPE / mean + pages.seen_seconds)


def _mean_of_groups(
    group: NDArray[np.int64], changes: Floats, seconds: Floats, before: Floats
) -> Floats:
    """The mean rate of the group of each page; `before`: what it is taken for at first."""
    n_changes = np.bincount(group, changes)[group]
    n_seconds = np.bincount(group, seconds)[group]
    return (n_changes + _GROUP_CHANGES) / (n_seconds + _GROUP_CHANGES / before)
