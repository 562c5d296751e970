"""The dropped items: what is logged about them, and reported at the end."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from dedup.document import Match

logger = logging.getLogger(__name__)

_LOGGED = 20
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Drop:
    """A dropped item and the one it duplicates; an unknown URL is None.

    >>> str(Drop("http://a.example/", None, Match(7, "simhash", 2, 0.9)))
    'http://a.example/ duplicates item 7 (simhash, resemblance 0.90)'
    """

    url: str | None
    original_url: str | None
    match: Match

    def __str__(self) -> str:
        likeness = self.match.resemblance
        how = "" if likeness is None else f", resemblance {likeness:.2f}"
        original = self.original_url or f"item {self.match.original}"
        return f"{self.url or 'An item'} duplicates {original} ({self.match.stage}{how})"


class DropLog:
    """Logs the first drops of a crawl at INFO; Scrapy logs each at DEBUG, with the item.

    Attributes:
        count: of all drops.
        first: of these, the first three.
    """

    def __init__(self) -> None:
        self.count = 0
        self.first: list[Drop | str] = []

    def note(self, drop: Drop) -> None:
        self.count += 1
        if self.count <= _TOLD:
            self.first.append(drop)
        if self.count <= _LOGGED:
            logger.info("Dropped: %s", drop)
        if self.count == _LOGGED:
            logger.info("Further dropped items are logged at DEBUG.")

    def add(self, count: int, first: Sequence[str]) -> None:
        """Add the drops of another process, of which `first` describes the first three."""
        self.count += count
        self.first = [*self.first, *first][:_TOLD]
