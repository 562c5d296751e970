"""Scrapy's scheduler without queues on disk: a job's store already knows what is queued."""

from __future__ import annotations

from scrapy.core.scheduler import Scheduler


class DedupScheduler(Scheduler):
    """Keeps requests in memory, whether or not `JOBDIR` is set.

    An interrupted job queues again what its store has as queued (`crawler.middlewares.resume`);
    queues on disk would bring the same requests a second time.
    """

    def _dqdir(self, jobdir: str | None) -> str | None:  # noqa: ARG002
        return None
