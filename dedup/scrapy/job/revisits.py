"""A refresh: duplicates that are judged again, and new versions of stored pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from dedup.changes.whole_page import Rotating, whole_pages
from dedup.document import Document
from dedup.revisits import Schedule
from dedup.scrapy.job.doubts import Belief, Doubts, has_end
from dedup.scrapy.job.outcome import Outcome
from dedup.sites.lines import PageLines
from dedup.sites.site import Site, name_key
from dedup.sites.stored import outline_of
from dedup.store import JobStore, Page
from dedup.store.records import storable
from dedup.urls.parts import host_of

_OF_HOST = "http_", "redirect_to_one_page"
"""Of the reasons of what is skipped: those after which the URL may have its page again."""

_MAX_BYTES = 500_000
"""Larger pages are not parsed for this, as it happens in the crawl's own process."""


class Revisits:
    """Keeps the duplicates that a refresh judges again; they stay recorded until then.

    Args:
        begin: queues pages of the finished job for a visit; None: no refresh begins.
        signatures: computes the signatures of a page, by stage.
        site: what is known of the host of a URL.

    Attributes:
        number: of the current refresh; 0: this is the first crawl.
        schedule: of a refresh with a budget that this process has begun.
        rotating: what differs on most pages beside their texts.
    """

    def __init__(
        self,
        store: JobStore,
        *,
        begin: Callable[[JobStore], Schedule | None] | None,
        signatures: Callable[[Page], Mapping[str, bytes]],
        site: Callable[[str], Site],
    ) -> None:
        self._store = store
        self._signatures = signatures
        self._site = site
        self.schedule = None if begin is None else begin(store)
        self.number = store.refreshes.current()
        self.rotating = Rotating()
        self._doubts = Doubts()
        self._judged: set[str] = set()
        """Duplicates of earlier visits that have been judged again in this run."""
        self._beside: set[int] = set()
        """Pages that differ beside their texts alone, and are being judged."""
        self._rotated: set[int] = set()
        """Pages that differ in what rotates alone, and are being recorded."""
        self._to_judge = (
            store.refreshes.duplicates()
            if self.number
            else store.learned.rendering.duplicates_again()
        )

    def is_to_judge(self, url: str) -> bool:
        """Is the URL recorded as a duplicate that is to be judged again?"""
        return url in self._to_judge

    def original_of(self, url: str) -> str | None:
        """The URL of the original of a duplicate that is to be judged again; None: it is none."""
        number = self._to_judge.get(url)
        return None if number is None else self._store.refreshes.original_of(number)

    def judge_again(self, url: str, duplicate: int) -> None:
        """Judge a duplicate again when it has been fetched; it stays on record until then."""
        self._to_judge[url] = duplicate

    def forget(self, url: str, page: int | None = None) -> None:
        """Delete the record of a duplicate whose URL is recorded again in the same unit.

        `page`: the number of the page that it is now; it keeps its old text as an old version.
        """
        number = self._to_judge.pop(url, None)
        if number is None:
            return
        if page is not None and self.number:
            was_before = url in self._judged
            self._store.refreshes.keep_duplicate(number, page, was_before=was_before)
        self._judged.add(url)
        self._store.refreshes.drop_duplicate(number)

    def as_visit(self, outcome: Outcome) -> Outcome | None:
        """The outcome of a duplicate's visit that gave no page; None: it is not such a visit."""
        if outcome.url not in self._to_judge:
            return None
        if outcome.kind == "skipped" and not outcome.reason.startswith(_OF_HOST):
            return None
        return replace(outcome, kind="visited", reason=result_of(outcome.reason))

    def replace(self, number: int, page: Page) -> list[str]:
        """Store the new version of a page; return the URLs of its duplicates.

        They may be unique now, and are to be judged again.
        """
        refreshes = self._store.refreshes
        is_same = self._is_as_stored(self._store.document(number), page)
        is_beside = number in self._beside
        self._beside.discard(number)
        if is_same and not is_beside:  # it was read once more since
            refreshes.note_visit(page.url or "", "unchanged")
            return []
        keeps_old = self.number > 0  # else it is only read in another way
        refreshes.replace_page(number, page, self._signatures(page), keeps_old=keeps_old)
        refreshes.note_visit(page.url or "", "changed")
        if is_same:
            return []
        duplicates = refreshes.duplicates(number)
        self._to_judge.update(duplicates)
        return list(duplicates)

    def belief(self, number: int, page: Page) -> Belief | Literal["unchanged"]:
        """What becomes of the page that the visit of a stored one gave.

        `unchanged`: its title and text are those of the stored page, or would be if that was read
        with what is known of the site now, and nothing beside them differs.
        """
        url = page.url or ""
        if self.is_unchanged(number, page):
            self.note_unchanged(url)
            if not self._differs_beside(number, page):
                return "unchanged"
            self._beside.add(number)
            return "store"
        old = [self._store.document(number)]
        is_cut = self._is_cut(number, page)
        return self._doubts.belief(number, url, old, page, is_cut=is_cut)

    def _differs_beside(self, number: int, page: Page) -> bool:
        """Do the bodies of two versions differ, where their texts are the same?"""
        stored = self._store.page(number)
        if stored.body == page.body or not self._is_as_stored(stored, page):
            return False
        if self._is_cut(number, page):
            return False
        if (both := whole_pages(stored, page)) is None:
            return False
        host = host_of(url := page.url or "")
        places = self.rotating.differing(host, self._site(url), *both)
        if not self.rotating.rotate(host, places):
            return True
        if places:
            self._rotated.add(number)
        return False

    def keep_body(self, number: int, page: Page) -> None:
        """Store the new body of an unchanged page, if what rotates has changed in it."""
        if number in self._rotated:
            self._rotated.discard(number)
            self._store.refreshes.replace_body(number, page)

    def note_unchanged(self, url: str) -> None:
        """Count the visit of a stored page whose text is known to be the same."""
        self._doubts.note(url)
        self.rotating.note_visits(host_of(url))

    def is_unchanged(self, number: int, page: Page) -> bool:
        """Is the page that the visit of a stored one gave the same?"""
        stored = self._store.document(number)
        return self._is_as_stored(stored, page) or self._is_as_read_now(number, stored, page)

    def belief_in_duplicate(self, url: str, page: Page) -> Belief:
        """What becomes of the page that the visit of a duplicate, with this URL, gave."""
        known = self._store.refreshes.texts_of_duplicate(self._to_judge[url])
        if known is None:  # of a page of an earlier crawl
            return "store"
        original, texts = known
        old = [Document(id=url, text=text) for text in texts]
        is_cut = page.text not in texts and self._is_cut(original, page)
        return self._doubts.belief(original, url, old, page, is_cut=is_cut)

    def belief_in_move(self, url: str, target: str, *, is_page: bool) -> Belief:
        """What becomes of the new page to which a URL redirects; `is_page`: one that is stored."""
        return self._doubts.belief_in_move(url, target, is_page=is_page)

    def _is_cut(self, number: int, page: Page) -> bool:
        """Has the body of a page no end, other than the stored one of the page `number`?"""
        return not has_end(page.body or b"") and has_end(self._store.body(number) or b"")

    @staticmethod
    def _is_as_stored(stored: Document, page: Page) -> bool:
        return (stored.title, stored.text) == (storable(page.title), page.text)

    def _is_as_read_now(self, number: int, stored: Document, page: Page) -> bool:
        """Is the text that the stored body has by what is known of its site now the page's?"""
        if page.site_version is None or stored.title != storable(page.title):
            return False
        before = self._store.page(number)
        if before.site_version == page.site_version or len(before.body or b"") > _MAX_BYTES:
            return False
        outline, url = outline_of(before), before.url or ""
        if outline is None:
            return False
        name = name_key(outline, before.title, url)
        found = self._site(url).read_again(PageLines(outline), name, before.title)
        return found is not None and found.text == page.text


def result_of(reason: str) -> str:
    """The result of a visit that gave no page, by the reason."""
    found = {"http_304": "unchanged", "http_404": "missing", "http_410": "gone"}
    return found.get(reason, f"failed: {reason}")
