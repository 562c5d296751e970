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

_TURN = 8
"""Of so many visits, one is of the page that waited longest."""


def values(rates: Rates, since: Floats) -> Floats:
    """What a visit of each page is worth, `since` the last one in seconds."""
    shape, seconds = rates.shape, rates.seconds
    shape = np.where(np.abs(shape - 1) < 1e-6, 1 + 1e-6, shape)  # a limit that is not needed
    ratio = np.log1p(since / seconds)
    stayed = np.exp(-shape * ratio)
    fresh = seconds * -np.expm1((1 - shape) * ratio) / (shape - 1)
    worth: Floats = fresh - since * stayed
    return worth


def in_turns(worth: Floats, since: Floats, n_before: int = 0) -> NDArray[np.int64]:
    """The order of visits: that of their worth, but each eighth goes to who waited longest.

    Rates that were estimated from few visits can be wrong: so pages that seem to never change are
    visited, too, each at least once while all could be visited eight times.

    Args:
        worth: of a visit of each page.
        since: the last visit of each page, in any unit.
        n_before: visits that were made in this order before.
    """
    by_worth = np.lexsort((-since, -worth))
    place = np.empty(len(worth))
    place[by_worth] = np.arange(len(worth))
    waiting = np.lexsort((-worth, -since))
    turns = (_TURN - 1) * (np.arange(len(worth)) + 1) - n_before % _TURN - 0.5
    place[waiting] = np.minimum(place[waiting], turns)
    return np.argsort(place, kind="stable")
