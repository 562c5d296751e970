"""`scrapy crawl`, which first looks whether the job can be used at all."""

from __future__ import annotations

import argparse

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.config import CrawlConfig
from crawler.job import STORE_NAME
from dedup.errors import StateError


class Command(CrawlCommand):
    """Says in one sentence what is wrong with an argument, a setting or the job's store."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) == 1 and self.crawler_process is not None:
            self._check(args[0], opts.spargs)
        super().run(args, opts)

    def _check(self, name: str, arguments: dict[str, str]) -> None:
        assert self.crawler_process is not None  # noqa: S101 -- for the type checker
        try:
            spider_class = self.crawler_process.spider_loader.load(name)
        except KeyError:
            known = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            raise UsageError(
                f"there is no spider {name!r}; there are: {known}", print_help=False
            ) from None
        settings = self.crawler_process.settings.copy()
        spider_class.update_settings(settings)
        if not settings.getbool("DEDUP_ENABLED") or not hasattr(spider_class, "page_request"):
            return
        try:
            self._check_job(settings, spider_class(**arguments))
        except (ValueError, StateError) as error:
            raise UsageError(str(error), print_help=False) from None

    def _check_job(self, settings: Settings, spider: object) -> None:
        config = CrawlConfig.from_settings(settings)
        folder = config.folder(spider)
        if (folder / STORE_NAME).exists():
            config.open_store(folder / STORE_NAME).close()
