"""Extension: writes `stats.json` and `report.html`, and commits while a crawl waits."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from dedup.changes import settle
from dedup.errors import StateError
from dedup.explain.reasons import reason_words, remedy
from dedup.files import write_atomically
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.stats_json import stats_json
from dedup.scrapy.spiders.own import is_own
from dedup.store import summarise

_READ_FOR_URLS = "robots_txt", "sitemap"
"""Reasons that say of a file that it was read, and is no page."""

_CHECKS = {
    "connection_refused": "check the host and the port of the URL, or try again: dedup retry JOB",
    "dns": "check the spelling of the URL's host, or try again: dedup retry JOB",
    "http_404": "check the URL",
    "not_html": "check that the URL is that of a page",
    "sitemap_error": "check that the URL is that of a sitemap",
}
"""Where not one page of a crawl was found, its URL may be wrong."""

_BUDGETS = "max_pages", "closespider_timeout"
"""Why a refresh ends whose budget of pages or seconds is spent."""

logger = logging.getLogger(__name__)


class JobFiles(Extension):
    """Records the end of the job, and writes its files, when the spider closes.

    Handlers of `spider_closed` run in no fixed order: other components compute the numbers
    themselves, by `account_of`.
    """

    def _spider_opened(self) -> None:
        self._call_every(0.5, self._commit_if_due)

    def _commit_if_due(self) -> None:
        with suppress(StateError):  # the job notes it, and the crawl stops
            Job.of(self.crawler).store.commit_if_due()

    def _spider_closed(self, reason: str) -> None:
        job = Job.of(self.crawler)
        if job.config.is_shared and not job.config.store:  # who started this process closes the job
            job.turns.close()
            return
        if job.failure or (job.is_finished and (job.folder / "stats.json").exists()):
            return
        with suppress(StateError):
            if not job.is_finished:
                self._note_end(job, reason)
                is_ours = is_own(self.crawler.spider)
                if is_ours and reason == "finished" and not job.has_pages:
                    _note(job, f"no pages were found{_why(job)}")
            if job.is_kept or job.config.report_file:
                self._write_account(job)

    def _note_end(self, job: Job, reason: str) -> None:
        store = job.store
        job.turns.close()
        store.set_meta("reason", reason)
        if reason == "finished" and not is_own(self.crawler.spider):
            # A spider of another project may yield items in any callback: all its URLs are done
            # only when it has finished.
            store.urls.finish_all()
        is_left = store.urls.count_queued() or store.workers.has_waiting()
        number = job.urls.revisits.number
        if number and job.place.has_visit_budget and reason in _BUDGETS:
            store.refreshes.leave_out()
            is_over = not store.workers.has_waiting()
        else:
            is_over = reason == "finished" and not is_left
        if job.has_queue and is_over:
            if number:
                settle(store, job.urls.revisits.rotating)
                store.refreshes.retention.sum_up(job.config.history_days)
            store.set_meta("finished", repr(time.time()))
        store.commit()

    def _write_account(self, job: Job) -> None:
        reason = job.store.meta("reason") or "unknown"
        account = stats_json(job, finished=time.time(), reason=reason)
        text = json.dumps(account, ensure_ascii=False, indent=2, default=str)
        try:
            write_atomically(job.folder / "stats.json", text + "\n")
        except OSError as error:
            _note(job, f"stats.json in {job.folder} could not be written: {error}")
        file = job.config.report_file
        is_asked = job.config.is_report_enabled and not job.config.store
        if is_asked or file:  # of a job in PostgreSQL, `dedup report` makes it
            _write_report(job, Path(file) if file else None)


def _why(job: Job) -> str:
    """Why a job has no pages: the reason for which most of its URLs have none."""
    account = summarise(job.store)
    counts = Counter(account["failed"]) + Counter(account["pages"]["skipped"])
    for reason in _READ_FOR_URLS:
        counts.pop(reason, None)
    if not counts:
        return ""
    ((reason, count),) = counts.most_common(1)
    done = (_CHECKS.get(reason) or remedy(reason)).replace("JOB", str(job.shown_place))
    return f" ({reason} {count:,}: {reason_words(reason)}); {done}"


def _write_report(job: Job, path: Path | None) -> None:
    """Write the report; an error is only a warning, as the results of the crawl are stored."""
    from dedup.report.page import write_report  # most crawls of other projects do not need it

    try:
        write_report(job.place.store_place, path)
    except Exception as error:  # noqa: BLE001 -- the crawl itself is complete
        _note(job, f"the report of {job.store.job} could not be written: {error!r}")


def _note(job: Job, trouble: str) -> None:
    logger.warning("%s", trouble)
    job.troubles.append(trouble)
