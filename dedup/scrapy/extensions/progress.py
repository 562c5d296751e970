"""Extension: shows the progress of the crawl on standard error, and a table when it ends.

Rich is loaded when something is shown: most crawls of other projects show only the table.
"""

from __future__ import annotations

import atexit
import logging
import sys
import time
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.extensions.figures import CrawlFigures
from dedup.scrapy.extensions.item_counts import item_counts
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.stats_json import stats_json
from dedup.scrapy.spiders.outside_hosts import OutsideHosts
from dedup.scrapy.spiders.own import is_own
from dedup.scrapy.wording import wording

if TYPE_CHECKING:
    from rich.live import Live

    from dedup.scrapy.extensions.terminal import TerminalConsole

_AGAIN = "For a new crawl use -s DEDUP_RESTART=1, or another name with -s DEDUP_JOB=NAME or JOBDIR"
"""What can be done with another project's finished job."""

_SECONDS = {"live": 0.5, "plain": 60.0}


class Progress(Extension):
    """Shows a panel that is updated twice a second (`live`), or a line a minute (`plain`).

    When the crawl ends it shows a table; with `table` it shows nothing before, and no table where
    LOG_LEVEL is WARNING or above. The table is of pages, or of another project's items. While
    there is a panel, the lines of the log appear above it. Without a terminal there is no panel.
    """

    def __init__(self, crawler: Crawler) -> None:
        mode = Job.of(crawler).config.progress
        if mode == "off" or (mode == "table" and not crawler.settings.getbool("LOG_ENABLED")):
            raise NotConfigured  # `--nolog`: nothing is to be shown
        super().__init__(crawler)
        is_live = mode in {"auto", "live"} and self._console.can_show_panel
        self._mode = "live" if is_live else "table" if mode == "table" else "plain"
        self._live: Live | None = None
        self._width = 0
        self._figures: CrawlFigures | None = None
        self._log_streams: list[tuple[logging.StreamHandler[TextIO], TextIO]] = []

    @cached_property
    def _console(self) -> TerminalConsole:
        from dedup.scrapy.extensions.terminal import TerminalConsole

        return TerminalConsole(stderr=True, highlight=False, markup=False, emoji=False)

    def _spider_opened(self) -> None:
        job = Job.of(self.crawler)
        if job.moved_to:
            self._print(f"The previous job was moved to {job.moved_to}")
        if job.is_finished:
            again = wording().again if is_own(self.crawler.spider) else _AGAIN
            if is_own(self.crawler.spider) and not job.has_pages:
                again = f"It has no pages: dedup retry {job.shown_place} requeues URLs that failed"
            self._print(
                f"Job {job.store.job} is finished; nothing is fetched and feeds are unchanged."
                f" {again}"
            )
            return
        if job.urls.revisits.number and job.urls.requests.length:
            self._print(
                f"Job {job.store.job}: refresh {job.urls.revisits.number} revisits its pages."
            )
        elif job.place.is_refreshed and not job.is_resumed:
            self._print(
                f"Job {job.store.job}: there was no finished job to refresh;"
                " this is its first crawl."
            )
        elif job.is_resumed:
            queued = f"{job.urls.requests.length:,} URLs queued"
            first = f"; its first crawl has not ended ({queued}), and a refresh begins after that"
            self._print(
                f"Job {job.store.job} resumes after {job.ledger.fetched:,} pages"
                f"{first if job.place.is_refreshed else ''}."
            )
        elif self._mode != "table":
            self._print(f"Job {job.store.job} started.")
        if self._mode == "table":
            return
        self._figures = CrawlFigures(self.crawler, with_details=self._mode == "live")
        if self._mode == "live":
            self._begin_live()
        self._call_every(_SECONDS[self._mode], self._update)

    def _begin_live(self) -> None:
        from rich.live import Live

        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # a feed may be written to it
        )
        before = sys.stderr
        self._live.start()
        for handler in logging.root.handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is before:
                self._log_streams.append((handler, before))
                handler.setStream(sys.stderr)
        atexit.register(self._end_live)  # a second Ctrl-C ends Scrapy without a signal

    def _end_live(self) -> None:
        for handler, stream in self._log_streams:
            handler.setStream(stream)
        self._log_streams.clear()
        if self._live is not None:
            self._live.stop()
            self._live = None
            atexit.unregister(self._end_live)

    def _update(self) -> None:
        from rich.console import Group
        from rich.text import Text

        from dedup.scrapy.extensions.panel import line, panel
        from dedup.scrapy.extensions.terminal import note_width

        if self._figures is None:
            return
        snapshot = self._figures.read()
        if self._live is None:
            moment = time.strftime(self.crawler.settings["LOG_DATEFORMAT"])
            self._print(f"{moment} {line(snapshot)}")
        else:
            width, height = self._console.size
            note_width(self._live, self._width, width)
            self._width = width
            # The cursor has its own line, where the terminal's echo of ^C is erased.
            frame = Group(panel(snapshot, width=width, height=height - 1), Text())
            self._live.update(frame, refresh=True)

    def _spider_closed(self, reason: str) -> None:
        self._end_live()
        job = Job.of(self.crawler)
        if job.failure:
            if job.is_kept:
                self._print("Fix this, then rerun the same command to resume.")
            return
        account = stats_json(job, finished=time.time(), reason=reason)
        if not job.has_queue:
            del account["urls"]  # the project's own scheduler has them
        spider = self.crawler.spider
        if not is_own(spider):
            if self._mode == "table" and _is_quiet(self.crawler.settings):
                return
            name, stats = getattr(spider, "name", ""), self.crawler.stats.get_stats()
            account["items"] = item_counts(name, job.pages.judge.drops, stats)
        outside = getattr(spider, "outside", None)
        if isinstance(outside, OutsideHosts):
            account["outside"] = list(outside.sentences(job.store.stats.pages()))
        from dedup.terminal.summary_table import summary_table

        place = job.shown_place if job.is_kept else None
        self._console.print(summary_table(account, place), soft_wrap=True)

    def _print(self, message: str) -> None:
        from rich.text import Text

        self._console.print(Text(message), soft_wrap=True)


def _is_quiet(settings: BaseSettings) -> bool:
    """Does the log show warnings and errors only?"""
    level = settings["LOG_LEVEL"]
    if isinstance(level, str):
        level = logging.getLevelNamesMapping().get(level, logging.DEBUG)
    return int(level) >= logging.WARNING
