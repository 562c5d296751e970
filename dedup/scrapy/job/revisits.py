"""A refresh: duplicates that are judged again, and new versions of stored pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from dedup.scrapy.job.doubts import Belief, Doubts
from dedup.scrapy.job.outcome import Outcome
from dedup.store import JobStore, Page
from dedup.store.records import storable


class Revisits:
    """Keeps the duplicates that a refresh judges again; they stay recorded until then.

    Args:
        begins: does a refresh begin? Then the pages of the finished job are queued for a visit.
        signatures: computes the signatures of a page, by stage.

    Attributes:
        number: of the current refresh; 0: this is the first crawl.
    """

    def __init__(
        self, store: JobStore, *, begins: bool, signatures: Callable[[Page], Mapping[str, bytes]]
    ) -> None:
        self._store = store
        self._signatures = signatures
        self.number = store.refreshes.begin() if begins else store.refreshes.current()
        self._doubts = Doubts()
        self._to_judge = store.refreshes.duplicates() if self.number else {}

    def is_to_judge(self, url: str) -> bool:
        """Is the URL recorded as a duplicate that is to be judged again?"""
        return url in self._to_judge

    def forget(self, url: str, page: int | None = None) -> None:
        """Delete the record of a duplicate whose URL is recorded again in the same unit.

        `page`: the number of the page that it is now; it keeps its old text as an old version.
        """
        number = self._to_judge.pop(url, None)
        if number is not None:
            if page is not None:
                self._store.refreshes.keep_duplicate(number, page)
            self._store.refreshes.drop_duplicate(number)

    def as_visit(self, outcome: Outcome) -> Outcome | None:
        """The outcome of a duplicate's visit that gave no page; None: it is not such a visit."""
        if outcome.url not in self._to_judge:
            return None
        if outcome.kind == "skipped" and not outcome.reason.startswith("http_"):
            return None
        return replace(outcome, kind="visited", reason=result_of(outcome.reason))

    def replace(self, number: int, page: Page) -> list[str]:
        """Store the new version of a page; return the URLs of its duplicates.

        They may be unique now, and are to be judged again.
        """
        refreshes = self._store.refreshes
        refreshes.replace_page(number, page, self._signatures(page))
        refreshes.note_visit(page.url or "", "changed")
        duplicates = refreshes.duplicates(number)
        self._to_judge.update(duplicates)
        return list(duplicates)

    def belief(self, number: int, page: Page) -> Belief | Literal["unchanged"]:
        """What becomes of the page that the visit of a stored one gave.

        `unchanged`: its title and text are those of the stored page.
        """
        stored = self._store.document(number)
        if (stored.title, stored.text) == (storable(page.title), page.text):
            self._doubts.note(page.url or "")
            return "unchanged"
        return self._doubts.belief(number, page.url or "", stored, page)


def result_of(reason: str) -> str:
    """The result of a visit that gave no page, by the reason."""
    found = {"http_304": "unchanged", "http_404": "missing", "http_410": "gone"}
    return found.get(reason, f"failed: {reason}")
