"""Groups of documents that are near duplicates of each other, and which one of a group survives.

While a crawl runs, the first page stored survives. Afterwards, a group can elect another: by an
order that depends on the pages alone, and so is the same whatever order they came in.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the survivor of a group is chosen by.

    Attributes:
        url: its address, in canonical spelling (`dedup.urls.canonical_url`).
        canonical_url: the address that its canonical link names, in the same spelling, or None.
        fetched: when it was fetched, seconds since 1970.
    """

    url: str
    canonical_url: str | None
    fetched: float


class Groups:
    """Disjoint sets of document numbers, joined pair by pair.

    Join only pairs that a second check has confirmed. Near duplicate is no transitive relation:
    of a chain a, b, c the ends are in one group even where only neighbours are alike.

    A join takes amortised logarithmic time at most; documents that no pair names take no memory.

    Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22(2), 1975.

    >>> groups = Groups([(1, 5), (2, 3)])
    >>> groups.join(3, 5)
    >>> groups.all(), groups.representative(5), groups.representative(9)
    ([(1, 2, 3, 5)], 1, 9)
    """

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self._parents: dict[int, int] = {}
        for first, second in pairs:
            self.join(first, second)

    def join(self, first: int, second: int) -> None:
        """Make the groups of two documents one."""
        smaller, larger = sorted((self.representative(first), self.representative(second)))
        self._parents.setdefault(smaller, smaller)
        self._parents[larger] = smaller

    def representative(self, number: int) -> int:
        """Return the smallest number in the group of `number`; itself where it is alone."""
        root = number
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while number != root:  # all on the way point to the root from now on
            self._parents[number], number = root, self._parents[number]
        return root

    def all(self) -> list[tuple[int, ...]]:
        """Return the groups of two and more: numbers ascending, groups by their first number."""
        members: dict[int, list[int]] = {}
        for number in sorted(self._parents):
            members.setdefault(self.representative(number), []).append(number)
        return [tuple(group) for group in members.values() if len(group) > 1]


def survivor(pages: Iterable[Page]) -> Page:
    """Return the page of a group that is kept.

    In this order decide: a page that the canonical link of a page in the group names, https,
    the shorter URL, the earlier fetch, the URL in code point order.

    Raises:
        ValueError: there is no page.
    """
    group = list(pages)
    if not group:
        raise ValueError("pages must be at least one, got none")
    named = {page.canonical_url for page in group}
    return min(
        group,
        key=lambda page: (
            page.url not in named,
            not page.url.startswith("https://"),
            len(page.url),
            page.fetched,
            page.url,
        ),
    )
