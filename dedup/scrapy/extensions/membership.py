"""Extension: one of several processes of a job tells the one that started it how it is doing."""

from __future__ import annotations

from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.extensions.base import Extension
from dedup.scrapy.job.job import Job

_SIGN_SECONDS = 1.0


class Membership(Extension):
    """Gives a sign of life each second, and the figures of this process when the spider closes."""

    def __init__(self, crawler: Crawler) -> None:
        team = CrawlConfig.of(crawler).team
        if team is None:
            raise NotConfigured
        super().__init__(crawler)
        self._team = team
        crawler.signals.connect(self._engine_started, signals.engine_started)

    def _engine_started(self) -> None:
        self._team.note_running()

    def _spider_opened(self) -> None:
        self._call_every(_SIGN_SECONDS, self._team.give_sign)

    def _spider_closed(self, reason: str) -> None:
        job = Job.of(self.crawler)
        drops = job.pages.judge.drops
        self._team.give_sign()
        self._team.tell(
            {
                "reason": reason,
                "index_bytes": job.pages.content.size_bytes,
                "visited": job.ledger.visited,
                "drops": drops.count,
                "first_drops": list(map(str, drops.first)),
                "stats": _own(self.crawler.stats.get_stats()),
            }
        )


def _own(stats: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stats.items() if name.startswith("dedup/")}
