"""Learned URL rules in a crawl: which queued URLs wait, and what the pages that came teach."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from dedup.document import Match
from dedup.scrapy.frontier.meta import DEFERRED_RANK, LEARNED_RANK
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.store import JobStore, Page
from dedup.store.records import QueuedUrl
from dedup.urls.learning import NEAR, FetchedPage, HostRule, UrlLearner
from dedup.urls.learning.learner import Mode
from dedup.urls.learning.telling import LEARNED_RULE, skip_detail

logger = logging.getLogger(__name__)

_EXACT = ("body", "text")
_LINKS = re.compile(rb"(?i)<(?:a|area|frame|iframe)\s[^>]*?(?:href|src)\s*=")
"""What a page without text may have of its own; the shell that a script fills has none."""


class WhatNow(NamedTuple):
    """What is done with a URL whose turn has come.

    Attributes:
        act: `fetch` it, `wait` for all others to be fetched, or `skip` it.
        detail: of `skip`, the rule and the bound on what it loses, for the record.
    """

    act: Literal["fetch", "wait", "skip"]
    detail: str = ""


_FETCH = WhatNow("fetch")


class CrawlUrlRules:
    """The learned URL rules of a job.

    Only plain requests wait: those that the project's spiders make from a URL alone.

    Args:
        canonical: gives the canonical spelling of a URL; it may raise `ValueError`.
        find: queues the URL that a rule gives, if it is new and in scope, before others.
        short_shingles: texts of fewer shingles are too short to tell pages apart.
    """

    def __init__(
        self,
        store: JobStore,
        requests: RequestQueue,
        *,
        mode: Mode,
        loss: float,
        canonical: Callable[[str], str],
        find: Callable[[str, QueuedUrl], None],
        short_shingles: int,
    ) -> None:
        self._store = store
        self._requests = requests
        self._canonical = canonical
        self._find = find
        self._short_shingles = short_shingles
        self._learner = UrlLearner(
            store.url_knowledge,
            is_seen=lambda key: bool(store.urls.known([key])),
            mode=mode,
            loss=loss,
            n_pages=store.count_pages_of,
            url_of=store.page_url,
        )

    def what_now(self, row: QueuedUrl) -> WhatNow:
        """Decide about a URL whose turn has come; have it wait, where it is to wait."""
        if row.request is not None or row.rank >= DEFERRED_RANK:
            return _FETCH
        try:
            url = self._canonical(row.url)
        except ValueError:
            return _FETCH
        if row.rank >= LEARNED_RANK:
            return self._second_turn(url, row.rank - LEARNED_RANK)
        deferral = self._learner.deferral(url)
        if deferral is None or deferral.rule.number >= DEFERRED_RANK - LEARNED_RANK:
            return _FETCH
        with self._store.unit():
            if deferral.instead:
                self._find(deferral.instead, row)
            self._requests.put_off(row, LEARNED_RANK + deferral.rule.number)
            self._learner.save()
        return WhatNow("wait")

    def note_page(self, page: Page, number: int | None, match: Match | None) -> None:
        """Learn from a page that was stored under `number`, or dropped for `match`.

        Call it within the unit that records the page.
        """
        try:
            url = self._canonical(page.url or "")
        except ValueError:
            return
        original = None if match is None else self._store.page_url(match.original)
        content = NEAR
        if number is not None:
            content = number
        elif match is not None and match.stage in _EXACT and _has_own(page):
            content = match.original
        ended = self._learner.note(
            FetchedPage(
                url,
                content,
                is_own=number is not None,
                is_short=len(page.shingles) < self._short_shingles,
                original_url=self._spelt(original),
            )
        )
        self._learner.save()
        for rule in ended:
            self._release(rule)

    def note_redirect(self, url: str, target: str) -> None:
        """Learn from a redirect; within the unit that records it."""
        try:
            self._learner.note_redirect(self._canonical(url), self._canonical(target))
        except ValueError:
            return
        self._learner.save()

    def _second_turn(self, url: str, number: int) -> WhatNow:
        turn, rule = self._learner.turn(url, number)
        if turn == "fetch" or rule is None:
            return _FETCH
        return WhatNow("skip", skip_detail(rule))

    def _spelt(self, url: str | None) -> str | None:
        try:
            return None if url is None else self._canonical(url)
        except ValueError:
            return None

    def _release(self, rule: HostRule) -> None:
        """Queue what an ended rule has held back, what was skipped for it, too."""
        slot = urlsplit(f"//{rule.host}").hostname or ""
        n_waiting = self._store.urls.bring_forward(slot, LEARNED_RANK + rule.number)
        skipped = self._store.queue_skipped(LEARNED_RULE, skip_detail(rule))
        self._requests.reload(slot, n_more=skipped.total())
        url, other = rule.failure or ("", "")
        logger.warning(
            "%s: the learned rule %s does not hold (%s and %s are two pages); %d URLs that it held"
            " back are fetched",
            rule.host,
            rule.name,
            url,
            other,
            n_waiting + skipped.total(),
        )


def _has_own(page: Page) -> bool:
    """Has the page text, links or frames of its own?"""
    if page.text and not page.text.isspace():
        return True
    return page.body is not None and _LINKS.search(page.body) is not None
