"""Queues for Scrapy's own scheduler: requests in `JOBDIR` as JSON.

Scrapy pickles them there; a job's folder may come from anyone, and reading a pickle runs code in
it.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import ClassVar, cast

from queuelib import FifoDiskQueue, LifoDiskQueue
from scrapy import Request, Spider
from scrapy.crawler import Crawler

from dedup.scrapy.frontier.stored_request import from_bytes, to_bytes

logger = logging.getLogger(__name__)


class JsonFifoDiskQueue:
    """The first request first, as Scrapy's `PickleFifoDiskQueue`."""

    _kind: ClassVar[type[FifoDiskQueue | LifoDiskQueue]] = FifoDiskQueue

    def __init__(self, crawler: Crawler, key: str) -> None:
        Path(key).parent.mkdir(parents=True, exist_ok=True)
        self._crawler = crawler
        self._path = key
        self._spider = cast("Spider", crawler.spider)  # the scheduler is opened with it
        self._stored = self._kind(key)

    @classmethod
    def from_crawler(cls, crawler: Crawler, key: str) -> JsonFifoDiskQueue:
        return cls(crawler, key)

    def push(self, request: Request) -> None:
        """Store a request.

        Raises:
            UnserialisableError: JSON cannot hold it; the scheduler keeps it in memory.
        """
        self._stored.push(to_bytes(request, self._spider))

    def pop(self) -> Request | None:
        """Take a request; skip unreadable ones, counted as `dedup/requests/unreadable`."""
        while stored := self._stored.pop():
            try:
                return from_bytes(stored, self._spider)
            except Exception as error:  # noqa: BLE001 -- whatever the bytes bring about
                self._crawler.stats.inc_value("dedup/requests/unreadable")
                logger.error("%s: a queued request cannot be read: %s", self._path, error)
        return None

    def close(self) -> None:
        self._stored.close()

    def __len__(self) -> int:
        return len(self._stored)


class JsonLifoDiskQueue(JsonFifoDiskQueue):
    """The last request first, as Scrapy's `PickleLifoDiskQueue`."""

    _kind = LifoDiskQueue
