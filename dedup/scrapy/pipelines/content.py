"""What the content pipelines share: they look for an item's original, and drop the item."""

from __future__ import annotations

from typing import ClassVar, Literal

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured

from dedup.detectors import CASCADE
from dedup.errors import DamageError
from dedup.scrapy.component import Component
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.drops import Drop
from dedup.scrapy.job.job import Job


def stages_of(pipeline: Literal["exact", "near"]) -> tuple[str, ...]:
    """The stages of the default cascade that a pipeline asks."""
    return tuple(name for name, stage in CASCADE.items() if pipeline in stage.pipelines)


class DuplicatePage(DropItem):
    """The item is a duplicate.

    Attributes:
        url, original_url: of the item, and of the one that it duplicates; None: it has none.
        stage: the detector that found it: `body`, `text`, `sentences`, `simhash` or `minhash`; or
            `url`, if a page that has this URL was stored meanwhile (the original's number is 0).
        resemblance: Jaccard coefficient of the shingles of the texts, 0 to 1; None: not computed.
        match: the same, with the number of the original in the job and the Hamming distance.
    """

    def __init__(self, drop: Drop) -> None:
        super().__init__(str(drop), log_level="DEBUG")
        self.url, self.original_url = drop.url, drop.original_url
        self.match = drop.match
        self.stage, self.resemblance = drop.match.stage, drop.match.resemblance


class ExactDuplicate(DuplicatePage):
    """Its body, text or longest sentences are those of a stored page."""


class NearDuplicatePage(DuplicatePage):
    """Its text resembles that of a stored page."""


class ContentPipeline(Component):
    """Drops items that duplicate a stored page, by the detectors of its stages.

    The last of the content pipelines, normally `StorePage`, stores a page that has no original.
    """

    drops: ClassVar[type[DuplicatePage]] = DuplicatePage

    dedup_stages: ClassVar[tuple[str, ...]] = ()
    """The stages that this pipeline runs where they are switched on."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        config = CrawlConfig.of(crawler)
        stages = [stage for stage in self.dedup_stages if stage in config.stages]
        if self.dedup_stages and not stages:
            raise NotConfigured
        self._job = Job.of(crawler)
        self._share = self._job.pages.judge.join(stages)

    def open_spider(self, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        try:
            self._job.pages.judge.open()
        except DamageError as error:  # the crawl stops
            self._job.fail(error)

    def process_item(self, item: object, spider: Spider | None = None) -> object:  # noqa: ARG002 -- Scrapy 2.13
        if self._job.turns.is_needed:
            return self._process_shared(item)
        return self._passed(item, self._job.pages.judge.judge(item, self._share))

    async def _process_shared(self, item: object) -> object:
        """Judge an item where others share the job: by this process's index, then in its turn."""
        judge = self._job.pages.judge
        if not judge.is_to_record(item, self._share):
            return item
        judged = self._job.turns.run_together(judge, (item, self._share), judge.judge)
        return self._passed(item, await judged)

    def _passed(self, item: object, drop: Drop | None) -> object:
        if drop is not None:
            raise self.drops(drop)
        return item
