"""`scrapy crawl`: checks arguments, settings and the job before the crawl."""

from __future__ import annotations

import argparse
import gc
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from scrapy import signals
from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from dedup.errors import StateError
from dedup.scrapy.config import CrawlConfig, names_processes
from dedup.scrapy.feeds import continue_feeds
from dedup.scrapy.internals.commands import (
    forget_extension,
    has_not_begun,
    load_addons,
    new_crawler,
)
from dedup.scrapy.internals.reactor import (
    end_when_killed,
    leave_name_servers_unanswered,
    use_monotonic_timers,
)
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.processes.team import Team, own_team
from dedup.scrapy.processes.whole_job import WholeJob
from dedup.scrapy.spiders.own import is_own_class

_REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"
"""Scrapy loads it, and aiohttp for it, in a quarter of a second, even where it is switched off."""

_KILL_SECONDS = 3.0
"""After a second Ctrl-C: stores and feeds are closed in less."""

_GC_THRESHOLDS = 20_000, 50, 50
"""A page is thousands of objects, few of them in reference cycles; with Python's own thresholds a
tenth of the crawl's time goes by in search of these."""


class Command(CrawlCommand):
    """Says in one sentence what is wrong with an argument, a setting or the job's store.

    Exit codes: 0, done or stopped as asked; 1, a problem: no page was found, the store failed, a
    feed or the report could not be written; 2, not started; 130, ended by a second
    Ctrl-C.

    Attributes:
        place: of the job, if the crawl was checked before it began.
    """

    place: JobPlace | None = None

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        team = own_team()
        if team is not None:
            opts.pidfile = None  # it names the process that started this one
        super().process_options(args, opts)
        if team is not None and self.settings is not None:
            team.listen()
            self.settings.setdict(_settings_in(team, self.settings), priority="cmdline")
        elif self.settings is not None and names_processes(self.settings):
            _append_to_log(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or self.crawler_process is None:
            super().run(args, opts)  # it says what is wrong
            return
        if own_team() is None:
            try:
                job = self._check(args[0], opts.spargs)
            except (ValueError, StateError) as error:
                self.refuse(error)
            if job is not None:
                self.exitcode = job.crawl()
                return
        if not self.crawler_process.settings.getbool("REMOTE_CONTROL_ENABLED"):
            forget_extension(self.crawler_process.settings, _REMOTE_CONTROL)
        use_monotonic_timers()
        end_when_killed(self.crawler_process, _KILL_SECONDS)
        crawler = new_crawler(self, args[0])
        crawler.signals.connect(_be_brief_about_stores, signals.engine_started)
        crawler.signals.connect(leave_name_servers_unanswered, signals.engine_started)
        self.crawler_process.crawl(crawler, **opts.spargs)
        gc.freeze()  # modules are never freed
        gc.set_threshold(*_GC_THRESHOLDS)
        self.crawler_process.start()
        self.exitcode = 1 if has_not_begun(self) else _exit_code(crawler)

    def refuse(self, error: ValueError | StateError) -> NoReturn:
        """Do not start, for this reason."""
        raise UsageError(str(error), print_help=False) from None

    def check_place(self, place: JobPlace) -> None:
        """Check where the job of a spider of the project's own is to be."""

    def _check(self, name: str, arguments: dict[str, str]) -> WholeJob | None:
        """Check the crawl; return its job if several processes are to crawl it."""
        assert self.crawler_process is not None  # noqa: S101 -- for the type checker
        settings = self.crawler_process.settings
        try:
            spider_class = self.crawler_process.spider_loader.load(name)
        except KeyError:
            known = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            raise UsageError(
                f"unknown spider {name!r}; available: {known}", print_help=False
            ) from None
        # Not by `create_crawler`: in Scrapy 2.13 its first crawler installs the reactor.
        crawler = Crawler(spider_class, settings)
        if not (is_own_class(spider_class) or names_processes(crawler.settings)):
            return None  # the crawl itself checks the rest
        if is_own_class(spider_class):
            crawler.spider = spider_class(**arguments)
        else:
            crawler.spider = spider_class.from_crawler(crawler, **arguments)
        load_addons(crawler)
        config = CrawlConfig.from_settings(crawler.settings)
        if not config.is_enabled:
            return None
        self.place = place = JobPlace(config, crawler.spider, arguments)
        if is_own_class(spider_class):
            self.check_place(place)
        if config.processes > 1:
            if not place.is_finished():
                return WholeJob(crawler, config, arguments)
            settings.set("DEDUP_PROCESSES", 1, "cmdline")  # there is nothing to crawl
        if is_own_class(spider_class):
            _check_job(place, crawler, settings)
        return None


def _append_to_log(settings: BaseSettings) -> None:
    """Let the processes append to one log, which begins anew if the settings say so."""
    file = settings["LOG_FILE"]
    if file and not settings.getbool("LOG_FILE_APPEND"):
        with suppress(OSError), Path(file).open("wb"):  # Scrapy reports errors
            settings.set("LOG_FILE_APPEND", True, "cmdline")


def _settings_in(team: Team, settings: BaseSettings) -> dict[str, object]:
    """The settings of one of several processes: the one that started it writes feed and table."""
    log_format = settings["LOG_FORMAT"]
    said = f"process {team.number}: %(message)s"
    return {
        "FEEDS": {},
        "DEDUP_PROGRESS": "off",
        "LOG_FILE_APPEND": True,
        "LOG_FORMAT": log_format.replace("%(message)s", said, 1),
    }


def _exit_code(crawler: Crawler) -> int:
    if crawler.stats.get_value("finish_reason") is None:
        return 130  # a second Ctrl-C ends Scrapy without a signal
    job = Job.opened(crawler)
    troubles = [] if job is None else job.troubles
    return 1 if troubles or _has_lost_feed(crawler) else 0


def _has_lost_feed(crawler: Crawler) -> bool:
    """Is a feed with items missing? Scrapy counts the feeds that it has stored."""
    stats = crawler.stats
    prefix = "feedexport/success_count/"
    counts = stats.get_stats().items()
    n_stored = sum(count for name, count in counts if name.startswith(prefix))
    n_feeds = len(crawler.settings.getdict("FEEDS"))
    return bool(stats.get_value("item_scraped_count")) and n_stored < n_feeds


def _be_brief_about_stores() -> None:
    """After an error of the store, log one sentence instead of a traceback for each page."""
    for handler in logging.root.handlers:
        handler.addFilter(_is_no_state_error)


def _is_no_state_error(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, StateError) and "StateError" not in record.getMessage()


def _check_writable(folder: Path) -> None:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise StateError(folder, "the folder cannot be written", "Choose another folder")


def _check_job(place: JobPlace, crawler: Crawler, process_settings: BaseSettings) -> None:
    if not place.is_kept or place.is_always_new:  # it has a new folder each time
        return
    _check_writable(place.folder)
    if place.is_restarted:
        place.check_free()
        return
    with place.open_store() as store:
        place.check(store, crawler.settings)
        if store.meta("started") and crawler.settings.getdict("FEEDS"):
            continue_feeds(process_settings, store)
