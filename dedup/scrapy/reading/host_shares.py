"""Which hosts take more than their share of CPU time, and which go beyond budgets all the time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

_FREE_SECONDS = 0.02
"""For each page, robots.txt and sitemap. Pages take 2 to 10 ms."""

_SHARE = 1 / 8
"""Of the time of the reading processes, that a host has beyond that."""

_MAX_DEBT_SECONDS = 1.0

_SLOW_SECONDS = 1.0
_MAX_SLOW = 3.0
_QUICK = 0.02
"""Three slow pages among 150 make a host slow."""

MAX_CUT = 50
"""Pages beyond their budgets, less those that were read: up to four minutes of CPU time."""

_MANY_HOSTS = 10_000


class HostShares:
    """Counts what hosts take: CPU time, slow pages, and pages beyond their budgets.

    A host that takes more than its share runs into debt, which time pays. While it has one, its
    URLs wait for those of other hosts. A host is given up where the pages beyond their budgets
    outnumber all others by `MAX_CUT`.

    Args:
        processes: that read pages.
        clock: seconds.
    """

    def __init__(self, processes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = max(processes, 1) * _SHARE
        self._clock = clock
        self._debts: dict[str, tuple[float, float]] = {}
        """By host: a debt, and when it was that."""
        self._slow: dict[str, float] = {}
        self._cut: dict[str, int] = {}
        self._told: set[str] = set()

    def charge(self, host: str, seconds: float) -> None:
        """Note the CPU time that a host has taken for one thing."""
        if seconds <= _FREE_SECONDS:
            return
        debt = self._debt(host) + seconds - _FREE_SECONDS
        self._debts[host] = debt, self._clock()
        if debt > _MAX_DEBT_SECONDS and host not in self._told:
            self._told.add(host)
            logger.warning(
                "%s exceeds its share of CPU time; at times its URLs wait for those of other hosts",
                host,
            )
        if len(self._debts) > _MANY_HOSTS:
            self._debts = {each: found for each, found in self._debts.items() if self._debt(each)}

    def is_put_off(self, host: str) -> bool:
        """Do the host's URLs wait for those of others?"""
        return host in self._debts and self._debt(host) > _MAX_DEBT_SECONDS

    def note_page(self, host: str, seconds: float) -> None:
        """Note the CPU time of a page that has been read, or of one that has not been read."""
        self.charge(host, seconds)
        if seconds >= _SLOW_SECONDS:
            self._slow[host] = min(self._slow.get(host, 0.0) + 1.0, 2 * _MAX_SLOW)
        elif host in self._slow:
            self._slow[host] -= _QUICK
            if self._slow[host] <= 0:
                del self._slow[host]

    def is_slow(self, host: str) -> bool:
        """Is its next page expected to be slow?"""
        return self._slow.get(host, 0.0) >= _MAX_SLOW

    def note_end(self, host: str, *, is_cut: bool) -> None:
        """Note whether a page was beyond its budget."""
        if is_cut or host in self._cut:
            self._cut[host] = self._cut.get(host, 0) + (1 if is_cut else -1)
            if not self._cut[host]:
                del self._cut[host]

    def is_given_up(self, host: str) -> bool:
        return self._cut.get(host, 0) >= MAX_CUT

    def _debt(self, host: str) -> float:
        debt, at = self._debts.get(host, (0.0, 0.0))
        return max(0.0, debt - self._rate * (self._clock() - at))
