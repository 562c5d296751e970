"""Extension: how the crawl goes, on standard error, and a table when it ends."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.job import Job
from crawler.looping import repeat
from dedup.report.table import summary_table

_SECONDS = {"live": 0.25, "plain": 60.0}


class Progress:
    """Prints a line that renews itself (`live`) or a line a minute (`plain`), then the table."""

    def __init__(self, crawler: Crawler) -> None:
        mode = Job.of(crawler).config.progress if crawler.spider else "off"
        if mode == "off":
            raise NotConfigured
        self._crawler = crawler
        self._console = Console(stderr=True, highlight=False)
        self._mode = ("live" if self._console.is_terminal else "plain") if mode == "auto" else mode
        self._live: Live | None = None
        self._task: Any = None
        self._began = time.monotonic()
        self._fetched_before = 0
        crawler.signals.connect(self._spider_opened, signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Progress:
        return cls(crawler)

    def _spider_opened(self) -> None:
        job = Job.of(self._crawler)
        self._began, self._fetched_before = time.monotonic(), job.fetched
        if job.moved_to:
            self._print(f"The job that was here is kept in {job.moved_to}")
        if job.is_finished:
            self._print(
                f"Job {job.folder} is finished; nothing is fetched again."
                " For a new crawl: -a restart=1, or another name with -a job=NAME"
            )
        elif job.refresh and job.requests.length:
            self._print(f"Job {job.folder}: refresh {job.refresh} visits its pages again.")
        elif job.is_resumed:
            self._print(f"Job {job.folder} goes on after {job.fetched:,} pages.")
        if self._mode == "live":
            self._live = Live(
                self._line(), console=self._console, auto_refresh=False, transient=True
            )
            self._live.start()
        self._task = repeat(self._update, _SECONDS[self._mode])

    def _update(self) -> None:
        if self._live is None:
            self._console.print(self._line())
        else:
            self._live.update(self._line(), refresh=True)

    def _line(self) -> Text:
        job, stats = Job.of(self._crawler), self._crawler.stats
        seconds = max(time.monotonic() - self._began, 1e-9)
        counts = {
            "fetched": job.fetched,
            "unique": stats.get_value("dedup/pages/unique", 0),
            "duplicates": _total(stats.get_stats(), "dedup/pages/duplicate/"),
            "URLs filtered": stats.get_value("dedup/url/filtered", 0),
            "queued": job.requests.length,
        }
        parts = [f"{value:,} {name}" for name, value in counts.items()]
        rate = (job.fetched - self._fetched_before) / seconds
        return Text(", ".join([*parts, f"{rate:,.1f} pages/s"]), no_wrap=True, overflow="ellipsis")

    def _spider_closed(self, reason: str) -> None:
        if self._task is not None:
            self._task.stop()
        if self._live is not None:
            self._live.stop()
        job = Job.of(self._crawler)
        if job.failure:
            self._print("The same command goes on from here once that is mended.")
            return
        account = job.account(finished=time.time(), reason=reason)
        self._console.print(summary_table(account, job.folder))

    def _print(self, message: str) -> None:
        self._console.print(Text(message))


def _total(stats: dict[str, Any], prefix: str) -> int:
    return sum(value for name, value in stats.items() if name.startswith(prefix))
