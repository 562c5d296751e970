"""Where the job of a spider is: its folder and name, and whether it is resumed."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from pathlib import Path

from scrapy.settings import BaseSettings

from dedup.detectors import default_detectors
from dedup.errors import StateError
from dedup.revisits import Schedule, SharedPassages
from dedup.scrapy.config import CrawlConfig, stages_in_use
from dedup.scrapy.job.baseline import Baseline, open_baseline
from dedup.scrapy.spiders.own import OwnSpider, is_own
from dedup.store import JobStore, job_exists, open_store, rename_job, render_mode, store_path
from dedup.store.interface import Schemes
from dedup.store.lock import lock, process_name
from dedup.store.postgresql import check_name, name_like

_GROUP_PAGES = 100
"""Pages that are committed together. A killed crawl fetches at most these again; larger groups gain
little: commits are 1% of the time."""

_GROUP_SECONDS = 1.0
"""Longest wait of a finished page for its commit: what a kill costs on a slow crawl."""


_ASKED_SHARE = 16
"""Of the visits of a refresh with a budget, this part goes to links that failed before, and as
many to those that redirected, as far as there are so many."""


class JobPlace:
    """The folder of a spider's job, before the job is opened.

    Args:
        spider: whose job it is.
        arguments: those that another project's spider was made with; None: they are not known.
    """

    def __init__(
        self, config: CrawlConfig, spider: object, arguments: Mapping[str, object] | None = None
    ) -> None:
        self._config = config
        self._own: OwnSpider | None = spider if is_own(spider) else None
        self._spider_name = str(getattr(spider, "name", ""))
        self._arguments = arguments if self._own is None else self._own.job_arguments

    @property
    def is_kept(self) -> bool:
        """Is the job kept when the crawl has ended?"""
        config = self._config
        return bool(config.job_dir or config.keep_jobs or config.store or self._given_name)

    @property
    def is_restarted(self) -> bool:
        """Is an existing job to be renamed, and a new one started?"""
        if self._config.team is not None:  # the process that started this one has done it
            return False
        return self._config.restart or (self._own is not None and self._own.restart)

    @property
    def is_refreshed(self) -> bool:
        """Does the crawl visit the pages of a finished job again?"""
        return self._own is not None and self._own.refresh

    @property
    def has_visit_budget(self) -> bool:
        """Does a refresh visit only what it has the budget for?"""
        own = self._own
        return own is not None and own.refresh and bool(own.max_pages or own.max_seconds)

    def begin_refresh(self, store: JobStore) -> Schedule | None:
        """Queue the pages of a finished job for a visit; return their schedule, if there is one.

        Links that failed or redirected are asked for again, too. With a budget, these are start
        URLs that redirected, and a part of the others, as many as can be fetched beside the pages
        at least.
        """
        if self._own is None or not self.has_visit_budget:
            with store.unit():
                store.refreshes.begin()
                store.urls.queue_errors()
                store.urls.queue_redirects()
            return None
        known = store.refreshes.histories
        began = [*known.began(), time.time()]
        passages = SharedPassages(known.texts())
        schedule = Schedule(known.histories(), began, known.visits(), passages)
        order = schedule.order()
        number = store.refreshes.current() + 1
        n_visits = self._own.max_pages or (store.refreshes.fetched() if number > 1 else 0)
        n_asked = n_visits * number // _ASKED_SHARE - n_visits * (number - 1) // _ASKED_SHARE
        n_asked = max(n_asked, n_visits - len(order))
        with store.unit():
            store.refreshes.begin(order[: self._own.max_pages or None])
            if n_asked:
                store.urls.queue_errors(n_asked)
                store.urls.queue_redirects(n_asked, first=number * n_asked)
            store.urls.queue_redirects(urls=self._own.first_urls())
        return schedule

    @property
    def max_visits(self) -> int:
        """How many pages a refresh visits; 0: no limit."""
        return 0 if self._own is None else self._own.max_pages

    @property
    def is_always_new(self) -> bool:
        """Does each crawl of the spider start a new job?"""
        return self._own is not None and self._own.always_new

    @cached_property
    def store_place(self) -> Path | str:
        """Where the store is: the folder, or `postgresql://…/DATABASE#NAME`.

        Raises:
            ValueError: a name was given that no job in PostgreSQL can have.
        """
        if not self._config.store:
            return self.folder
        name = self._given_name
        if name:
            check_name(name)
        else:
            name = name_like(self._made_name)
        place = self._place_in_store(name)
        if self._given_name or not self.is_always_new:
            return place
        later = (f"{place}-{number}" for number in count(2))
        return next(each for each in chain([place], later) if not job_exists(each))

    @cached_property
    def folder(self) -> Path:
        """`JOBDIR`, or a folder by the given name, or by a name made from the spider's arguments.

        If the job is not kept: a new temporary folder. If its store is in PostgreSQL: one in which
        this process alone writes.
        """
        if self._config.team is not None:
            return Path(self._config.team.folder)
        if self._config.job_dir:
            return Path(self._config.job_dir)
        if self._config.store:
            name = str(self.store_place).rpartition("#")[2]
            return Path(self._config.jobs_dir, name, file_name(process_name().replace(":", "-")))
        if not self.is_kept:
            return Path(tempfile.mkdtemp(prefix="scrapy-dedup-"))
        folder = Path(self._config.jobs_dir, file_name(self._given_name or self._made_name))
        if self._given_name or not self.is_always_new:
            return folder
        later = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
        return next(path for path in chain([folder], later) if not path.exists())

    def is_finished(self) -> bool:
        """Is there a finished job that this crawl must not change?"""
        if not self.is_kept or self.is_restarted or self.is_always_new or self.is_refreshed:
            return False
        if not job_exists(self.store_place):
            return False
        try:
            store = open_store(self.store_place, read_only=True)
        except StateError:  # opening the job raises it again
            return False
        with store:
            is_left = store.urls.count_within(self._config.depth_limit)
            return store.meta("finished") is not None and not is_left

    def open_store(self) -> JobStore:
        """Open the job's store, or make a new one.

        Raises:
            StateError: it cannot be used.
        """
        return open_store(
            self.store_place,
            is_shared=self._config.is_shared,
            lease_seconds=self._config.worker_lease_seconds,
            keep_bodies=False,  # StorePage may switch it on
            group_units=_GROUP_PAGES,
            group_seconds=_GROUP_SECONDS,
            is_durable=self.is_kept,
        )

    def check(self, store: JobStore, settings: BaseSettings) -> None:
        """Store the spider, arguments and settings of a new job; compare those of an existing one.

        Raises:
            SchemeError: the job has another spider, other arguments or other settings, or an
                earlier crawl has other settings.
            StateError, ValueError: see `open_baseline`.
        """
        self.open_baseline(store, settings).close()  # first: nothing is stored of a wrong one
        store.check_schemes({"URL": {"rules": list(self._config.url_rules.names)}}, of="URLs")
        store.check_schemes({"setting": self._config.verdict_settings}, of="verdicts")
        if self._arguments is not None:
            named = {name: str(value) for name, value in self._arguments.items()}
            store.check_schemes(
                {"spider": {"name": self._spider_name}, "spider argument": named}, of="crawl"
            )
        self._check_detectors(store, settings)
        self._check_routes(store)

    def open_baseline(self, store: JobStore, settings: BaseSettings) -> Baseline:
        """Open the earlier crawls that the job is compared with.

        Raises:
            StateError, ValueError: see `baseline.open_baseline`.
        """
        schemes = self._schemes_in_use(store, settings)
        return open_baseline(
            store, self._config.baseline, schemes, extractor=self._config.extractor
        )

    @property
    def has_scrapys_queue(self) -> bool:
        """Has Scrapy's own scheduler begun the crawl in `JOBDIR`, and is the crawl to go on?"""
        if not self._config.job_dir or (self.is_restarted and job_exists(self.store_place)):
            return False
        return Path(self._config.job_dir, "requests.queue").exists()

    def check_requests(self) -> None:
        """Check that Scrapy has not left pickled requests of this crawl in `JOBDIR`.

        Pickles are not read: nothing in a job's folder may run as code.

        Raises:
            StateError: there are pickled requests.
        """
        if not self.has_scrapys_queue or job_exists(self.store_place):
            return
        queue = Path(self._config.job_dir, "requests.queue")
        if any(path.is_file() and path.name != "active.json" for path in queue.rglob("*")):
            raise StateError(
                self._config.job_dir,
                "the crawl in this JOBDIR was started without the add-on, and its requests are"
                " pickles, which could run code",
                "Set another JOBDIR, finish the crawl without the add-on, or, if you trust the"
                ' folder, set SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleLifoDiskQueue" and'
                ' SCHEDULER_START_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"',
            )

    def check_queue(self) -> None:
        """Check that the requests of the job can be queued in its store.

        Raises:
            StateError: Scrapy's own scheduler has queued requests in `JOBDIR`.
        """
        if self.has_scrapys_queue:
            raise StateError(
                self._config.job_dir,
                "the crawl in this JOBDIR was started by Scrapy's own scheduler",
                "Set another JOBDIR, or resume with the settings it was started with",
            )

    def check_free(self) -> None:
        """Check that no other process uses the job.

        Raises:
            StateError: another process uses it, or the store cannot be used.
        """
        if isinstance(self.store_place, str):
            if job_exists(self.store_place):
                open_store(self.store_place, must_exist=True).close()
        elif job_exists(self.store_place):
            lock(store_path(self.store_place)).release()

    def move_aside(self) -> str | None:
        """Rename an existing job and return its new location; None: there is no job.

        Raises:
            StateError: a process uses the job.
        """
        if not job_exists(self.store_place):
            return None
        if isinstance(self.store_place, str):
            return rename_job(self.store_place)
        held = lock(store_path(self.store_place))
        try:
            name = self.folder.name
            later = (self.folder.with_name(f"{name}.old-{number}") for number in count(1))
            target = next(path for path in later if not path.exists())
            self.folder.rename(target)
        finally:
            held.release()
        return str(target)

    @property
    def _given_name(self) -> str:
        """The job name that the user gave. Arguments `job` of other spiders do not count."""
        return (self._own.job if self._own is not None else "") or self._config.job

    @cached_property
    def _made_name(self) -> str:
        if self._own is not None:
            former = self._own.former_job_name
            return former if former and self._is_job(former) else self._own.job_name
        if not self._arguments:
            return self._spider_name
        text = json.dumps(self._arguments, sort_keys=True, default=str)
        return f"{self._spider_name}-{sha256(text.encode()).hexdigest()[:8]}"

    def _is_job(self, name: str) -> bool:
        if self._config.store:
            return job_exists(self._place_in_store(name_like(name)))
        return job_exists(Path(self._config.jobs_dir, file_name(name)))

    def _place_in_store(self, name: str) -> str:
        return f"{self._config.store}#{name}"

    def _check_detectors(self, store: JobStore, settings: BaseSettings) -> None:
        """Check the detectors of the pipelines that are in use.

        The pipelines check them too, but only after the spider is opened.
        """
        if store.meta("schemes of detectors") is not None:  # else the pipelines store them
            store.check_schemes(self._schemes_in_use(store, settings))

    def _check_routes(self, store: JobStore) -> None:
        """Check that pages at routes, which look the same to a server, are rendered as before."""
        before = render_mode(store)
        if self._own is None or self._config.has_routes or before == "off":
            return
        if store.urls.has_routes():
            raise StateError(
                store.location,
                "it has pages at routes (#/path), which only a browser tells apart",
                f"Set DEDUP_RENDER={before}, or crawl into a new job",
            )

    def _schemes_in_use(self, store: JobStore, settings: BaseSettings) -> Schemes:
        """The schemes of the detectors of the pipelines that are in use."""
        in_use = stages_in_use(settings, self._config)
        cascade = default_detectors(store.document, self._config.detection)
        return {each.stage: each.scheme for each in cascade if each.stage in in_use}


def file_name(name: str) -> str:
    """A name for a folder without special characters; equal names give equal folders.

    >>> file_name("docs.example.org")
    'docs.example.org'
    >>> file_name("../../etc")
    'etc-74ccf3c5'
    """
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:80].strip(".-")
    if safe == name != "":
        return name
    # Bytes of the command line that are not UTF-8 become lone surrogates.
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe or 'job'}-{digest}"
