"""Downloader middleware: pauses a host that cannot be reached any more."""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.internals.engine import download
from dedup.scrapy.job.failure_reasons import reason_of
from dedup.scrapy.middlewares.base import HostMiddleware, origin_of
from dedup.scrapy.middlewares.redirect import NotFollowed

logger = logging.getLogger(__name__)

_REASONS = frozenset({"connection_failed", "connection_refused", "dns", "timeout"})
_MIN_FAILURES = 3
"""Failures of a host in a row after which a probe is sent."""

_PROBE_TIMEOUT_SECONDS = 10.0
_PROBE = "_dedup_probe"


class Outages(HostMiddleware[bool]):
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
        super().__init__(crawler)
        self._max_seconds = config.host_wait_seconds
        self._answered: set[str] = set()
        self._failures: dict[str, int] = {}
        self._down: set[str] = set()
        self._returned: set[str] = set()
        self._given_up: set[str] = set()

    def process_request(self, request: Request, **_: object) -> None:
        if (
            self._given_up
            and origin_of(request.url) in self._given_up
            and _PROBE not in request.meta
        ):
            raise NotFollowed("host_unreachable", request.url)

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        origin = origin_of(request.url)
        self._answered.add(origin)
        self._failures.pop(origin, None)
        return response

    async def process_exception(
        self, request: Request, exception: Exception, **_: object
    ) -> Request | None:
        origin = origin_of(request.url)
        is_other = isinstance(exception, IgnoreRequest) or reason_of(exception) not in _REASONS
        if is_other or _PROBE in request.meta or not self._has_answered(origin):
            return None
        if origin not in self._down:
            self._failures[origin] = self._failures.get(origin, 0) + 1
            min_failures = 1 if origin in self._returned else _MIN_FAILURES
            if self._failures[origin] < min_failures or await self._answers(origin):
                return None
            if origin not in self._down and origin not in self._given_up:
                self._down.add(origin)
                logger.warning("%s is no longer reachable; waiting for it", origin)
                slot = str(request.meta.get("download_slot", ""))
                self.pause(slot, partial(self._wait, origin))
        if origin in self._given_up:
            raise NotFollowed("host_unreachable", request.url) from exception
        if request.meta.get("dont_obey_robotstxt"):  # it is for robots.txt; `Robots` tries it again
            return None
        return request.replace(dont_filter=True)

    def _has_answered(self, origin: str) -> bool:
        if origin not in self._answered and self.job.is_resumed:
            host = origin.partition("://")[2]
            if self.job.store.stats.has_page_of(host):
                self._answered.add(origin)
        return origin in self._answered

    async def _answers(self, origin: str) -> bool:
        """Does the host answer a probe?"""
        return await self.ask_once(origin, partial(self._ask, origin))

    async def _ask(self, origin: str) -> bool:
        meta: dict[str, object] = {_PROBE: True, "dont_obey_robotstxt": True, "dont_retry": True}
        meta |= {"download_timeout": _PROBE_TIMEOUT_SECONDS, "download_slot": f"probe of {origin}"}
        probe = Request(f"{origin}/robots.txt", meta=meta, callback=NO_CALLBACK)
        try:
            await download(self.crawler, probe)
        except Exception as error:  # noqa: BLE001 -- every error means: no answer
            return reason_of(error) not in _REASONS
        return True

    async def _wait(self, origin: str) -> None:
        began, is_there = time.monotonic(), False
        for seconds in self.waits(self._max_seconds):
            await asyncio.sleep(seconds)
            is_there = await self._answers(origin)
            if is_there:
                break
        passed = time.monotonic() - began
        self._down.discard(origin)
        self._failures.pop(origin, None)
        if is_there:
            self._returned.add(origin)
            logger.warning("%s is reachable again after %.0f seconds", origin, passed)
        elif not self.is_ending:
            self._given_up.add(origin)
            self.job.troubles.append(f"{origin} was given up")
            logger.error("%s could not be reached for %.0f seconds; giving up", origin, passed)
