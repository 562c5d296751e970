"""Stored pages of the largest hosts, read again for a report: few enough to be quick.

The sample depends only on the job, so the same job gives the same report, unless reading its pages
takes too long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dedup.sites.lines import PageLines
from dedup.sites.outline import Outline
from dedup.sites.stored import outline_of
from dedup.store import JobStore, Page

MAX_HOSTS = 20
"""Hosts whose pages are read, those with the most pages."""

MAX_PAGES = 200
"""Pages of each host."""

SHARE = 0.05
"""The share of a host's pages that is read: the crawl has read them all, and this is a check."""

MIN_SHARE_PAGES = 60
"""The share of a small host is at least this number of pages."""

MAX_BYTES = 6_000_000
"""The total size of bodies: takes about half a second. One host has at most half of it."""

MAX_PAGE_BYTES = 2_000_000

MAX_CPU_SECONDS = 4.0
"""The crawl's own process reads these pages. Each was read in bounded time before."""

_MIN_PAGES = 20


@dataclass(frozen=True)
class SampledPage:
    """A stored page, and the outline of its body."""

    page: Page
    outline: Outline

    @cached_property
    def lines(self) -> PageLines:
        """The lines of the outline."""
        return PageLines(self.outline)


class Sample:
    """Selects hosts and pages, and reads the pages.

    Attributes:
        hosts: hosts with stored bodies, those with the most first; at most 20.
    """

    def __init__(self, store: JobStore) -> None:
        self._store = store
        found: dict[str, list[tuple[int, int]]] = {}
        for host, number, size_bytes in store.report.stored_bodies():
            if host and size_bytes <= MAX_PAGE_BYTES:
                found.setdefault(host, []).append((number, size_bytes))
        self.hosts = sorted(found, key=lambda host: (-len(found[host]), host))[:MAX_HOSTS]
        share = min(MAX_BYTES // 2, MAX_BYTES // max(1, len(self.hosts)))
        self._numbers = {host: _chosen(found[host], share) for host in self.hosts}
        self._cpu_seconds = 0.0

    def pages(self, host: str, *, at_most: int = MAX_PAGES) -> Iterator[SampledPage]:
        """Pages of a host, evenly distributed from first to last, except pages without text."""
        for number in _evenly(self._numbers[host], at_most):
            if self._cpu_seconds > MAX_CPU_SECONDS:
                return
            began = time.process_time()
            page = self._store.page(number)
            outline = outline_of(page)
            self._cpu_seconds += time.process_time() - began
            if outline is not None and outline.lines:
                yield SampledPage(page, outline)


def _chosen(pages: list[tuple[int, int]], max_bytes: int) -> list[int]:
    mean = sum(size for _, size in pages) / len(pages)
    count = max(_MIN_PAGES, int(max_bytes / max(1, mean)))
    share = max(MIN_SHARE_PAGES, int(SHARE * len(pages)))
    return _evenly([number for number, _ in pages], min(count, share, MAX_PAGES))


def _evenly(numbers: list[int], count: int) -> list[int]:
    if len(numbers) <= count:
        return numbers
    return [numbers[place * len(numbers) // count] for place in range(count)]
