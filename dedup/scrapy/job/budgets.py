"""Budgets of a crawl: the maximum number of pages of a trap's pattern, and of a host."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.reading.host_shares import MAX_CUT, HostShares
from dedup.store import JobStore
from dedup.store.records import TRAP_RANK, QueuedUrl
from dedup.urls.parts import host_of, host_without_port
from dedup.urls.routes import FIRST_ROUTES, RouteWatch, is_route
from dedup.urls.traps import HostBudget, TrapWatch, pattern_of

logger = logging.getLogger(__name__)

_MAX_TRAP_URLS = 10_000
"""The number of pages, and of duplicates, in which a resumed crawl looks for traps."""


class UrlBudgets:
    """Decides for the next URL of the queue whether it is fetched.

    Args:
        is_exempt: is a URL fetched in any case?
        is_known: has the crawl seen a URL?
        is_to_visit: is a URL known that a refresh has not visited yet?

    Attributes:
        traps: finds URLs that look like a trap; None: `DEDUP_TRAP_PAGES` is 0.
        routes: finds routes that show nothing new.
    """

    def __init__(
        self,
        store: JobStore,
        config: CrawlConfig,
        shares: HostShares,
        *,
        is_resumed: bool,
        is_exempt: Callable[[str], bool],
        is_known: Callable[[str], bool],
        is_to_visit: Callable[[str], bool],
    ) -> None:
        self._store = store
        self._config = config
        self._shares = shares
        self._is_exempt = is_exempt
        self._is_known = is_known
        self._is_to_visit = is_to_visit
        self.routes = RouteWatch()
        self.traps: TrapWatch | None = None
        if config.trap_pages:
            self.traps = TrapWatch(budget=config.trap_pages, year=datetime.now(UTC).year)
            if is_resumed:
                taken = store.urls.deferred(TRAP_RANK)
                self.traps.restore(taken, *store.stats.latest_urls(_MAX_TRAP_URLS))
        self._hosts: HostBudget | None = None
        if config.host_pages:
            self._hosts = HostBudget(config.host_pages, store.stats.fetched_by_host())
        self._warned: set[str] = set()
        """Patterns and hosts of which the log has said that their URLs are left out."""

    def reason_to_leave_out(self, row: QueuedUrl) -> tuple[str, str]:
        """The reason and the detail of a URL that is recorded and not fetched; "": it is fetched.

        A URL that is fetched is counted in its budgets.
        """
        if self._is_exempt(row.url):
            return "", ""
        host = host_of(row.url)
        if self._shares.is_given_up(host_without_port(host)):
            self._warn_once(
                host,
                "%d more of its pages were too complex than were read; the rest are left out",
                MAX_CUT,
            )
            return "host_too_complex", host
        if other := self.same_page(row.url):
            return "same_route", other
        if row.rank >= TRAP_RANK and self.traps is not None and not self.traps.take(row.url):
            pattern = pattern_of(row.url)
            self._warn_once(
                pattern,
                "looks like a trap; after %d pages the rest of the pattern is left out",
                self._config.trap_pages,
            )
            return "trap", pattern
        if self._hosts is not None and not self._hosts.take(row.url):
            self._warn_once(
                host,
                "%d pages have been fetched, the limit set by DEDUP_HOST_PAGES; its other URLs"
                " are left out",
                self._config.host_pages,
            )
            return "host_pages", host
        return "", ""

    def same_page(self, url: str) -> str:
        """The known URL of a page that a route shows, too; "": it may show something new."""
        address, _, fragment = url.partition("#")
        if self.traps is None or not is_route(fragment):
            return ""
        if self._has_no_scripts(address):
            return address if self._is_known(address) else ""
        other = self.routes.same_as(url)
        if not other or not self._is_known(other):
            return ""
        self._warn_once(
            address,
            "after %d routes that show nothing new the others of their kind are left out",
            FIRST_ROUTES,
        )
        return other

    def _has_no_scripts(self, address: str) -> bool:
        """Has the page at an address no scripts, as was found in this run or an earlier one?"""
        if (has_scripts := self.routes.has_scripts(address)) is not None:
            return not has_scripts
        if self._is_to_visit(address):  # it may have scripts now
            return False
        read = self._store.learned.rendering.of_page(host_of(address), address)
        return read is not None and read.why == "no_scripts"

    def take_up(self) -> None:
        """Count what other processes of the job have fetched of their hosts."""
        if self._hosts is not None:
            self._hosts.note(self._store.stats.fetched_by_host())

    def _warn_once(self, name: str, message: str, amount: int) -> None:
        if name not in self._warned:
            self._warned.add(name)
            logger.warning(f"%s: {message}", name, amount)
