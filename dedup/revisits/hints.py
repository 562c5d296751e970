"""What a site says of changes, and how far it is believed: `lastmod` of sitemaps.

A site's word is worth what it told on the host before: how often it named pages that had changed,
and others. By Bayes' rule that makes a change since the last visit more likely, or less, which is
expressed as time: a page that has likely changed is one that seems to have waited for long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dedup.revisits.rates import Floats, Rates

_MAX_EXPONENT = 50.0
"""Pages for which it is greater have changed, whatever is said."""


class Trust(NamedTuple):
    """How often a host named pages at their visits, by whether these had changed.

    Attributes:
        named_changed, silent_changed: pages that had changed, named or listed as before.
        named_same, silent_same: pages that had not.
    """

    named_changed: float = 0
    silent_changed: float = 0
    named_same: float = 0
    silent_same: float = 0

    def odds(self, *, is_named: bool) -> float:
        """The factor by which the odds of a change grow.

        At first a host is believed a little: half of the changes are named, and a tenth of the
        pages that are the same. Each belief weighs as much as two visits.
        """
        changed = (self.named_changed + 1) / (self.named_changed + self.silent_changed + 2)
        same = (self.named_same + 0.2) / (self.named_same + self.silent_same + 2)
        return changed / same if is_named else (1 - changed) / (1 - same)


def as_time(rates: Rates, since: Floats, odds: Floats) -> Floats:
    """The time after which pages are as likely to have changed as by the odds, beside `since`."""
    said = odds != 1
    shape, seconds, before = rates.shape[said], rates.seconds[said], since[said]
    exponent = np.minimum(shape * np.log1p(before / seconds), _MAX_EXPONENT)
    changed = np.expm1(exponent) * odds[said]  # the odds of a change
    time = since.copy()
    time[said] = seconds * np.expm1(np.log1p(changed) / shape)
    return time
