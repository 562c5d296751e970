"""Spider middleware: when all that a callback gave is taken care of, its request is done.

The project's own spiders yield one item a page, which settles its URL. Spiders of other projects
yield what they like, so their requests are done once the callback has ended and its items have left
the pipelines. The requests it gave are queued by then: the engine schedules each before it asks the
callback for the next output.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import Outcome, OutcomeKind
from dedup.scrapy.spiders.own import is_own


class WatchOutputs:
    """Counts what is still open of each request, by its key, and has the job note it as done."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("DEDUP_URL_ENABLED"):
            raise NotConfigured
        if is_own(crawler.spider):
            raise NotConfigured
        self._job = Job.of(crawler)
        self._open: dict[bytes, int] = {}
        self._responses: dict[bytes, Response] = {}
        crawler.signals.connect(self._item_left, signals.item_scraped)
        crawler.signals.connect(self._item_left, signals.item_dropped)
        crawler.signals.connect(self._item_left, signals.item_error)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> WatchOutputs:
        return cls(crawler)

    # Scrapy 2.13 passes the spider, later releases do not.
    def process_spider_output(
        self,
        response: Response,
        result: Iterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> Iterator[Any]:
        with self._watching(response) as key:
            for output in result:
                self._add(key, output)
                yield output

    async def process_spider_output_async(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: Any = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        with self._watching(response) as key:
            async for output in result:
                self._add(key, output)
                yield output

    @contextmanager
    def _watching(self, response: Response) -> Iterator[bytes | None]:
        request: Any = response.request
        key: bytes | None = request.meta.get(KEY)
        if key is not None:
            self._open[key] = 1  # the callback itself
            self._responses[key] = response
        try:
            yield key
        except Exception as error:
            self._give_up(key, error)
            raise
        self._close_one(key)

    def _add(self, key: bytes | None, output: Any) -> None:
        if isinstance(output, Request):
            output.meta.pop(KEY, None)  # of a callback that hands on its response's meta
        elif key is not None and output is not None:
            self._open[key] += 1

    def _give_up(self, key: bytes | None, error: Exception) -> None:
        if key is not None and key in self._open:
            del self._open[key]
            self._record("failed", self._responses.pop(key), error)

    def _item_left(self, response: Any) -> None:
        request = getattr(response, "request", None)
        self._close_one(None if request is None else request.meta.get(KEY))

    def _close_one(self, key: bytes | None) -> None:
        if key is None or key not in self._open:
            return
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
            self._record("done", self._responses.pop(key))

    def _record(
        self, kind: OutcomeKind, response: Response, error: Exception | None = None
    ) -> None:
        self._job.record(
            Outcome(
                kind=kind,
                url=response.url,
                finishes=self._job.response_urls.finished(response),
                reason="callback_error" if error is not None else "",
                detail=f"{type(error).__name__}: {error}" if error is not None else "",
            )
        )
