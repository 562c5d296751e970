"""`scrapy crawl`, which first looks whether the job can be used at all."""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from dedup.detectors import default_detectors
from dedup.errors import StateError
from dedup.scrapy.config import STORE_NAME, CrawlConfig
from dedup.scrapy.feeds import continue_feeds
from dedup.scrapy.job.job import Job
from dedup.scrapy.middlewares.outages import Outages
from dedup.scrapy.pipelines import stages_in_use
from dedup.store.database import lock


class Command(CrawlCommand):
    """Says in one sentence what is wrong with an argument, a setting or the job's store."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) == 1 and self.crawler_process is not None:
            self._check(args[0], opts.spargs)
        # A host that cannot be reached is no fault of the program: the message is enough.
        robots_logger = logging.getLogger("scrapy.downloadermiddlewares.robotstxt")
        robots_logger.addFilter(_drop_traceback)
        super().run(args, opts)
        if Job.has_any_failed or Outages.has_given_up:
            self.exitcode = 1

    def _check(self, name: str, arguments: dict[str, str]) -> None:
        assert self.crawler_process is not None  # noqa: S101 -- for the type checker
        try:
            spider_class = self.crawler_process.spider_loader.load(name)
        except KeyError:
            known = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            raise UsageError(
                f"there is no spider {name!r}; there are: {known}", print_help=False
            ) from None
        # Not by `create_crawler`: Scrapy 2.13 lets the first that it makes install the reactor.
        crawler = Crawler(spider_class, self.crawler_process.settings)
        crawler.addons.load_settings(crawler.settings)
        settings = crawler.settings
        if not settings.getbool("DEDUP_ENABLED") or not hasattr(spider_class, "page_request"):
            return
        try:
            _check_job(settings, spider_class(**arguments), self.crawler_process.settings)
        except (ValueError, StateError) as error:
            raise UsageError(str(error), print_help=False) from None


def _drop_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True


def _check_writable(folder: Path) -> None:
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise StateError(folder, "the folder cannot be written", "Choose another folder")


def _check_job(settings: BaseSettings, spider: object, process_settings: BaseSettings) -> None:
    config = CrawlConfig.from_settings(settings)
    folder = config.folder(spider)
    _check_writable(folder)
    if getattr(spider, "always_new", False):  # the folder is another one each time
        return
    if getattr(spider, "restart", False):
        if (folder / STORE_NAME).exists():
            lock(folder / STORE_NAME).close()
        return
    store = config.open_store(folder)
    try:
        in_use = stages_in_use(settings)
        detectors = default_detectors(store.document, config.detection)
        store.check_schemes(
            {detector.stage: detector.scheme for detector in detectors if detector.stage in in_use}
        )
        if store.database.meta("started") and settings.getdict("FEEDS"):
            continue_feeds(process_settings, store)
    finally:
        store.close()
