"""How often pages change, from what visits of them have found.

Changes are taken for a Poisson process, of which a visit tells no more than whether there was one
(Cho and Garcia-Molina, Estimating frequency of change, TOIT 2003). Few visits say little of a
page, so its rate is a gamma distribution whose mean before the first visit is that of its section,
which in turn begins with that of its host. Long texts change more often than short ones, on most
hosts: rates are in proportion to a power of the size, whose exponent between 0 and 1 is averaged
over, by how well each fits what the visits of the host have found. The number of changes that a
visit stands for, and the rates, are found by turns (expectation and maximisation), for intervals
of any length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.revisits.histories import Histories

Floats = NDArray[np.float64]

_SHAPE = 2.0
"""Of the rates in a section. Smaller values allow for a wider spread, but trust few visits more."""

_GROUP_CHANGES = 1.0
"""The mean of all weighs as much as this number of changes in a host, that of a host in a section.
"""
_FIRST_SECONDS = 30 * 86_400.0
"""Nothing is known at first: one change in 30 days."""

_EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)

_ROUNDS = 25

_LEAST = 1e-12


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
        at_least_one = np.maximum(-np.expm1(-expected), _LEAST)
        changes = pages.n_changed * np.maximum(expected / at_least_one, 1)
        rates = _rates(pages, changes)
    return rates


def _rates(pages: Histories, changes: Floats) -> Rates:
    means, fits = [], []
    for exponent in _EXPONENTS:
        mean = _means(pages, changes, pages.size**exponent)
        expected = mean * pages.seen_seconds
        fit = pages.n_changed * np.log(np.maximum(expected, _LEAST) / (_SHAPE + expected))
        fit -= _SHAPE * np.log1p(expected / _SHAPE)
        means.append(mean)
        fits.append(np.bincount(pages.host, fit))
    weights = np.exp(np.array(fits) - np.max(fits, axis=0))
    weights /= weights.sum(axis=0)
    mean = (np.array(means) * weights[:, pages.host]).sum(axis=0)
    return Rates(_SHAPE + changes, _SHAPE / mean + pages.seen_seconds)


def _means(pages: Histories, changes: Floats, size: Floats) -> Floats:
    """The mean rate of pages like each, where rates are in proportion to `size`."""
    mean: Floats = size / max(size.sum(), 1) * len(size) / _FIRST_SECONDS
    for group in (np.zeros(len(size), dtype=np.int64), pages.host, pages.together[0]):
        found = np.bincount(group, changes) + _GROUP_CHANGES
        expected = np.bincount(group, mean * pages.seen_seconds) + _GROUP_CHANGES
        mean = mean * (found / expected)[group]
    return mean
