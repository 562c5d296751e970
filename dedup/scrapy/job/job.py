"""The job of a crawl: its store, and the parts that the components share."""

from __future__ import annotations

import atexit
import json
import logging
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.errors import DamageError, StateError
from dedup.files import remove_old_parts
from dedup.scrapy.config import CrawlConfig, dedup_settings, is_queue_stored
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.internals.commands import loaded_addons
from dedup.scrapy.internals.refusal import refusing
from dedup.scrapy.items import page_item_class
from dedup.scrapy.job.arrivals import Arrivals
from dedup.scrapy.job.budgets import UrlBudgets
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.job.duplicate_links import DuplicateLinks
from dedup.scrapy.job.gate import Gate
from dedup.scrapy.job.in_pipelines import ItemsInPipelines
from dedup.scrapy.job.judging import ItemJudge
from dedup.scrapy.job.ledger import Ledger
from dedup.scrapy.job.outcome import Outcome
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.job.revisits import Revisits
from dedup.scrapy.job.turns import Turns
from dedup.scrapy.job.urls import ResponseUrls, seen_urls
from dedup.scrapy.job.visit_order import VisitOrder
from dedup.scrapy.reading.host_shares import HostShares
from dedup.scrapy.reading.page_reader import PageReader
from dedup.scrapy.url_keys import UrlKeys
from dedup.sites.learner import SiteLearner
from dedup.store import JobStore
from dedup.store.records import DUPLICATE_LINK
from dedup.urls import SeenUrls
from dedup.urls.parts import host_of

logger = logging.getLogger(__name__)

_ATTRIBUTE = "dedup_job"
"""Of the crawler. The job and the crawler refer to each other, and are freed together."""


class Abandoned(Protocol):
    """What a crawl that stops does not wait for."""

    def abandon(self) -> None: ...


@dataclass(frozen=True, slots=True)
class UrlSide:
    """What decides which URLs are fetched.

    Attributes:
        seen: the filter of the job's URLs.
        requests: their queue.
        shares: counts the CPU time that each host takes.
        gate: makes the next request of the queue.
        of_responses: which URLs a response finishes.
        budgets: of traps and hosts.
        revisits: the pages that a refresh judges again.
        duplicate_links: puts off links on duplicates; None: they are followed as any other.
    """

    seen: SeenUrls
    requests: RequestQueue
    shares: HostShares
    gate: Gate
    of_responses: ResponseUrls
    budgets: UrlBudgets
    revisits: Revisits
    duplicate_links: DuplicateLinks | None


@dataclass(frozen=True, slots=True)
class PageSide:
    """What decides which pages are stored.

    Attributes:
        content: the detectors and their index.
        arrivals: pages that wait until more is known of their sites.
        judge: judges items.
    """

    content: ContentIndex
    arrivals: Arrivals
    judge: ItemJudge


class Job:
    """What the components of a crawl share: the job's store, and the parts that work on it.

    Attributes:
        place: its folder and name.
        store: holds everything stored of the job.
        baseline: the jobs of earlier crawls.
        urls, pages: the parts that work on each.
        visit_order: of a refresh with a budget that this process has begun alone.
        ledger: records each outcome.
        turns: when this process writes, where others share the job.
        reader: reads pages for a spider of the project's own; None: it has read none.
        rendering: has pages rendered for a spider of the project's own; None: none are.
        is_kept: can a later crawl resume it?
        has_queue: are URLs queued in its store, and not by the project's own scheduler?
        is_resumed: did an earlier process start it?
        is_first: does this process make the start requests?
        started_at: when it was started, by the clock of that day.
        is_finished: was it finished before this crawl?
        moved_to: new path of the job that was in this folder before.
        failure: the error of the store; `extensions.stopping` then ends the crawl.
        troubles: problems of the crawl, a sentence each; the exit status is 1 if there are any.

    Raises:
        StateError: the job's store cannot be used.
        ValueError: a setting is out of range.
    """

    urls: UrlSide
    pages: PageSide
    ledger: Ledger
    visit_order: VisitOrder | None = None

    @classmethod
    def of(cls, crawler: Crawler) -> Job:
        """The crawler's job; the first call opens it."""
        job = cls.opened(crawler)
        if job is None:
            with refusing():
                job = cls(crawler)
                _assemble(job, crawler)
            setattr(crawler, _ATTRIBUTE, job)
        return job

    @property
    def needs_bodies(self) -> bool:
        """Are bodies stored, or something that is computed from them once a page is kept?"""
        return self.store.keep_bodies or self.pages.judge.reduce is not None

    @classmethod
    def opened(cls, crawler: Crawler) -> Job | None:
        """The crawler's job, if it has been opened."""
        job: Job | None = getattr(crawler, _ATTRIBUTE, None)
        return job

    def __init__(self, crawler: Crawler) -> None:
        self.config = config = CrawlConfig.of(crawler)
        if config.processes > 1 and config.team is None:
            raise ValueError(
                f"DEDUP_PROCESSES must be 1 here, got {config.processes}: only `scrapy crawl`"
                ' starts processes; in other projects set COMMANDS_MODULE = "dedup.scrapy.commands"'
            )
        self.place = JobPlace(config, crawler.spider, _arguments(crawler))
        self.folder, self.is_kept = self.place.folder, self.place.is_kept
        is_restarted = self.is_kept and self.place.is_restarted
        self.moved_to = self.place.move_aside() if is_restarted else None
        self.failure: StateError | None = None
        self.troubles: list[str] = []
        self.reader: PageReader | None = None
        self.rendering: Abandoned | None = None
        self.store = self.place.open_store()
        if config.store:  # else it is in the folder
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.place.check(self.store, crawler.settings)
            self.baseline = self.place.open_baseline(self.store, crawler.settings)
        except (StateError, ValueError):
            self.store.close()
            raise
        self.baseline.on_error(self.fail)
        self.store.on_error(self.fail)
        remove_old_parts(self.folder)
        self.turns = Turns(self.store.workers)
        self.has_queue = is_queue_stored(crawler.settings)
        team = config.team
        was_started = self.store.meta("started") is not None
        self.is_resumed = was_started if team is None else not team.is_new
        self.is_first = team is None or team.is_first
        self.started_at = _time_in(self.store, "started")
        is_left = self.has_queue and bool(self.store.urls.count_within(config.depth_limit))
        if is_left:  # DEPTH_LIMIT is higher than it was
            self.store.urls.queue_within(config.depth_limit)
        is_done = self.store.meta("finished") is not None and not is_left
        was_finished = self.has_queue and is_done and team is None
        self.begins_refresh = was_finished and self.place.is_refreshed
        self.is_finished = was_finished and not self.begins_refresh
        self.opened_at = time.monotonic()
        self.dedup_settings = dedup_settings(crawler.settings)
        self._note_begin()

    # --- What becomes of responses and requests --------------------------------------------------

    def record(self, outcome: Outcome) -> None:
        """Record what became of a URL, now or in this process's next turn."""
        self.turns.call(
            (outcome.kind, outcome.url, outcome.finishes), partial(self.ledger.record, outcome)
        )

    def record_skipped(self, response: Response, reason: str, detail: str = "") -> None:
        """Record a response without a page to compare."""
        self.record(
            Outcome(
                kind="skipped",
                url=response.url,
                finishes=self.urls.of_responses.finished(response),
                reason=reason,
                detail=detail,
                size_bytes=len(response.body),
            )
        )

    @property
    def has_pages(self) -> bool:
        """Has the job any page, or a duplicate of one, be it in an earlier crawl?"""
        tables = "pages", "duplicates", "earlier"
        return any(self.store.exports.count(table) for table in tables)

    @property
    def is_alone(self) -> bool:
        """Does no other process share the job now?"""
        return len(self.store.stats.workers()) <= 1

    @property
    def name(self) -> str:
        return self.store.job.rpartition("#")[2] if self.config.store else self.folder.name

    @property
    def shown_place(self) -> Path | str:
        """The job as commands take it."""
        return self.store.job if self.config.store else self.folder

    def close(self) -> None:
        """Commit and close the store. A second call does nothing."""
        atexit.unregister(self.close)
        self.turns.close()
        with suppress(StateError):  # it is the job's `failure`
            self.urls.requests.leave_hosts()
        with suppress(StateError):
            self.store.close()
        self.baseline.close()
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- Private ---------------------------------------------------------------------------------

    def _note_begin(self) -> None:
        if not self.is_resumed:
            self.store.set_meta("started", repr(self.started_at))
        if not self.is_finished:  # for readers of the store
            self.store.set_meta("settings", json.dumps(self.dedup_settings, default=str))

    def fail(self, error: StateError) -> None:
        """Note an error of the store, which ends the crawl."""
        if self.failure is None:
            self.failure = error
            self.troubles.append(str(error))
            logger.error("%s", error)


def _assemble(job: Job, crawler: Crawler) -> None:
    """Make the parts of a job, each after those that it needs."""
    config, store, turns = job.config, job.store, job.turns
    is_shared = store.workers.is_shared
    learner = SiteLearner(
        store.learned,
        max_waiting=config.waiting_pages,
        is_shared=is_shared,
        earlier=job.baseline.learned,
    )
    detection = replace(config.detection, index_folder=job.folder)
    content = ContentIndex(store, detection, learner, job.baseline)
    revisits = Revisits(
        store,
        begin=job.place.begin_refresh if job.begins_refresh else None,
        signatures=content.signatures,
        site=lambda url: learner.site(host_of(url)),
    )

    seen, keys = seen_urls(store.urls, config), UrlKeys.of(crawler)
    requests = RequestQueue(crawler, store, turns.ask)
    shares = HostShares(config.read_processes)
    budgets = UrlBudgets(
        store,
        config,
        shares,
        is_resumed=job.is_resumed,
        is_exempt=revisits.is_to_judge,
        is_known=lambda url: not seen.unseen([keys.key(url)]),
        is_to_visit=lambda url: revisits.number > 0 and store.urls.is_queued(keys.key(url)),
    )
    duplicate_links = None
    if job.has_queue and not (job.is_finished or revisits.number):
        if config.duplicate_links != "skip" and not is_shared:  # an earlier run may have
            for slot, n_more in store.urls.queue_skipped(DUPLICATE_LINK).items():
                requests.reload(slot, n_more=n_more)
        duplicate_links = DuplicateLinks.of(crawler, store, requests, content, config)

    visit_order = None
    if revisits.schedule is not None and not is_shared:
        limit = job.place.max_visits
        job.visit_order = visit_order = VisitOrder(revisits.schedule, store, requests, keys, limit)
    job.ledger = ledger = Ledger(
        store,
        crawler.stats,
        seen,
        requests,
        revisits,
        budgets.traps,
        duplicate_links,
        visit_order,
        add_page=content.add,
        add_duplicate=content.add_duplicate,
    )
    gate = Gate(
        requests,
        seen,
        shares,
        budgets,
        duplicate_links,
        revisits,
        job.record,
        has_routes=keys.canonical.has_routes,
    )
    of_responses = ResponseUrls(crawler, config.url_canonical)
    job.urls = UrlSide(
        seen, requests, shares, gate, of_responses, budgets, revisits, duplicate_links
    )

    items = ItemsInPipelines()
    arrivals = Arrivals(
        store,
        ledger,
        content,
        learner,
        is_learning=config.extractor == "content",
        is_ours=requests.is_ours,
        kind=page_item_class(config.page_fields),
    )
    judge = ItemJudge(
        store,
        ledger,
        content,
        items,
        arrivals,
        crawler.stats,
        fields=config.item_fields,
        short_shingles=config.detection.short_shingles,
        is_resumed=job.is_resumed,
        is_resent=not job.has_queue,
    )
    judge.follow_signals(crawler.signals)
    job.pages = PageSide(content, arrivals, judge)

    crawler.signals.connect(job.close, signals.engine_stopped)
    atexit.register(job.close)  # a second Ctrl-C stops the engine without a signal


def _time_in(store: JobStore, name: str) -> float:
    """A time of the job; now, if it has none."""
    stored = store.meta(name)
    try:
        found = time.time() if stored is None else float(stored)
        datetime.fromtimestamp(found, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise DamageError(store.location, f"when it was {name} is damaged ({error})") from error
    return found


def _arguments(crawler: Crawler) -> Mapping[str, object] | None:
    """The arguments of another project's spider; None: they are not known."""
    found = [getattr(addon, "arguments", None) for addon in loaded_addons(crawler)]
    return next((arguments for arguments in found if arguments is not None), None)
