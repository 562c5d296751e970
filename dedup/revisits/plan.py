"""In which order the pages of a job are visited again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.rates import estimate
from dedup.revisits.value import in_turns, values

_WORTH_OF_DUPLICATES = 0.25
"""Of what a page is worth: a stored page has the text of a duplicate that has not changed."""


def planned(pages: Iterable[PageHistory], now: float) -> list[str]:
    """The URLs of pages: first those that are due, then by turns, see `in_turns`."""
    known = list(pages)
    histories = Histories.of(known)
    since = np.maximum(now - histories.asked_at, 0)
    worth = values(estimate(histories), since)
    worth[[page.is_duplicate for page in known]] *= _WORTH_OF_DUPLICATES
    order = [known[index] for index in in_turns(worth, since).tolist()]
    return [page.url for page in sorted(order, key=lambda page: not page.is_due)]
