"""In which order the pages of a job are visited again, and how that changes during the visits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, KeysView, Mapping, Sequence

import numpy as np

from dedup.revisits.clock import Floats, Visit, elapsed
from dedup.revisits.hints import as_time
from dedup.revisits.histories import Histories, PageHistory
from dedup.revisits.passages import SharedPassages
from dedup.revisits.rates import estimate
from dedup.revisits.value import in_turns, values

_MAX_REFRESHES = 64
"""Of which the activity of folders is known; what was before counts as if it was the first crawl.
"""

_WORTH_OF_DUPLICATES = 0.25
"""Of what a page is worth: a stored page has the text of a duplicate that has not changed."""


def _rests(page: PageHistory, now: float) -> bool:
    """Is a page away that was away for longer at its last visit than it has been since?"""
    return page.away_at is not None and now - page.asked_at < page.asked_at - page.away_at


class Schedule:
    """The order of the visits of one refresh.

    Args:
        pages: what is known of each.
        began: when the first crawl began, and each refresh, this one last.
        visits: the answers of earlier refreshes, in their order: URL, number of the refresh, had
            the page changed, when?

    Attributes:
        passages: that pages share.
    """

    def __init__(
        self,
        pages: Iterable[PageHistory],
        began: Sequence[float],
        visits: Iterable[tuple[str, int, bool, float]] = (),
        passages: SharedPassages | None = None,
    ) -> None:
        self.passages = SharedPassages() if passages is None else passages
        self._pages = list(pages)
        self._histories = Histories.of(self._pages)
        self._rates = estimate(self._histories)
        self._began = began[-1 - _MAX_REFRESHES :]
        self._left = {page.url: place for place, page in enumerate(self._pages)}
        self._waited = np.maximum(began[-1] - self._histories.asked_at, 0)
        self._rests = np.array([_rests(page, began[-1]) for page in self._pages], dtype=bool)
        self._is_duplicate = np.array([page.is_duplicate for page in self._pages], dtype=bool)
        self._odds = np.ones(len(self._pages))
        self._before = [
            max(bisect_right(self._began, page.first_at) - 1, 0) for page in self._pages
        ]
        self._visits: list[Visit] = []
        self._n_noted = 0
        skipped = len(began) - len(self._began)
        for url, refresh, has_changed, at in visits:
            if url in self._left and refresh > skipped:
                self._answer(self._left[url], refresh - skipped, at, has_changed=has_changed)

    def _answer(self, page: int, refresh: int, at: float, *, has_changed: bool) -> None:
        self.passages.visited(self._pages[page].url, at, has_changed=has_changed)
        before = min(self._before[page], refresh)  # clocks are set back
        self._visits.append(Visit(page, before, refresh, has_changed))
        self._before[page] = refresh

    @property
    def left(self) -> KeysView[str]:
        """The URLs of the pages without an answer."""
        return self._left.keys()

    def hear(self, odds: Mapping[str, float]) -> None:
        """Take what a site says of pages: the factors by which it makes changes more likely."""
        for url in odds.keys() & self._left.keys():
            self._odds[self._left[url]] = odds[url]

    def note(self, url: str, at: float, *, has_changed: bool | None) -> None:
        """Take the answer to a visit, which is not repeated; None: it has failed."""
        page = self._left.pop(url, None)
        self._n_noted += 1
        if page is not None and has_changed is not None and not self._is_duplicate[page]:
            self._answer(page, len(self._began) - 1, at, has_changed=has_changed)

    def order(self) -> list[str]:
        """The URLs of the pages that are left: first those that are due, then `in_turns`.

        Pages that are gone come last, until they have been gone for twice as long
        as at their last visit: they add up over the years, and would take most of a budget.
        """
        left = np.fromiter(self._left.values(), np.int64, len(self._left))
        worth = self._worth()[left]
        places = left[in_turns(worth, self._waited[left], self._n_noted)].tolist()
        places.sort(key=lambda place: 1 + self._rests[place] - self._pages[place].is_due)
        return [self._pages[place].url for place in places]

    def _worth(self) -> Floats:
        mean, seconds = self._rates.shape / self._rates.seconds, np.maximum(np.diff(self._began), 0)
        together, before = self._histories.together, np.array(self._before, dtype=np.int64)
        since = elapsed(self._visits, together, mean, seconds, before)
        odds = self._odds.copy()
        for url, factor in self.passages.odds(self._left).items():
            odds[self._left[url]] *= factor
        worth = values(self._rates, as_time(self._rates, since, odds))
        worth[self._is_duplicate] *= _WORTH_OF_DUPLICATES
        return worth
