"""Downloader middleware: a host that asks to be left alone for a while is left alone."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

logger = logging.getLogger(__name__)

_TOO_MANY_REQUESTS, _UNAVAILABLE = 429, 503
_UNSAID_SECONDS = 10.0  # after a 429 that does not say how long
_MOST_SECONDS = 60.0  # others wait, too: beyond it the URL is recorded, for `dedup retry`
_MOST_PAUSES = 3  # without an answer in between: they do not help
_LONG_SECONDS = 10.0  # who watches wonders
_LEAST_DELAY = 0.01  # seconds between requests; without any a host does not look when it may go on


class RetryAfter:
    """Pauses a host that answers 429, or 503 with Retry-After, for as long as it says.

    Scrapy's own retries (`RETRY_TIMES`) queue behind the pause, as do all other requests to the
    host. Over a minute is not waited for, and not retried; nor are there more than three pauses
    without another answer in between.

    Source: RFC 9110, section 10.2.3; RFC 6585, section 4.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._until: dict[str, float] = {}
        self._n_pauses: dict[str, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RetryAfter:
        return cls(crawler)

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 -- Scrapy 2.13
    ) -> Response:
        host = request.meta.get("download_slot", "")
        if response.status not in (_TOO_MANY_REQUESTS, _UNAVAILABLE):
            self._n_pauses.pop(host, None)
            return response
        said = seconds_of(response.headers.get("Retry-After") or b"")
        unsaid = _UNSAID_SECONDS if response.status == _TOO_MANY_REQUESTS else 0.0
        seconds = unsaid if said is None else said
        if seconds > _MOST_SECONDS:
            request.meta["dont_retry"] = True
        elif self._n_pauses.get(host, 0) < _MOST_PAUSES:
            self._pause(host, seconds)
        return response

    def _pause(self, host: str, seconds: float) -> None:
        engine: Any = self._crawler.engine
        slot = engine.downloader.slots.get(host)
        now = time.monotonic()
        more = now + seconds - max(self._until.get(host, now), now)
        if slot is None or more < 0.5:  # others of the same burst have been answered before
            return
        level = logging.WARNING if seconds >= _LONG_SECONDS else logging.INFO
        logger.log(level, "%s asks for a pause of %.0f seconds", host, seconds)
        self._until[host] = now + seconds
        self._n_pauses[host] = self._n_pauses.get(host, 0) + 1
        slot.delay = max(slot.delay, _LEAST_DELAY)
        slot.lastseen += more  # from which the slot counts its delay


def seconds_of(retry_after: bytes) -> float | None:
    """What a Retry-After header says, in seconds from now; None if it says nothing.

    >>> seconds_of(b"120"), seconds_of(b"Wed, 21 Oct 2015 07:28:00 GMT"), seconds_of(b"soon")
    (120.0, 0.0, None)
    """
    value = retry_after.decode("latin-1").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
    return None
