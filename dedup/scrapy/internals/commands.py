"""Commands, add-ons and settings: who made a crawler, and with what."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrapy import crawler as crawlers
from scrapy.commands import ScrapyCommand
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import BaseSettings, Settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import build_from_crawler, load_object

if TYPE_CHECKING:
    from scrapy.crawler import CrawlerProcessBase  # not in Scrapy 2.13

_ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def is_crawl(crawler: Crawler) -> bool:
    """Is this a crawl? Other commands of Scrapy, and tests, use a crawler for something else.

    `scrapy shell` and `get_crawler` apply the settings before there is a spider. `fetch`, `view`,
    `parse` and `check` give a spider another `start`; `bench` has a spider of its own.
    """
    if crawler.spider is None:
        return False
    spider_class = crawler.spidercls
    modules = spider_class.__module__, getattr(spider_class.start, "__module__", "")
    return not any(module.startswith("scrapy.commands.") for module in modules)


def spider_arguments(crawler: Crawler) -> Mapping[str, object] | None:
    """The arguments that the crawler's spider was made with; None: they are not known.

    Scrapy does not keep them, and a spider need not. While add-ons are loaded, `Crawler.crawl` has
    them as local variables: this looks for its frame among the callers, and changes nothing.
    """
    frame = sys._getframe(1) if hasattr(sys, "_getframe") else None
    while frame is not None:
        if frame.f_code.co_name in {"crawl", "crawl_async"}:
            names = frame.f_locals
            if names.get("self") is crawler and isinstance(names.get("kwargs"), dict):
                return dict(names["kwargs"])
        frame = frame.f_back
    return None


def loaded_addons(crawler: Crawler) -> list[object]:
    """The add-ons of a crawler; none where the crawler was made by hand."""
    return list(getattr(getattr(crawler, "addons", None), "addons", []))


def load_addons(crawler: Crawler) -> None:
    """Let the add-ons change the crawler's settings, as `Crawler.crawl` does later."""
    crawler.addons.load_settings(crawler.settings)


def new_crawler(command: ScrapyCommand, spider_name: str) -> Crawler:
    """The crawler of a command's process for the spider of that name."""
    if hasattr(command, "_create_crawler"):
        crawler: Crawler = command._create_crawler(spider_name)
        return crawler
    process = command.crawler_process
    if process is None:
        raise ValueError("command must have a crawler process, got none")
    return process.create_crawler(spider_name)  # Scrapy 2.13


def new_process(settings: Settings) -> CrawlerProcessBase:
    """The crawler process of a command, as `scrapy` makes it on its own command line."""
    if not hasattr(crawlers, "AsyncCrawlerProcess"):  # Scrapy 2.13
        return CrawlerProcess(settings)
    is_other = settings.getbool("FORCE_CRAWLER_PROCESS")
    is_asyncio = settings["TWISTED_REACTOR"] == _ASYNCIO and not is_other
    if is_asyncio or not settings.getbool("TWISTED_REACTOR_ENABLED", default=True):
        return crawlers.AsyncCrawlerProcess(settings)
    return CrawlerProcess(settings)


def make_parts(crawler: Crawler) -> None:
    """Make those parts of a crawler that a job needs, for a crawler that is not to run."""
    settings = crawler.settings
    crawler.stats = load_object(settings["STATS_CLASS"])(crawler)
    fingerprinter = load_object(settings["REQUEST_FINGERPRINTER_CLASS"])
    crawler.request_fingerprinter = build_from_crawler(fingerprinter, crawler)


def forget_extension(settings: BaseSettings, name: str) -> None:
    """Have an extension of Scrapy's own not loaded: None in `EXTENSIONS` would import it, too."""
    extensions = settings["EXTENSIONS_BASE"]
    if name in extensions:
        del extensions[name]


def has_not_begun(command: ScrapyCommand) -> bool:
    """Did the crawl of a command's process end before its spider was opened?"""
    return command.crawler_process is not None and command.crawler_process.bootstrap_failed


def components(settings: BaseSettings, name: str) -> list[object]:
    """The classes that a setting of components, such as `ITEM_PIPELINES`, switches on, in order."""
    if hasattr(settings, "get_component_priority_dict_with_base"):
        priorities = settings.get_component_priority_dict_with_base(name)
    else:  # Scrapy 2.13
        priorities = settings.getwithbase(name)
    return [load_object(each) for each in build_component_list(priorities)]
