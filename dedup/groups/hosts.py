"""Which hosts share pages, and which of two seems to copy the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from dedup.groups.guess import Copy, days_later
from dedup.groups.listing import Group


class HostPair(NamedTuple):
    """Two hosts that share pages.

    Attributes:
        pages: those that both have.
        copied: those that `host` seems to have from `other`.
        first: those that `other` seems to have from `host`: fewer.
        unknown: the others.
        median_days: how much later the copied ones were published, as both declare it; None: no two
            pages declare it.
    """

    host: str
    other: str
    pages: int
    copied: int
    first: int
    unknown: int
    median_days: float | None


@dataclass(slots=True)
class _Shared:
    """What two hosts share; `copied` and `days` are of copies on the one and on the other."""

    copied: list[int] = field(default_factory=lambda: [0, 0])
    days: tuple[Counter[float], Counter[float]] = field(
        default_factory=lambda: (Counter(), Counter())
    )
    unknown: int = 0


def host_pairs(groups: Iterable[Group]) -> list[HostPair]:
    """The pairs of hosts, those with the most shared pages first.

    A group counts once for each host and that of the first page; if that is not known, that of the
    stored page. Takes memory for each pair.
    """
    found: dict[tuple[str, str], _Shared] = {}
    for group in groups:
        first = group.guess.first
        base = first or group.pages[0]
        for copy in _one_of_each_site(group.pages):
            if copy.site != base.site:
                hosts = min(base.host, copy.host), max(base.host, copy.host)
                shared = found.setdefault(hosts, _Shared())
                if first is None:
                    shared.unknown += 1
                else:
                    _count(shared, base, copy, side=hosts.index(copy.host))
    pairs = [_pair(*hosts, shared) for hosts, shared in found.items()]
    return sorted(pairs, key=lambda each: (-each.pages, each.host, each.other))


def _one_of_each_site(pages: Iterable[Copy]) -> Iterable[Copy]:
    found: dict[str, Copy] = {}
    for page in pages:
        found.setdefault(page.site, page)
    return found.values()


def _count(shared: _Shared, first: Copy, copy: Copy, *, side: int) -> None:
    shared.copied[side] += 1
    days = days_later(first, copy)
    if days is not None:
        shared.days[side][days] += 1


def _pair(low: str, high: str, shared: _Shared) -> HostPair:
    counts = shared.copied
    side = int(counts[1] > counts[0])
    host, other = (high, low) if side else (low, high)
    n_pages = sum(counts) + shared.unknown
    median = _median(shared.days[side])
    return HostPair(host, other, n_pages, counts[side], counts[1 - side], shared.unknown, median)


def _median(counts: Counter[float]) -> float | None:
    """The lower median; None: there is no value."""
    left = (counts.total() + 1) // 2
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return None
