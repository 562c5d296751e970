"""The job of a crawl: the parts that the components share, opened and closed together."""

from __future__ import annotations

import atexit
import json
import logging
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.python.failure import Failure

from dedup.errors import StateError
from dedup.scrapy.config import CrawlConfig, dedup_settings, is_queue_stored
from dedup.scrapy.frontier.request_queue import RequestQueue
from dedup.scrapy.internals.commands import loaded_addons
from dedup.scrapy.internals.refusal import refusing
from dedup.scrapy.job.arrivals import Arrivals
from dedup.scrapy.job.budgets import UrlBudgets
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.job.duplicate_links import DuplicateLinks
from dedup.scrapy.job.in_pipelines import ItemsInPipelines
from dedup.scrapy.job.judging import ItemJudge
from dedup.scrapy.job.ledger import Ledger
from dedup.scrapy.job.outcome import FinishedUrl, Outcome
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.job.revisits import Revisits
from dedup.scrapy.job.turns import Turns
from dedup.scrapy.job.urls import ResponseUrls, seen_urls
from dedup.scrapy.reading.reader import PageReader
from dedup.scrapy.reading.shares import HostShares
from dedup.sites.learner import SiteLearner
from dedup.store.records import DUPLICATE_LINK, QueuedUrl

logger = logging.getLogger(__name__)

_ATTRIBUTE = "dedup_job"
"""Of the crawler. The job and the crawler refer to each other, and are freed together."""


class Job:
    """The parts of a crawl's job.

    Attributes:
        place: its folder and name.
        store: it has all that is stored of the job.
        seen: the filter of its URLs.
        requests: its queue.
        duplicate_links: puts off links on duplicates; None: they are followed as any other.
        response_urls: tells which URLs a response finishes.
        ledger: records each outcome.
        budgets: tells which queued URLs are left out.
        revisits: the pages that a refresh judges again.
        content: the detectors and their index.
        arrivals: pages that wait until more is known of their sites.
        judge: judges items.
        shares: counts the CPU time that each host takes.
        turns: when this process writes, where others share the job.
        reader: reads pages for a spider of the project's own; None: it has read none.
        is_kept: can a later crawl resume it?
        has_queue: are URLs queued in its store, and not by the project's own scheduler?
        is_resumed: did an earlier process start it?
        is_finished: was it finished before this crawl?
        moved_to: new path of the job that was in this folder before.
        failure: the error of the store; `extensions.stopping` then ends the crawl.
        troubles: problems of the crawl, a sentence each; the exit status is 1 if there are any.

    Raises:
        StateError: the job's store cannot be used.
        ValueError: a setting is out of range.
    """

    @classmethod
    def of(cls, crawler: Crawler) -> Job:
        """The crawler's job; the first call opens it."""
        job = cls.opened(crawler)
        if job is None:
            with refusing():
                job = cls(crawler)
            setattr(crawler, _ATTRIBUTE, job)
        return job

    @classmethod
    def opened(cls, crawler: Crawler) -> Job | None:
        """The crawler's job, if it has been opened."""
        job: Job | None = getattr(crawler, _ATTRIBUTE, None)
        return job

    def __init__(self, crawler: Crawler) -> None:
        self.config = config = CrawlConfig.of(crawler)
        self.place = JobPlace(config, crawler.spider, _arguments(crawler))
        self.folder, self.is_kept = self.place.folder, self.place.is_kept
        is_restarted = self.is_kept and self.place.is_restarted
        self.moved_to = self.place.move_aside() if is_restarted else None
        self.failure: StateError | None = None
        self.troubles: list[str] = []
        self.reader: PageReader | None = None
        self.store = self.place.open_store()
        if config.store:  # else it is in the folder
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.place.check(self.store, crawler.settings)
        except StateError:
            self.store.close()
            raise
        self.store.on_error(self._fail)
        self.has_queue = is_queue_stored(crawler.settings)
        self.is_resumed = self.store.meta("started") is not None
        is_left = self.has_queue and bool(self.store.urls.count_within(config.depth_limit))
        if is_left:  # DEPTH_LIMIT is higher than it was
            self.store.urls.queue_within(config.depth_limit)
        is_done = self.store.meta("finished") is not None and not is_left
        was_finished = self.has_queue and is_done
        begins_refresh = was_finished and self.place.is_refreshed
        self.is_finished = was_finished and not begins_refresh
        self.opened_at = time.time()
        self.dedup_settings = dedup_settings(crawler.settings)
        self._note_begin()
        stats = crawler.stats
        self._learner = SiteLearner(
            self.store.learned,
            max_waiting=config.waiting_pages,
            is_shared=self.store.workers is not None,
        )
        self.content = ContentIndex(self.store, config.detection, self._learner)
        self.revisits = Revisits(
            self.store, begins=begins_refresh, signatures=self.content.signatures
        )
        self.seen = seen_urls(self.store.urls, config)
        self.requests = self.revisits.requests = RequestQueue(
            crawler, self.store, self._record_unreadable, self._is_left_out
        )
        self.duplicate_links: DuplicateLinks | None = None
        if self.has_queue and not (self.is_finished or self.revisits.number):
            if config.duplicate_links != "skip" and self.store.workers is None:
                self._queue_left_out()
            self.duplicate_links = DuplicateLinks.of(
                crawler, self.store, self.requests, self.content, config
            )
        self.response_urls = ResponseUrls(crawler, config.url_canonical)
        self.shares = HostShares(config.read_processes)
        self.budgets = UrlBudgets(
            self.store,
            config,
            self.shares,
            is_resumed=self.is_resumed,
            is_exempt=self.revisits.is_to_judge,
        )
        self.ledger = Ledger(
            self.store,
            stats,
            self.seen,
            self.requests,
            self.revisits,
            self.budgets.traps,
            self.duplicate_links,
            add_page=self.content.add,
        )
        self.turns = Turns(self.store.workers, self.ledger.record)
        self.requests.ask_for_turn = self.turns.ask
        if self.store.workers is not None:
            self.requests.note_seen = self.seen.mark
        self._items = ItemsInPipelines()
        self.arrivals = Arrivals(
            self.store,
            self.ledger,
            self.content,
            self._items,
            self._learner,
            is_learning=config.extractor == "content",
            is_ours=self.requests.is_ours,
        )
        self.judge = ItemJudge(
            self.store,
            self.ledger,
            self.content,
            self._items,
            self.arrivals,
            stats,
            fields=config.item_fields,
            short_shingles=config.detection.short_shingles,
            is_resumed=self.is_resumed,
            is_resent=not self.has_queue,
        )
        crawler.signals.connect(self._item_scraped, signals.item_scraped)
        crawler.signals.connect(self._item_dropped, signals.item_dropped)
        crawler.signals.connect(self._item_error, signals.item_error)
        crawler.signals.connect(self.close, signals.engine_stopped)
        atexit.register(self.close)  # a second Ctrl-C stops the engine without a signal

    # --- What becomes of responses and requests --------------------------------------------------

    def record(self, outcome: Outcome) -> None:
        """Record what became of a URL, now or in this process's next turn."""
        self.turns.record(outcome)

    def record_skipped(self, response: Response, reason: str, detail: str = "") -> None:
        """Record a response without a page to compare."""
        self.record(
            Outcome(
                kind="skipped",
                url=response.url,
                finishes=self.response_urls.finished(response),
                reason=reason,
                detail=detail,
                size_bytes=len(response.body),
            )
        )

    @property
    def has_pages(self) -> bool:
        """Has the job any page, or a duplicate of one?"""
        return bool(self.store.count("pages") or self.store.count("duplicates"))

    @property
    def is_alone(self) -> bool:
        """Does no other process share the job now?"""
        return len(self.store.worker_rows()) <= 1

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
            self.requests.leave_hosts()
        with suppress(StateError):
            self.store.close()
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- Private ---------------------------------------------------------------------------------

    def _note_begin(self) -> None:
        if not self.is_resumed:
            self.store.set_meta("started", repr(time.time()))
        if not self.is_finished:  # for those who read the store
            self.store.set_meta("settings", json.dumps(self.dedup_settings, default=str))

    def _fail(self, error: StateError) -> None:
        if self.failure is None:
            self.failure = error
            self.troubles.append(str(error))
            logger.error("%s", error)

    def _is_left_out(self, row: QueuedUrl) -> bool:
        """Is a queued URL not to be fetched? It is recorded then."""
        if self.duplicate_links is not None and self.duplicate_links.skips(row):
            self._record_failed(row, DUPLICATE_LINK, "")
            return True
        reason, detail = self.budgets.reason_to_leave_out(row)
        if reason:
            self._record_failed(row, reason, detail)
        return bool(reason)

    def _queue_left_out(self) -> None:
        """Queue the links on duplicates that an earlier run of the job has skipped."""
        for slot, n_more in self.store.queue_skipped(DUPLICATE_LINK).items():
            self.requests.reload(slot, n_more=n_more)

    def _record_unreadable(self, row: QueuedUrl, detail: str) -> None:
        logger.error("The queued request for %s cannot be read: %s", row.url, detail)
        self._record_failed(row, "unreadable_request", detail)

    def _record_failed(self, row: QueuedUrl, reason: str, detail: str) -> None:
        finishes = (FinishedUrl(row.key, row.url),)
        self.record(
            Outcome(kind="failed", url=row.url, finishes=finishes, reason=reason, detail=detail)
        )

    def _item_scraped(self, item: object) -> None:
        self._items.leave(item)

    def _item_dropped(self, item: object, exception: Exception) -> None:
        self.judge.record_lost(item, "pipeline_dropped", str(exception))

    def _item_error(self, item: object, failure: Failure) -> None:
        name = type(failure.value).__name__
        self.judge.record_lost(item, "pipeline_error", f"{name}: {failure.getErrorMessage()}")


def _arguments(crawler: Crawler) -> Mapping[str, object] | None:
    """The arguments of another project's spider; None: they are not known."""
    found = [getattr(addon, "arguments", None) for addon in loaded_addons(crawler)]
    return next((arguments for arguments in found if arguments is not None), None)
