"""The visits of a refresh with a budget, put into another order by what the first ones find."""

from __future__ import annotations

from collections.abc import Container, Mapping

from dedup.revisits import Schedule, odds_of
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.store import JobStore

_PARTS = 10
"""The order is made anew after each such part of the visits."""

_LEAST_VISITS = 4
"""In a part: a polite crawl has about as many requests in flight at a host."""


class VisitOrder:
    """Has the pages visited next whose visits are worth most, by what is known now.

    Args:
        schedule: of the refresh.
        max_visits: how many pages it visits; 0: no limit.
    """

    def __init__(
        self, schedule: Schedule, store: JobStore, requests: RequestQueue, max_visits: int
    ) -> None:
        self._schedule = schedule
        self._store = store
        self._requests = requests
        self._max_visits = max_visits
        self._step = max(_LEAST_VISITS, (max_visits or len(schedule.left)) // _PARTS)
        self._n_noted = 0
        self._told: dict[str, str] = {}
        """The `lastmod` of pages in sitemaps now."""
        self._named: set[str] = set()
        """Pages whose `lastmod` is another than at their last visit."""

    @property
    def left(self) -> Container[str]:
        """The URLs of the pages that may be visited."""
        return self._schedule.left

    def hear(self, lastmods: Mapping[str, str]) -> None:
        """Take what sitemaps say now, of pages that are left."""
        stored = self._store.refreshes.lastmods
        known = stored.known()
        self._told = dict(lastmods)
        named = {url: known[url] != lastmods[url] for url in lastmods.keys() & known.keys()}
        self._named = {url for url, is_named in named.items() if is_named}
        self._schedule.hear(odds_of(named, stored.trust()))
        stored.add((url, lastmods[url]) for url in lastmods.keys() - named.keys())
        self._renew()

    def note(self, url: str, result: str) -> None:
        """Take the result of a visit, one of `VISIT_RESULTS`."""
        has_changed = None if result.startswith("failed") else result in ("changed", "back")
        self._schedule.note(url, has_changed=has_changed)
        self._n_noted += 1
        if url in self._told and has_changed is not None:
            is_named = url in self._named
            self._store.refreshes.lastmods.note(
                url, self._told[url], is_named=is_named, has_changed=has_changed
            )

    def renew(self) -> None:
        """Make the order anew, if enough has been found since it was made."""
        if self._n_noted >= self._step:
            self._renew()

    def _renew(self) -> None:
        self._n_noted = 0
        in_flight = list(self._requests.frontier.in_flight)
        known = map(self._store.urls.find, in_flight)
        asked = {found.url for found in known if found is not None}
        order = [url for url in self._schedule.order() if url not in asked]
        if self._max_visits:
            n_left = self._max_visits - self._store.refreshes.fetched() - len(asked)
            order = order[: max(n_left, 0)]
        self._store.refreshes.reorder(order, in_flight)
        self._requests.reload_all()
