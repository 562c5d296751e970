"""A job that several processes crawl: what is checked before, and written when they have ended.

The process that starts the others does not crawl. It holds the job's lock, and when the others have
ended it opens the job alone and closes it as a crawl of one process does: with the same files, the
same table and the same exit status.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from dedup.errors import StateError
from dedup.scrapy.config import CrawlConfig, is_queue_stored
from dedup.scrapy.extensions.job_files import JobFiles
from dedup.scrapy.extensions.progress import Progress
from dedup.scrapy.feeds import check_feeds, write_feeds
from dedup.scrapy.frontier.request_queue import drop_held
from dedup.scrapy.internals.commands import make_parts
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.processes.supervisor import Supervisor
from dedup.scrapy.processes.team import Team
from dedup.scrapy.spiders.own import is_own
from dedup.store import JobStore, open_store, store_path, summarise
from dedup.store.lock import hand_over, lock
from dedup.store.records import DUPLICATE_LINK

logger = logging.getLogger(__name__)

_LINE_SECONDS = 60.0
_KILLED = 130


class WholeJob:
    """The job of a crawl by `config.processes` processes, in the process that starts them.

    Args:
        crawler: with a spider and its add-ons, as a crawl would have it; it does not run.
        arguments: of the spider.

    Raises:
        ValueError: several processes cannot crawl the job; the message has the reason.
        StateError: the job's store cannot be used.
    """

    def __init__(
        self, crawler: Crawler, config: CrawlConfig, arguments: Mapping[str, object]
    ) -> None:
        self._crawler = crawler
        self._place = place = JobPlace(config, crawler.spider, arguments)
        self._check(config)
        self._store_path = store_path(place.folder)
        team = Team(0, config.processes, str(place.folder), -1, is_new=False)
        self._config = replace(config, team=team)
        self._moved_to = place.move_aside() if place.is_restarted else None
        with place.open_store() as store:
            place.check(store, crawler.settings)
            self._begin(store)
        self._lock = lock(self._store_path)
        self._began = self._line_at = time.monotonic()

    def crawl(self) -> int:
        """Start the processes, wait for their end, and close the job; return the exit status."""
        self._print(f"Job {self._place.folder} is crawled by {self._config.processes} processes.")
        team = Supervisor(
            self._config.processes,
            str(self._place.folder),
            self._config.worker_lease_seconds,
            self._show,
            is_new=self._is_new,
        )
        try:
            team.run()
            if team.n_stops > 1:
                return _KILLED
            troubles = self._close(team)
        except StateError as error:
            logger.error("%s", error)
            return 1
        finally:
            self._lock.release()
        return 1 if troubles or any(team.statuses) else 0

    # --- Before ----------------------------------------------------------------------------------

    def _check(self, config: CrawlConfig) -> None:
        settings, reason = self._crawler.settings, ""
        if self._place.is_always_new:
            reason = "each process of this spider would crawl a site of its own"
        elif not self._place.is_kept:
            reason = "the processes share a job that is kept: set JOBDIR or DEDUP_JOB"
        elif not is_queue_stored(settings):
            reason = (
                "requests must be queued in the job's store, which another SCHEDULER,"
                " DEDUP_URL_ENABLED off, or a JOBDIR of Scrapy's own scheduler prevents"
            )
        if reason:
            raise ValueError(f"DEDUP_PROCESSES must be 1, got {config.processes}: {reason}")
        check_feeds(settings, is_ours=is_own(self._crawler.spider))

    def _begin(self, store: JobStore) -> None:
        """Do what is to be done once, and not by each of the processes."""
        self._is_new = store.meta("started") is None
        self._n_fetched = store.stats.fetched()
        drop_held(store)
        if self._place.is_refreshed and store.meta("finished") is not None:
            self._place.begin_refresh(store)
        elif self._config.duplicate_links == "follow":  # an earlier run may have skipped some
            store.urls.queue_skipped(DUPLICATE_LINK)

    # --- Meanwhile -------------------------------------------------------------------------------

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._line_at < _LINE_SECONDS:
            return
        self._line_at = now
        with suppress(StateError), open_store(self._place.folder, read_only=True) as store:
            found = summarise(store)
            pages, n_queued = found["pages"], found["urls"]["queued"]
            rate = (pages["fetched"] - self._n_fetched) / (now - self._began)
            moment = time.strftime(self._crawler.settings["LOG_DATEFORMAT"])
            self._print(
                f"{moment} {pages['fetched']:,} fetched, {pages['unique']:,} unique,"
                f" {sum(pages['duplicates'].values()):,} duplicates,"
                f" {sum(pages['skipped'].values()):,} skipped, {pages['waiting']:,} waiting,"
                f" {n_queued:,} queued, {rate:,.1f} pages/s"
            )

    def _print(self, sentence: str) -> None:
        if self._config.progress not in ("off", "table"):
            print(sentence, file=sys.stderr)

    # --- Afterwards ------------------------------------------------------------------------------

    def _close(self, team: Supervisor) -> list[str]:
        """Close the job; return its troubles."""
        reasons = [result.get("reason", "killed") for result in team.results]
        reason = "shutdown" if team.n_stops else _first_other(reasons, "finished")
        hand_over(self._store_path, self._lock)
        job = self._open()
        self._add_results(job, team.results)
        try:
            write_feeds(self._crawler.settings, job.store, is_new=self._is_new)
        except OSError as error:
            job.troubles.append(f"the feed could not be written: {error}")
            logger.error("%s", job.troubles[-1])
        self._tell_closed(reason)
        job.close()
        return job.troubles

    def _tell_closed(self, reason: str) -> None:
        """Have the extensions that close a job do so."""
        crawler, listening = self._crawler, []
        for extension in (JobFiles, Progress):
            with suppress(NotConfigured):
                listening.append(extension.from_crawler(crawler))
        crawler.signals.send_catch_log(signals.spider_closed, spider=crawler.spider, reason=reason)
        listening.clear()  # signals keep none of them

    def _open(self) -> Job:
        crawler = self._crawler
        make_parts(crawler)
        self._config.use_for(crawler)
        job = Job.of(crawler)
        job.moved_to = self._moved_to
        job.opened_at = self._began
        job.ledger.fetched_before = self._n_fetched
        return job

    def _add_results(self, job: Job, results: list[dict[str, Any]]) -> None:
        stats: Counter[str] = Counter()
        for result in results:
            stats.update(result.get("stats", {}))
            job.ledger.visited += result.get("visited", 0)
            job.pages.content.elsewhere_bytes += result.get("index_bytes", 0)
            job.pages.judge.drops.add(result.get("drops", 0), result.get("first_drops", []))
        self._crawler.stats.set_stats(dict(stats))


def _first_other(names: list[str], usual: str) -> str:
    return next((name for name in names if name != usual), usual)
