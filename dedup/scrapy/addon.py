"""The add-on, `ADDONS = {"dedup.scrapy.DedupAddon": 500}`: switches all components on."""

from __future__ import annotations

import logging
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions import spiderstate
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object

from dedup.errors import StateError
from dedup.files import check_plain, read_json
from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig, unknown_settings
from dedup.scrapy.crawl_settings import FEED_EXPORT_FIELDS
from dedup.scrapy.dupefilter import CanonicalDupeFilter, DedupDupeFilter
from dedup.scrapy.extensions.job_files import JobFiles
from dedup.scrapy.extensions.membership import Membership
from dedup.scrapy.extensions.progress import Progress
from dedup.scrapy.extensions.prometheus import PrometheusFile
from dedup.scrapy.extensions.spider_state import SpiderState
from dedup.scrapy.extensions.stopping import Stopping
from dedup.scrapy.extensions.teamwork import Teamwork
from dedup.scrapy.extensions.waiting import WaitingPages
from dedup.scrapy.frontier.disk_queue import JsonFifoDiskQueue, JsonLifoDiskQueue
from dedup.scrapy.internals.commands import is_crawl, spider_arguments
from dedup.scrapy.internals.downloads import Downloader
from dedup.scrapy.internals.refusal import refusing
from dedup.scrapy.internals.suffixes import use_shipped_suffixes
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.middlewares.callback_outputs import WatchOutputs
from dedup.scrapy.middlewares.depth import NoteTooDeep
from dedup.scrapy.middlewares.encoding import NoteEncoding
from dedup.scrapy.middlewares.redirect import RedirectGuard
from dedup.scrapy.middlewares.resume import ResumeMiddleware
from dedup.scrapy.pipelines import (
    ExactContent,
    ExtractText,
    FollowItem,
    NearDuplicate,
    PageFields,
    StorePage,
)
from dedup.scrapy.scheduler import DedupScheduler
from dedup.scrapy.spiders.own import is_own

logger = logging.getLogger(__name__)

_EXTENSIONS = JobFiles, Membership, Progress, PrometheusFile, Stopping, Teamwork, WaitingPages

_SCRAPYS = ("requests.*", "requests.queue/**/*")
"""What Scrapy's own scheduler and filter have in JOBDIR."""


class DedupAddon:
    """Sets the components of this package; the project's own settings have precedence.

    It changes crawls alone: `scrapy shell`, `fetch`, `parse`, `check` and `bench`, and crawlers
    that a test makes without a spider, work as without the add-on.

    Attributes:
        arguments: those that the spider was made with; None: they are not known.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._spider = crawler.spider
        self.arguments = spider_arguments(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DedupAddon:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        for name in filter(str.isupper, dir(default_settings)):
            settings.setdefault(name, getattr(default_settings, name), "default")
        if not is_crawl(self._crawler):
            settings.set("DEDUP_ENABLED", False, "cmdline")
            settings.set("DEDUP_ALLOW_PRIVATE", True, "cmdline")  # the user names each URL
        if not settings.getbool("DEDUP_ENABLED"):
            raise NotConfigured
        for pipeline, order in (
            (FollowItem, -1_000_000),  # before all others
            (ExtractText, 100),
            (ExactContent, 200),
            (NearDuplicate, 300),
            (StorePage, 900),
        ):
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", pipeline, order)
        if is_own(self._spider) and not settings.getlist("FEED_EXPORT_FIELDS"):
            settings.set("FEED_EXPORT_FIELDS", FEED_EXPORT_FIELDS, "addon")
        if settings.getlist("DEDUP_PAGE_FIELDS"):
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", PageFields, 310)
            if is_own(self._spider):
                _add_to_feeds(settings)
        if is_own(self._spider) and settings.getbool("DEDUP_STORE_BODIES"):
            # It gets the responses just before HttpCompressionMiddleware (590).
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES", NoteEncoding, 595
            )
        for extension in _EXTENSIONS:
            settings.setdefault_in_component_priority_dict("EXTENSIONS", extension, 0)
        with refusing():
            self._check_names(settings)
            config = CrawlConfig.from_settings(settings)
            _keep_data_alone(settings, config.job_dir)
        use_shipped_suffixes()
        place = JobPlace(config, self._spider, self.arguments)
        if settings["SCHEDULER_DISK_QUEUE"] is JsonLifoDiskQueue:
            with refusing():
                place.check_requests()
                _check_priorities(settings, config.job_dir)
        if config.is_url_enabled:
            self._filter_urls(settings, place)
        if place.is_finished():
            _keep_feeds(settings)

    def _check_names(self, settings: BaseSettings) -> None:
        for unknown in unknown_settings(settings):
            if is_own(self._spider):
                raise ValueError(unknown)
            logger.warning("%s", unknown)  # it may be another package's

    def _filter_urls(self, settings: BaseSettings, place: JobPlace) -> None:
        """Filter URLs by their canonical form; if the job is kept, queue them in its store.

        A job that is not kept cannot be resumed, so Scrapy's own scheduler is enough for it. What
        another scheduler has in `JOBDIR` belongs to Scrapy's dupefilter, which then stays, too.
        """
        has_other_queue = place.has_scrapys_queue or _is_of_project(settings, "SCHEDULER")
        if not is_own(self._spider) and (has_other_queue or not place.is_kept):
            if place.has_scrapys_queue:
                logger.info(
                    "JOBDIR has requests queued by Scrapy's own scheduler, which continues with"
                    " them; with another JOBDIR, requests are queued in the job's store"
                )
            if not settings["JOBDIR"] and not settings.getpriority("DUPEFILTER_CLASS"):
                settings.set("DUPEFILTER_CLASS", CanonicalDupeFilter, "addon")
            return
        with refusing():
            place.check_queue()
        settings.set("SCHEDULER", DedupScheduler, "addon")
        settings.set("DUPEFILTER_CLASS", DedupDupeFilter, "addon")
        settings.set("DOWNLOADER", Downloader, "addon")
        # It gets the responses just before RedirectMiddleware (600).
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RedirectGuard, 605)
        for middleware, order in (
            (ResumeMiddleware, 50),
            (WatchOutputs, 50),
            (NoteTooDeep, 950),  # it gets the output just before DepthMiddleware (900)
        ):
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", middleware, order)


def _keep_data_alone(settings: BaseSettings, job_dir: str) -> None:
    """Have Scrapy's own components keep in JOBDIR, and read from there, JSON and no pickles.

    A project that names Scrapy's extension in EXTENSIONS, or a disk queue, has what it names.

    Raises:
        StateError: a file of Scrapy's scheduler is a link or a pipe, or its folder is a file.
    """
    settings.set("SCHEDULER_DISK_QUEUE", JsonLifoDiskQueue, "addon")
    settings.set("SCHEDULER_START_DISK_QUEUE", JsonFifoDiskQueue, "addon")
    named = {load_object(name) for name in settings.getdict("EXTENSIONS")}
    if spiderstate.SpiderState not in named:
        settings.set_in_component_priority_dict("EXTENSIONS", spiderstate.SpiderState, None)
        settings.setdefault_in_component_priority_dict("EXTENSIONS", SpiderState, 0)
    if job_dir:
        found = [path for name in _SCRAPYS for path in Path(job_dir).glob(name)]
        check_plain(*(path for path in found if path.is_symlink() or not path.is_dir()))
        queue = Path(job_dir, "requests.queue")
        if queue.is_file():
            raise StateError(queue, "expected a folder, found a file", "Remove or move it")


def _check_priorities(settings: BaseSettings, job_dir: str) -> None:
    """Check what Scrapy's scheduler has noted of its queues: their files are named by it.

    Raises:
        StateError: it is not what Scrapy writes there.
    """
    path = Path(job_dir, "requests.queue", "active.json")
    if not job_dir or not path.exists():
        return
    stored = read_json(path)
    kind = load_object(settings["SCHEDULER_PRIORITY_QUEUE"])
    by_host = stored.values() if isinstance(stored, dict) else ()
    found = list(by_host) if issubclass(kind, DownloaderAwarePriorityQueue) else [stored]
    is_known = all(isinstance(each, list) and all(type(n) is int for n in each) for each in found)
    if stored and not (found and is_known):
        raise StateError(
            path,
            f"expected the priorities of a {kind.__name__}, found {stored!r:.80}",
            "Use the SCHEDULER_PRIORITY_QUEUE that the crawl started with, or another JOBDIR",
        )


def _is_of_project(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["addon"]


def _add_to_feeds(settings: BaseSettings) -> None:
    """Add the fields of `DEDUP_PAGE_FIELDS` to the feeds' fields that the project sets."""
    name = "FEED_EXPORT_FIELDS"
    fields, priority = settings.getlist(name), settings.getpriority(name)
    if fields and priority is not None and priority <= SETTINGS_PRIORITIES["project"]:
        added = [str(each).strip() for each in settings.getlist("DEDUP_PAGE_FIELDS")]
        settings.set(name, list(dict.fromkeys([*fields, *added])), priority)


def _keep_feeds(settings: BaseSettings) -> None:
    """Let the crawl of a finished job, which has no items, write no empty feeds."""
    feeds = {
        uri: {**options, "store_empty": False} for uri, options in settings.getdict("FEEDS").items()
    }
    settings.set("FEEDS", feeds, "cmdline")
