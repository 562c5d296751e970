"""Learned URL rules in a crawl: which queued URLs wait, and what is learned from pages."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from contextlib import nullcontext
from secrets import randbits
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from scrapy.crawler import Crawler

from dedup.document import Match
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.job.outcome import Outcome
from dedup.scrapy.spiders.own import is_own, own_spider
from dedup.scrapy.url_keys import UrlKeys
from dedup.store import JobStore, Page
from dedup.store.records import LEARNED_RANK, TRAP_RANK, QueuedUrl
from dedup.urls import Canonicaliser, SeenUrls, url_key
from dedup.urls.learning import NEAR, FetchedPage, HostRule, LateUrlKnowledge, UrlLearner
from dedup.urls.learning.learner import Mode
from dedup.urls.learning.telling import LEARNED_RULE, skip_detail
from dedup.urls.parts import host_of

logger = logging.getLogger(__name__)

_EXACT = ("body", "text")
_SEED = "seed of learned rules"
_LINKS = re.compile(rb"(?i)<(?:a|area|frame|iframe)\s[^>]*?(?:href|src)\s*=")
"""A page without text is a page of its own if it has links or frames; a script's shell has none."""


class UrlDecision(NamedTuple):
    """What is done with the next URL of the queue.

    Attributes:
        act: `fetch` it, let it `wait` until all others are fetched, or `skip` it.
        detail: of `skip`, the rule and the bound on what it loses, for the record.
    """

    act: Literal["fetch", "wait", "skip"]
    detail: str = ""


_FETCH = UrlDecision("fetch")


class CrawlUrlRules:
    """The learned URL rules of a job.

    Only plain requests wait: those that the project's spiders make from a URL alone.

    Args:
        canonical: gives the canonical spelling of a URL; it may raise `ValueError`.
        mode, loss, seed: see `UrlLearner`.
        short_shingles: texts of fewer shingles are too short to tell pages apart.
    """

    @classmethod
    def of(
        cls,
        crawler: Crawler,
        store: JobStore,
        seen: SeenUrls,
        requests: RequestQueue,
        config: CrawlConfig,
    ) -> CrawlUrlRules | None:
        """The rules of a crawl; None: they are not applied, or another fingerprinter is set."""
        keys = UrlKeys.of(crawler)
        if config.url_learning == "suggest" or not is_own(crawler.spider):
            return None
        if not keys.are_canonical:
            return None
        return cls(
            crawler,
            store,
            seen,
            requests,
            canonical=keys.canonical,
            mode=config.url_learning,
            loss=config.url_learning_loss,
            seed=config.url_learning_seed or int(store.first_meta(_SEED, str(randbits(63)))),
            short_shingles=config.detection.short_shingles,
        )

    def __init__(
        self,
        crawler: Crawler,
        store: JobStore,
        seen: SeenUrls,
        requests: RequestQueue,
        *,
        canonical: Canonicaliser,
        mode: Mode,
        loss: float,
        seed: int,
        short_shingles: int,
    ) -> None:
        self._spider = own_spider(crawler)
        self._stats = crawler.stats
        self._store = store
        self._seen = seen
        self._requests = requests
        self._canonical = canonical
        self._short_shingles = short_shingles
        knowledge = store.url_knowledge
        if store.workers is not None:
            knowledge = late = LateUrlKnowledge(knowledge)
            store.workers.before_commit(late.write)
        self._learner = UrlLearner(
            knowledge,
            is_seen=lambda key: bool(store.urls.known([key])),
            mode=mode,
            loss=loss,
            n_pages=store.count_pages_of,
            url_of=lambda number: self._spelt(store.page_url(number)),
            is_ours=requests.is_ours,
            seed=seed,
        )

    def decide(self, row: QueuedUrl) -> UrlDecision:
        """Decide about the next URL of the queue; queue it again if it is to wait."""
        if row.request is not None or row.rank >= TRAP_RANK:
            return _FETCH
        url = self._spelt(row.url)
        if url is None:
            return _FETCH
        if row.rank >= LEARNED_RANK:
            return self._second_turn(url, row.rank - LEARNED_RANK)
        deferral = self._learner.deferral(url)
        if deferral is None or deferral.rule.number >= TRAP_RANK - LEARNED_RANK:
            return _FETCH
        is_shared = self._store.workers is not None  # then it is written in the next turn
        with nullcontext() if is_shared else self._store.unit():
            if deferral.instead:
                self._find(deferral.instead, row)
            self._requests.put_off(row, LEARNED_RANK + deferral.rule.number)
            self._learner.save()
        self._stats.inc_value(f"dedup/url/deferred/{LEARNED_RULE}")
        return UrlDecision("wait")

    def note(self, outcome: Outcome, number: int | None) -> None:
        """Learn from an outcome; in the unit that records it.

        Args:
            outcome: as it is recorded.
            number: of the page, if one was stored.
        """
        if not self._requests.is_ours(host_of(outcome.url)):
            return
        redirected = [each.url for each in outcome.finishes if each.role == "redirect"]
        target = outcome.url
        if outcome.kind == "alias" and outcome.reason == "redirect":
            redirected, target = [*redirected, outcome.url], outcome.target
        for url in redirected:
            self._note_redirect(url, target)
        if outcome.kind in ("unique", "duplicate") and outcome.page is not None:
            self._note_page(outcome.page, number, outcome.match)
        self._learner.save()

    def forget(self, names: Collection[str]) -> None:
        """Write what was learned; hosts of these names are another process's, or were until now."""
        self._learner.forget(names)

    def _note_page(self, page: Page, number: int | None, match: Match | None) -> None:
        url = self._spelt(page.url)
        if url is None:
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
                canonical=self._spelt(page.canonical_url),
            )
        )
        for rule in ended:
            self._release(rule)

    def _note_redirect(self, url: str, target: str) -> None:
        first, last = self._spelt(url), self._spelt(target)
        if first is not None and last is not None:
            self._learner.note_redirect(first, last)

    def _find(self, url: str, row: QueuedUrl) -> None:
        """Queue a URL that a rule gives in place of a queued one, if it is new and in scope."""
        request = self._spider.page_request(url, depth=row.depth)
        key = url_key(self._canonical(request.url))
        if self._spider.is_in_scope(url) and self._seen.unseen([key]):
            self._seen.mark([key])
            request.meta[KEY] = key
            self._requests.add(request)

    def _second_turn(self, url: str, number: int) -> UrlDecision:
        turn, rule = self._learner.turn(url, number)
        if turn == "fetch" or rule is None:
            return _FETCH
        return UrlDecision("skip", skip_detail(rule))

    def _spelt(self, url: str | None) -> str | None:
        try:
            return None if url is None else self._canonical(url)
        except ValueError:
            return None

    def _release(self, rule: HostRule) -> None:
        """Queue the URLs that an ended rule has deferred or skipped."""
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
