"""A crawl without a Scrapy project, for `dedup crawl`: the spiders, settings and command of one."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, NoReturn

import scrapy.core.downloader.contextfactory  # noqa: F401 -- below a deep stack it takes .2 s more
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings

from dedup.errors import StateError
from dedup.scrapy import crawl_settings
from dedup.scrapy.commands.crawl import Command
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.commands import load_addons, new_process
from dedup.scrapy.job.place import JobPlace
from dedup.scrapy.processes.team import own_team
from dedup.scrapy.wording import use_options, wording
from dedup.store import job_exists, open_store


class Crawled(NamedTuple):
    """How a crawl ended.

    Attributes:
        status: the exit status.
        place: where the job's store is; None: there was no job.
        is_part: was this one of several processes, which the same command has started?
    """

    status: int
    place: Path | str | None
    is_part: bool


def crawl(
    spider: str,
    arguments: Mapping[str, str],
    settings: Mapping[str, str],
    *,
    first_is_whole: bool = False,
) -> Crawled:
    """Crawl as `scrapy crawl` does in a project with `crawl_settings`; resume a job that exists.

    Args:
        spider: its name.
        arguments: of the spider.
        settings: they have precedence; values are as on a command line.
        first_is_whole: do the budgets limit refreshes alone, and not the first crawl of the job?

    Raises:
        ValueError: an argument or a setting is wrong.
        StateError: the job cannot be used.
    """
    use_options()
    project = Settings()
    project.setmodule(crawl_settings, priority="project")
    _check_settings(project, settings)
    command = _Crawl()
    command.settings = project
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    given = [f"-s{name}={value}" for name, value in settings.items()]
    given += [f"-a{name}={value}" for name, value in arguments.items()]
    options = parser.parse_args(given)
    command.process_options([spider], options)
    command.crawler_process = new_process(project)
    if first_is_whole and command.is_first_crawl(spider, options.spargs):
        for name in ("max_pages", "max_seconds"):
            options.spargs.pop(name, None)
    command.run([spider], options)
    place = None if command.place is None else command.place.store_place
    return Crawled(command.exitcode, place, is_part=own_team() is not None)


class _Crawl(Command):
    """The command, whose errors are the caller's."""

    def refuse(self, error: ValueError | StateError) -> NoReturn:
        if isinstance(error, StateError) and error.remedy.endswith(("job name", "new job")):
            raise ValueError(f"{error} ({wording().name})") from None
        raise error

    def is_first_crawl(self, spider: str, arguments: dict[str, str]) -> bool:
        """Has the job not been crawled to its end yet?"""
        assert self.crawler_process is not None  # noqa: S101 -- for the type checker
        crawler = Crawler(self.crawler_process.spider_loader.load(spider), self.settings)
        crawler.spider = crawler.spidercls(**arguments)
        load_addons(crawler)
        config = CrawlConfig.from_settings(crawler.settings)
        place = JobPlace(config, crawler.spider, arguments)
        if not job_exists(place.store_place):
            return True
        with open_store(place.store_place, read_only=True) as store:
            return store.meta("finished") is None and not store.refreshes.current()

    def check_place(self, place: JobPlace) -> None:
        """Check that a folder that is to hold a new job holds nothing else.

        Raises:
            StateError: it does.
        """
        folder = place.store_place
        if not isinstance(folder, Path) or not folder.is_dir() or job_exists(folder):
            return
        if any(folder.iterdir()):
            raise StateError(
                folder,
                "the folder exists and holds no job",
                f"Name the job with {wording().name}, or move the folder",
            )


def _check_settings(project: BaseSettings, given: Mapping[str, str]) -> None:
    """Check settings of Scrapy; those of this package are checked when they are read.

    Raises:
        ValueError: a setting is unknown, or its value is of another type than its default.
    """
    for name, value in given.items():
        if name.startswith("DEDUP_"):
            continue
        if name not in project:
            near = get_close_matches(name, map(str, project), n=1, cutoff=0.8)
            meant = f"did you mean {near[0]}?" if near else "neither Scrapy nor dedup has it"
            raise ValueError(f"unknown setting {name}; {meant}")
        if rule := _broken_rule(name, value, project[name]):
            raise ValueError(f"{name} must be {rule}, got {value!r}")


def _broken_rule(name: str, value: str, default: object) -> str:
    """The rule that a value breaks, by the type of the setting's default; "": none."""
    levels = logging.getLevelNamesMapping()
    if name == "LOG_LEVEL" and value not in levels:
        return f"one of {', '.join(levels)}"
    settings = BaseSettings({name: value})
    readers = (
        (bool, settings.getbool, "1 or 0"),
        ((int, float), settings.getfloat, "a number"),
        ((dict, BaseSettings), settings.getdict, "a JSON object"),
    )
    for kinds, read, rule in readers:
        if isinstance(default, kinds):
            try:
                read(name)
            except (TypeError, ValueError):
                return rule
            return ""
    return ""
