"""What the content pipelines share: look for an original, and drop the item for it."""

from __future__ import annotations

from typing import ClassVar, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from dedup.document import Match
from dedup.scrapy.job.job import Job


class DuplicatePage(DropItem):
    """The page is a duplicate; `match` names the original, stage, distance and resemblance."""

    def __init__(self, match: Match) -> None:
        super().__init__(f"duplicate of page {match.original} ({match.stage})", log_level="DEBUG")
        self.match = match


class ExactDuplicate(DuplicatePage):
    """Its body or its sentences are those of a stored page."""


class NearDuplicatePage(DuplicatePage):
    """Its text resembles that of a stored page."""


class ContentPipeline:
    """Drops items that duplicate a stored page, by the detectors of one stage of the cascade.

    The page that passes is stored by the last of the content pipelines, normally `StorePage`.
    """

    drops: ClassVar[type[DuplicatePage]] = DuplicatePage

    switches: ClassVar[dict[str, str]] = {}
    """The setting that switches each stage on."""

    def __init__(self, crawler: Crawler) -> None:
        stages = self.stages(crawler.settings)
        if self.switches and not stages:
            raise NotConfigured
        self._job = Job.of(crawler)
        self._share = self._job.judge.join(stages)

    @classmethod
    def stages(cls, settings: BaseSettings) -> list[str]:
        """The stages that are switched on."""
        return [stage for stage, name in cls.switches.items() if settings.getbool(name)]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        self._job.judge.open()

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- Scrapy 2.13
        match = self._job.judge.judge(item, self._share)
        if match is not None:
            raise self.drops(match)
        return item


def stages_in_use(settings: BaseSettings) -> set[str]:
    """The stages of all content pipelines in `ITEM_PIPELINES`."""
    try:
        components = settings.get_component_priority_dict_with_base("ITEM_PIPELINES")
    except AttributeError:  # Scrapy 2.13
        components = settings.getwithbase("ITEM_PIPELINES")
    names = build_component_list(components)
    pipelines = [load_object(name) for name in names]
    return {
        stage
        for pipeline in pipelines
        if isinstance(pipeline, type) and issubclass(pipeline, ContentPipeline)
        for stage in pipeline.stages(settings)
    }
