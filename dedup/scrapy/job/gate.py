"""Between the queue and the downloader: which of the next URLs is fetched."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable

from scrapy import Request

from dedup.scrapy.frontier.request_queue import RequestQueue, is_revisit
from dedup.scrapy.job.budgets import UrlBudgets
from dedup.scrapy.job.duplicate_links import DuplicateLinks
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.job.revisits import Revisits
from dedup.scrapy.reading.host_shares import HostShares
from dedup.store.records import DUPLICATE_LINK, QueuedUrl
from dedup.urls import SeenUrls

logger = logging.getLogger(__name__)

_MAX_ADDRESSES = 10_000
"""Of which the first request is remembered; 3 MB."""


class Gate:
    """Makes the next request, and records each URL that is left out.

    Args:
        seen: notes what other processes may have found, so that a link to it is not taken for new.
        shares: tells which hosts wait for others.
        record: records what becomes of a URL.
        has_routes: are routes pages of their own? See `dedup.urls.routes`.
    """

    def __init__(
        self,
        requests: RequestQueue,
        seen: SeenUrls,
        shares: HostShares,
        budgets: UrlBudgets,
        duplicate_links: DuplicateLinks | None,
        revisits: Revisits,
        record: Callable[[Outcome], None],
        *,
        has_routes: bool,
    ) -> None:
        self._requests = requests
        self._seen = seen
        self._shares = shares
        self._budgets = budgets
        self._duplicate_links = duplicate_links
        self._revisits = revisits
        self._record = record
        self._has_routes = has_routes
        self._first: OrderedDict[str, bytes] = OrderedDict()
        """The keys of the first requests for addresses, at a route or not."""

    def next(self, n_active: Callable[[str], int]) -> Request | None:
        """The next request, which is in flight from now on; see `Frontier`."""
        while (found := self._requests.frontier.pop(n_active, self._shares.is_put_off)) is not None:
            request = found if isinstance(found, Request) else self._request_of(found)
            if request is not None:
                return request
        return None

    def _request_of(self, row: QueuedUrl) -> Request | None:
        if self._requests.waits(row, self._revisits.original_of(row.url)):
            return None  # it is compared with what that is now, or is an alias of it
        if self._requests.is_shared:
            self._seen.mark([row.key])
        if not (self._requests.is_again(row) or is_revisit(row.request)):
            if self._has_routes and self._waits_for_first(row):
                return None
            reason, detail = self._reason_to_leave_out(row)
            if reason:
                self._leave_out(row, reason, detail)
                return None
        try:
            return self._requests.request_of(row)
        except Exception as error:  # noqa: BLE001 -- the spider's code may have changed
            detail = f"{type(error).__name__}: {error}"
            logger.error("The queued request for %s cannot be read: %s", row.url, detail)
            self._leave_out(row, "unreadable_request", detail)
            return None

    def _waits_for_first(self, row: QueuedUrl) -> bool:
        """Is the first request for its address in flight, which tells whether that has scripts?

        Then it is handed out again once that is done.
        """
        address = row.url.partition("#")[0]
        first = self._first.setdefault(address, row.key)
        if len(self._first) > _MAX_ADDRESSES:
            self._first.popitem(last=False)
        if first == row.key or first not in self._requests.frontier.in_flight:
            return False
        if self._revisits.is_to_judge(row.url):
            return False
        self._requests.frontier.wait(row, first)
        return True

    def _reason_to_leave_out(self, row: QueuedUrl) -> tuple[str, str]:
        if self._duplicate_links is not None and self._duplicate_links.skips(row):
            return DUPLICATE_LINK, ""
        return self._budgets.reason_to_leave_out(row)

    def _leave_out(self, row: QueuedUrl, reason: str, detail: str) -> None:
        finishes = (FinishedUrl(row.key, row.url),)
        self._record(
            Outcome(kind="failed", url=row.url, finishes=finishes, reason=reason, detail=detail)
        )
