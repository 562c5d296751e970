"""What became of a URL: one value, which `Ledger.record` records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from dedup.document import Match
from dedup.store import Page

UrlRole = Literal["page", "redirect", "route", "canonical", "repeat"]

OutcomeKind = Literal[
    "unique", "version", "duplicate", "waiting", "skipped", "failed", "alias", "visited", "done"
]


class FinishedUrl(NamedTuple):
    """A URL that needs no fetching any more when an outcome is recorded.

    Attributes:
        role: `page`, the page's own URL; `redirect`, one that was redirected to it; `route`, that
            of a route of the page, which has no scripts; `canonical`, its canonical link; `repeat`,
            that of a request that was not filtered.
    """

    key: bytes
    url: str
    role: UrlRole = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a URL.

    Attributes:
        kind: `unique`, a page that is stored; `version`, a new version of the stored page `number`;
            `duplicate`, a page dropped for the original in `match`; `waiting`, a page that waits
            for others of its site; `skipped`, a response without a page to compare; `failed`, no
            response; `alias`, a URL that leads to the page at `target`; `visited`, a stored page
            that a refresh has visited and that has no new version; `done`, nothing to record.
        url: the one that is recorded; "" where an item has none.
        finishes: the URLs that need no fetching any more.
        page: of `unique`, `version` and `duplicate`; of `visited`, if it was fetched.
        reason: of `skipped` and `failed`, why; of `alias`, the role; of `visited`, what was found,
            see `VISIT_RESULTS`; if it has moved, `target` is where to.
        detail: recorded with the reason of `skipped` and `failed`.
        size_bytes: of the response's body, if there is no page.
        has_waited: the page was counted as fetched before, when it began to wait.
    """

    kind: OutcomeKind
    url: str
    finishes: tuple[FinishedUrl, ...] = ()
    page: Page | None = None
    match: Match | None = None
    number: int | None = None
    target: str = ""
    reason: str = ""
    detail: str = ""
    size_bytes: int = 0
    has_waited: bool = False

    @property
    def is_fetched(self) -> bool:
        """Is the outcome counted as a fetched response?"""
        return self.kind in _FETCHED and not self.has_waited


_FETCHED = frozenset({"unique", "duplicate", "waiting", "skipped"})
