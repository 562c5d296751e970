"""Downloader middleware: pauses a host that cannot be reached any more."""

from __future__ import annotations

import asyncio
import logging
import time
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.engine import download
from dedup.scrapy.job.failures import reason_of
from dedup.scrapy.job.job import Job
from dedup.scrapy.middlewares.redirect import NotFollowed

logger = logging.getLogger(__name__)

_REASONS = frozenset({"connection_failed", "connection_refused", "dns", "timeout"})
_MIN_FAILURES = 3
"""Failures of a host in a row after which a probe is sent."""

_MIN_WAIT_SECONDS, _MAX_WAIT_SECONDS = 1.0, 60.0
"""Between two probes: the first wait; it doubles up to the second value."""

_PROBE_TIMEOUT_SECONDS = 10.0
_PROBE = "_dedup_probe"


class Outages:
    """Pauses a host that has answered before and cannot be reached now; its URLs stay queued.

    After three failures in a row, or one of a host that has been away before, it sends a probe: a
    request for the host's robots.txt, which is cheap to serve. If any answer comes, the failures
    concern single URLs, and Scrapy's retries deal with them. If none comes, the host's requests
    return to the queue and none is sent; further probes follow after 1, 2, 4 and up to 60 seconds.
    After `DEDUP_HOST_WAIT_SECONDS` the host's URLs are recorded as `host_unreachable`; `dedup
    retry` queues those again.

    A host that has never answered is not paused.
    """

    def __init__(self, crawler: Crawler) -> None:
        config = CrawlConfig.of(crawler)
        if not config.host_wait_seconds or not config.is_url_enabled:
            raise NotConfigured
        self._crawler = crawler
        self._job = Job.of(crawler)
        self._max_seconds = config.host_wait_seconds
        self._answered: set[str] = set()
        self._failures: dict[str, int] = {}
        self._probes: dict[str, asyncio.Future[bool]] = {}
        self._down: set[str] = set()
        self._returned: set[str] = set()
        self._given_up: set[str] = set()
        self._tasks: set[asyncio.Future[None]] = set()
        crawler.signals.connect(self._spider_closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Outages:
        return cls(crawler)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002 -- Scrapy 2.13
        if self._given_up and _origin(request) in self._given_up and _PROBE not in request.meta:
            raise NotFollowed("host_unreachable", request.url)

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Response:
        origin = _origin(request)
        self._answered.add(origin)
        self._failures.pop(origin, None)
        return response

    async def process_exception(
        self,
        request: Request,
        exception: Exception,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Request | None:
        origin = _origin(request)
        is_other = isinstance(exception, IgnoreRequest) or reason_of(exception) not in _REASONS
        if is_other or _PROBE in request.meta or not self._has_answered(origin):
            return None
        if origin not in self._down:
            self._failures[origin] = self._failures.get(origin, 0) + 1
            min_failures = 1 if origin in self._returned else _MIN_FAILURES
            if self._failures[origin] < min_failures or await self._answers(origin):
                return None
            self._pause(origin, str(request.meta.get("download_slot", "")))
        if origin in self._given_up:
            raise NotFollowed("host_unreachable", request.url) from exception
        if request.meta.get("dont_obey_robotstxt"):  # it is for robots.txt; `Robots` tries it again
            return None
        return request.replace(dont_filter=True)

    def _spider_closed(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _has_answered(self, origin: str) -> bool:
        if origin not in self._answered and self._job.is_resumed:
            host = origin.partition("://")[2]
            if self._job.store.stats.has_page_of(host):
                self._answered.add(origin)
        return origin in self._answered

    async def _answers(self, origin: str) -> bool:
        """Does the host answer a probe? Callers at the same time share one probe."""
        asked = self._probes.get(origin)
        if asked is None:
            asked = self._probes[origin] = asyncio.ensure_future(self._ask(origin))
            asked.add_done_callback(lambda _: self._probes.pop(origin))
        return await asyncio.shield(asked)

    async def _ask(self, origin: str) -> bool:
        meta: dict[str, object] = {_PROBE: True, "dont_obey_robotstxt": True, "dont_retry": True}
        meta |= {"download_timeout": _PROBE_TIMEOUT_SECONDS, "download_slot": f"probe of {origin}"}
        probe = Request(f"{origin}/robots.txt", meta=meta, callback=NO_CALLBACK)
        try:
            await download(self._crawler, probe)
        except Exception as error:  # noqa: BLE001 -- every error means: no answer
            return reason_of(error) not in _REASONS
        return True

    def _pause(self, origin: str, slot: str) -> None:
        if origin in self._down or origin in self._given_up:
            return
        self._down.add(origin)
        self._job.urls.requests.frontier.pause(slot)
        logger.warning("%s is no longer reachable; waiting for it", origin)
        task = asyncio.ensure_future(self._wait(origin, slot))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait(self, origin: str, slot: str) -> None:
        began, seconds, is_there = time.monotonic(), _MIN_WAIT_SECONDS, False
        while not (is_there or self._job.pages.arrivals.is_closing or self._job.failure):
            left = began + self._max_seconds - time.monotonic()
            if left <= 0:
                break
            await asyncio.sleep(min(seconds, left))
            is_there = await self._answers(origin)
            seconds = min(2 * seconds, _MAX_WAIT_SECONDS)
        passed = time.monotonic() - began
        self._down.discard(origin)
        self._failures.pop(origin, None)
        if is_there:
            self._returned.add(origin)
            logger.warning("%s is reachable again after %.0f seconds", origin, passed)
        elif not (self._job.pages.arrivals.is_closing or self._job.failure):
            self._given_up.add(origin)
            self._job.troubles.append(f"{origin} was given up")
            logger.error("%s could not be reached for %.0f seconds; giving up", origin, passed)
        self._job.urls.requests.frontier.resume(slot)


def _origin(request: Request) -> str:
    parts = urlsplit(request.url)
    return f"{parts.scheme}://{parts.netloc}"
