"""How often pages change, from what visits of them have found.

Changes are taken for a Poisson process, of which a visit tells no more than whether there was one
(Cho and Garcia-Molina, Estimating frequency of change, TOIT 2003). Few visits say little of a
page, so its rate is a gamma distribution whose mean before the first visit is that of its section,
which in turn begins with that of its host. Two things differ by host, and are learned from what
visits of its pages have found. How unequal the rates of a section are, which is the shape of that
distribution: on most sites, most pages never change. And how far long texts change more often than
short ones: rates are in proportion to a power of the size. Some values of both are averaged over,
by their likelihood. The number of changes that a visit stands for, and the rates, are found by
turns (expectation and maximisation), for intervals of any length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.revisits.histories import Histories

Floats = NDArray[np.float64]

_SHAPES = (0.125, 0.25, 0.5, 1.0, 2.0)
"""Smaller values allow for a wider spread, and trust few visits more."""

_GROUP_CHANGES = 1.0
"""The mean of all weighs as much as this number of changes in a host, that of a host in a section.
"""
_FIRST_SECONDS = 30 * 86_400.0
"""Nothing is known at first: one change in 30 days."""

_EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)

_ROUNDS = 12

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
        means.append(mean)
        fits += [np.bincount(pages.host, _fit(changes, expected, shape)) for shape in _SHAPES]
    weights = np.exp(np.array(fits) - np.max(fits, axis=0))
    weights = (weights / weights.sum(axis=0)).reshape(len(_EXPONENTS), len(_SHAPES), -1)
    mean = (np.array(means) * weights.sum(axis=1)[:, pages.host]).sum(axis=0)
    shape = np.exp(np.log(_SHAPES) @ weights.sum(axis=0))[pages.host]
    return Rates(shape + changes, shape / mean + pages.seen_seconds)


def _fit(changes: Floats, expected: Floats, shape: float) -> Floats:
    """The logarithm of the likelihood of so many changes, of a negative binomial distribution.

    But for a term that is the same for all shapes and means.
    """
    fit: Floats = changes * np.log(np.maximum(expected, _LEAST) / (shape + expected))
    fit -= shape * np.log1p(expected / shape)
    fit += _log_gamma(shape + changes) - math.lgamma(shape)
    return fit


def _log_gamma(values: Floats) -> Floats:
    """By Stirling's series, from 3 on; the error is below 1e-5."""
    above = values + 3
    product = values * (values + 1) * (values + 2)
    series = 1 / (12 * above) - 1 / (360 * above**3)
    found: Floats = (above - 0.5) * np.log(above) - above + math.log(2 * math.pi) / 2 + series
    return found - np.log(product)


def _means(pages: Histories, changes: Floats, size: Floats) -> Floats:
    """The mean rate of pages like each, where rates are in proportion to `size`."""
    mean: Floats = size / max(size.sum(), 1) * len(size) / _FIRST_SECONDS
    for group in (np.zeros(len(size), dtype=np.int64), pages.host, pages.together[0]):
        found = np.bincount(group, changes) + _GROUP_CHANGES
        expected = np.bincount(group, mean * pages.seen_seconds) + _GROUP_CHANGES
        mean = mean * (found / expected)[group]
    return mean
