"""Stored pages of the largest hosts, read again for a report: few enough that it opens soon.

The sample depends on the job alone, not on time: the same job gives the same report, unless its
pages are made to take long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from dedup.sites.outline import Outline
from dedup.sites.stored import outline_of
from dedup.store import JobStore, Page

MAX_HOSTS = 20
"""Hosts of which pages are read, those with most pages."""

MAX_PAGES = 200
"""Pages of a host."""

MAX_BYTES = 60_000_000
"""Of bodies, all hosts together: some 5 s. One host has half of it at most."""

MAX_PAGE_BYTES = 2_000_000

MAX_CPU_SECONDS = 20.0
"""The crawl's own process reads the pages, of which each has been read in bounded time before."""

_MIN_PAGES = 20


@dataclass(frozen=True, slots=True)
class SampledPage:
    """A stored page, and the outline of its body."""

    page: Page
    outline: Outline


class Sample:
    """Which pages of which hosts are read.

    Attributes:
        hosts: those with stored bodies, the one with most of them first; at most 20.
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
        """Pages of a host, evenly from first to last; those without text are left out."""
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
    return _evenly([number for number, _ in pages], min(count, MAX_PAGES))


def _evenly(numbers: list[int], count: int) -> list[int]:
    if len(numbers) <= count:
        return numbers
    return [numbers[place * len(numbers) // count] for place in range(count)]
