"""What the content pipelines share: look for an original, and drop the item for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from dedup.detectors import Detector
from dedup.document import Match
from dedup.scrapy.job.job import Job
from dedup.store import Page


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

    The page that passes is admitted to the store by the last of the content pipelines, normally
    `StorePage`. A copy that was admitted since the item was looked at (another pipeline in between
    awaited something) is found by looking again.
    """

    drops: ClassVar[type[DuplicatePage]] = DuplicatePage

    switches: ClassVar[dict[str, str]] = {}
    """The setting that switches each stage on."""

    def __init__(self, crawler: Crawler) -> None:
        stages = self.stages(crawler.settings)
        if self.switches and not stages:
            raise NotConfigured
        self._job = Job.of(crawler)
        self._detectors = self._job.use_detectors(stages)
        self._job.last_pipeline = self

    @classmethod
    def stages(cls, settings: BaseSettings) -> list[str]:
        """The stages that are switched on."""
        return [stage for stage, name in cls.switches.items() if settings.getbool(name)]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        self._job.open_index()

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:  # noqa: ARG002
        document = self._job.document(item)
        if document is None:
            if self._job.last_pipeline is self:
                self._job.count_no_page()
            return item
        if self._job.is_recorded(item):
            return item
        revisited = self._job.revisited_by(item)
        if revisited is not None:  # a page stays one, also where it has become a copy of another
            if self._job.last_pipeline is self:
                self._job.admit_version(item, document, revisited)
                self._job.note_number(item, revisited)
            return item
        match = first_match(self._detectors, document)
        if match is None and self._job.last_pipeline is self:
            match = self._admit(item, document)
        if match is not None and not self._job.let_pass(item, document, match):
            self._job.record_duplicate(item, document, match)
            raise self.drops(match)
        return item

    def _admit(self, item: Any, document: Page) -> Match | None:
        if self._job.has_grown_since(item):
            match = first_match(self._job.detectors, document)
            if match is not None:
                return match
        self._job.note_number(item, self._job.admit(item, document))
        return None


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


def first_match(detectors: Sequence[Detector], document: Page) -> Match | None:
    found = (detector.find(document) for detector in detectors)
    return next((match for match in found if match is not None), None)
