"""What the visit of a page is worth: how much longer stored pages are up to date by it.

A page with rate r that was visited t seconds ago is worth (1 - exp(-r t) (1 + r t)) / r: visiting
those first that are worth most is nearly optimal (Azar et al., Tractable near-optimal policies for
crawling, PNAS 2018), and gives up those that change too often. The value here is the mean over the
distribution of the rate, so that a page of which little is known is worth a look.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup.revisits.rates import Floats, Rates


def values(rates: Rates, since: Floats) -> Floats:
    """What a visit of each page is worth, `since` the last one in seconds."""
    shape, seconds = rates.shape, rates.seconds
    shape = np.where(np.abs(shape - 1) < 1e-6, 1 + 1e-6, shape)  # a limit that is not needed
    ratio = np.log1p(since / seconds)
    stayed = np.exp(-shape * ratio)
    fresh = seconds * -np.expm1((1 - shape) * ratio) / (shape - 1)
    worth: Floats = fresh - since * stayed
    return worth


def in_turns(worth: Floats, since: Floats) -> NDArray[np.int64]:
    """The order of visits: by turns the page that is worth most, and the one that waited longest.

    Rates that were estimated from few visits are often wrong, and sites change many pages at once:
    half of the visits therefore go round all pages.
    """
    by_worth = np.lexsort((-since, -worth))
    place = np.empty(len(worth))
    place[by_worth] = np.arange(len(worth))
    waiting = np.lexsort((-worth, -since))
    place[waiting] = np.minimum(place[waiting], np.arange(len(worth)) + 0.5)
    return np.argsort(place, kind="stable")
