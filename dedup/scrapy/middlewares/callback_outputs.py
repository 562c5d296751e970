"""Spider middleware: a request is done when its callback has ended and its items are processed.

The project's own spiders yield one item a page, and its outcome ends the request. Spiders of other
projects yield any number of items and requests, so a request of theirs is done when the callback
has ended and its items have left the pipelines. The requests that it yielded are queued by then:
the engine schedules each of them before it asks the callback for the next output, or, in older
releases of Scrapy, in the next round of the event loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from dedup.scrapy.component import Component
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.internals.reactor import call_later
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import Outcome, OutcomeKind
from dedup.scrapy.spiders.own import is_own


class WatchOutputs(Component):
    """Counts the unprocessed outputs of each request, and records the request as done at zero."""

    def __init__(self, crawler: Crawler) -> None:
        if not CrawlConfig.of(crawler).is_url_enabled or is_own(crawler.spider):
            raise NotConfigured
        super().__init__(crawler)
        self._job = Job.of(crawler)
        self._open: dict[bytes, int] = {}
        self._responses: dict[bytes, Response] = {}
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_left, signal)

    def process_spider_output(
        self, response: Response, result: Iterable[object], **_: object
    ) -> Iterator[object]:
        with self._watching(response) as key:
            for output in result:
                yield self._add(key, output)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterable[object], **_: object
    ) -> AsyncIterator[object]:
        with self._watching(response) as key:
            async for output in result:
                yield self._add(key, output)

    @contextmanager
    def _watching(self, response: Response) -> Iterator[bytes | None]:
        key: bytes | None = response.meta.get(KEY)
        if key is not None:
            self._open[key] = 1  # the callback itself
            self._responses[key] = response
        try:
            yield key
        except Exception as error:
            self._give_up(key, error)
            raise
        call_later(0, partial(self._close_one, key))  # its requests are queued before

    def _add(self, key: bytes | None, output: object) -> object:
        """Count the output; give it without the key, if its callback passed on the meta."""
        if isinstance(output, Request):
            output.meta.pop(KEY, None)
        elif key is not None and output is not None:
            self._open[key] += 1
            if isinstance(output, dict):
                return _without_key(output)
        return output

    def _give_up(self, key: bytes | None, error: Exception) -> None:
        if key is not None and key in self._open:
            del self._open[key]
            self._record("failed", self._responses.pop(key), error)

    def _item_left(self, response: object) -> None:
        request = getattr(response, "request", None)  # it may be a failure, or None
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
                finishes=self._job.urls.of_responses.finished(response),
                reason="callback_error" if error is not None else "",
                detail=f"{type(error).__name__}: {error}" if error is not None else "",
            )
        )


def _without_key(item: dict[object, object]) -> dict[object, object]:
    """The item; a copy without the key, if it has a response's meta in it or as a field."""
    nested = {
        name: {each: held for each, held in value.items() if each != KEY}
        for name, value in item.items()
        if isinstance(value, dict) and KEY in value
    }
    if KEY not in item and not nested:
        return item
    return {name: value for name, value in {**item, **nested}.items() if name != KEY}
