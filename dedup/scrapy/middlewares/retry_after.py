"""Downloader middleware: a host that asks for a pause gets no requests for that time."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from dedup.scrapy.component import Component
from dedup.scrapy.internals.downloads import has_slot, postpone

logger = logging.getLogger(__name__)

_TOO_MANY_REQUESTS, _UNAVAILABLE = 429, 503
_DEFAULT_SECONDS = 10.0
"""The pause after a 429 without `Retry-After`."""

_MAX_SECONDS = 60.0
"""The longest pause, as all other URLs of the host wait too. For a longer one the URL is recorded
as failed, and `dedup retry` queues it again."""

_MAX_PAUSES = 3
"""Pauses of a host without another answer in between; after these, pauses do not help."""

_WARNING_SECONDS = 10.0
"""Pauses from this length on are logged as warnings: a user who watches the crawl sees them."""

_MIN_PAUSE_SECONDS = 0.5
"""Answers of the same burst prolong the pause by less than this; they count as one pause."""

_MIN_DELAY_SECONDS = 0.01
"""Between the requests of a host that pauses: Scrapy's downloader postpones no request of a host
without a delay."""


class RetryAfter(Component):
    """Pauses a host that answers 429, or 503 with `Retry-After`, for as long as the header says.

    Scrapy's own retries (`RETRY_TIMES`) and all other requests to the host wait until the pause
    ends. A host that asks for more than a minute is not paused, and the request is not retried. A
    host is paused at most three times without another answer in between.

    Source: RFC 9110, section 10.2.3; RFC 6585, section 4.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._until: dict[str, float] = {}
        self._n_pauses: dict[str, int] = {}

    def process_response(self, request: Request, response: Response, **_: object) -> Response:
        host = request.meta.get("download_slot", "")
        if response.status not in (_TOO_MANY_REQUESTS, _UNAVAILABLE):
            self._n_pauses.pop(host, None)
            return response
        headers = response.headers
        seconds = seconds_of(headers.get("Retry-After") or b"", headers.get("Date") or b"")
        if seconds is None:
            seconds = _DEFAULT_SECONDS if response.status == _TOO_MANY_REQUESTS else 0.0
        if seconds > _MAX_SECONDS:
            request.meta["dont_retry"] = True
        elif self._n_pauses.get(host, 0) < _MAX_PAUSES:
            self._pause(host, seconds)
        return response

    def _pause(self, host: str, seconds: float) -> None:
        now = time.monotonic()
        more = now + seconds - max(self._until.get(host, now), now)
        if more < _MIN_PAUSE_SECONDS or not has_slot(self.crawler, host):
            return
        level = logging.WARNING if seconds >= _WARNING_SECONDS else logging.INFO
        logger.log(level, "%s asks for a pause of %.0f seconds", host, seconds)
        self._until[host] = now + seconds
        self._n_pauses[host] = self._n_pauses.get(host, 0) + 1
        postpone(self.crawler, host, more, min_delay_seconds=_MIN_DELAY_SECONDS)


def seconds_of(retry_after: bytes, date: bytes = b"") -> float | None:
    """The pause that a `Retry-After` header asks for, in seconds from now; None: it has no time.

    A moment counts from the answer's `Date`, if it has one: this machine's clock may be wrong.

    >>> seconds_of(b"120"), seconds_of(b"Wed, 21 Oct 2015 07:28:00 GMT"), seconds_of(b"soon")
    (120.0, 0.0, None)
    >>> seconds_of(b"Wed, 21 Oct 2015 07:28:00 GMT", date=b"Wed, 21 Oct 2015 07:27:30 GMT")
    30.0
    """
    value = retry_after.decode("latin-1").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    moment = _moment(value)
    if moment is None:
        return None
    now = _moment(date.decode("latin-1")) or datetime.now(UTC)
    return max((moment - now).total_seconds(), 0.0)


def _moment(date: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        moment = parsedate_to_datetime(date)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
