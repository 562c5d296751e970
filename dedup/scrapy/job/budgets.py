"""Budgets of a crawl: how many pages of a trap's pattern, and of a host, are fetched."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from dedup.scrapy.config import CrawlConfig
from dedup.store import JobStore
from dedup.store.records import TRAP_RANK, QueuedUrl
from dedup.urls.parts import host_of
from dedup.urls.traps import HostBudget, TrapWatch, pattern_of

logger = logging.getLogger(__name__)

_MAX_TRAP_URLS = 10_000
"""Of pages and of duplicates, that a resumed crawl looks for traps in."""


class UrlBudgets:
    """Decides when a URL's turn comes whether it is still fetched.

    Args:
        is_exempt: is a URL fetched whatever the budgets say?

    Attributes:
        traps: watches for URLs that look like a trap; None: nobody asks for it.
    """

    def __init__(
        self,
        store: JobStore,
        config: CrawlConfig,
        *,
        is_resumed: bool,
        is_exempt: Callable[[str], bool],
    ) -> None:
        self._config = config
        self._is_exempt = is_exempt
        self.traps: TrapWatch | None = None
        if config.trap_pages:
            self.traps = TrapWatch(budget=config.trap_pages, year=datetime.now(UTC).year)
            if is_resumed:
                taken = store.deferred_urls(TRAP_RANK)
                self.traps.restore(taken, *store.latest_urls(_MAX_TRAP_URLS))
        self._hosts: HostBudget | None = None
        if config.host_pages:
            self._hosts = HostBudget(config.host_pages, store.fetched_by_host())
        self._warned: set[str] = set()
        """Patterns and hosts whose URLs are left out, as the log says once."""

    def reason_to_leave_out(self, row: QueuedUrl) -> tuple[str, str]:
        """The reason and the detail by which a URL is recorded and not fetched; "": it is fetched.

        A URL that is fetched is taken from its budgets.
        """
        if self._is_exempt(row.url):
            return "", ""
        if row.rank >= TRAP_RANK and self.traps is not None and not self.traps.take(row.url):
            pattern = pattern_of(row.url)
            self._warn_once(
                pattern,
                "looks like a trap; after %d pages the others of the pattern are left out",
                self._config.trap_pages,
            )
            return "trap", pattern
        if self._hosts is not None and not self._hosts.take(row.url):
            host = host_of(row.url)
            self._warn_once(
                host,
                "%d pages have been fetched, as many as DEDUP_HOST_PAGES allows;"
                " its other URLs are left out",
                self._config.host_pages,
            )
            return "host_pages", host
        return "", ""

    def _warn_once(self, name: str, message: str, amount: int) -> None:
        if name not in self._warned:
            self._warned.add(name)
            logger.warning(f"%s: {message}", name, amount)
