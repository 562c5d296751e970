"""The downloader's slots: a slot has the requests of one host and the delay between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from scrapy import Request
from scrapy.core import downloader as scrapy_downloader
from scrapy.crawler import Crawler

from dedup.scrapy.internals.reactor import call_later

_now: Callable[[], float] = getattr(scrapy_downloader, "monotonic", time.time)
"""The clock of slots: that of the day in older releases of Scrapy."""


class Downloader(scrapy_downloader.Downloader):
    """Counts the delay of a slot from when a request is sent.

    Scrapy's own counts it from when the request is taken from the slot. It is sent when the event
    loop comes to it: what is computed in between would shorten the time to the next request.
    """

    def _download(self, slot: Any, request: Request, *spider: Any) -> Any:  # a spider: Scrapy 2.13
        if slot.delay:
            # In the round after the next: the next one may take this up before it sends.
            call_later(0, lambda: call_later(0, lambda: _note_sent(slot)))
        return super()._download(slot, request, *spider)


def _note_sent(slot: Any) -> None:
    slot.lastseen = max(slot.lastseen, _now())  # it is in the future where the host asked to wait


def count_downloads(crawler: Crawler) -> int:
    """How many requests are in the downloader, those that wait for their delay included."""
    return len(crawler.engine.downloader.active)


def max_downloads(crawler: Crawler) -> int:
    """How many requests may be in the downloader at the same time: `CONCURRENT_REQUESTS`."""
    return crawler.engine.downloader.total_concurrency


def downloads_by_slot(crawler: Crawler) -> Callable[[str], int]:
    """A function that tells how many requests of a slot are in the downloader."""
    slots = crawler.engine.downloader.slots

    def n_active(name: str) -> int:
        return len(slots[name].active) if name in slots else 0

    return n_active


def drop_unsent(crawler: Crawler, make_error: Callable[[], Exception]) -> None:
    """End all requests that wait in their slot, each with an error of its own."""
    for slot in crawler.engine.downloader.slots.values():
        unsent = [answer for _, answer in slot.queue]
        slot.queue.clear()
        for answer in unsent:
            answer.errback(make_error())


def has_slot(crawler: Crawler, name: str) -> bool:
    """Is there a slot of this name?"""
    return name in crawler.engine.downloader.slots


def postpone(crawler: Crawler, name: str, seconds: float, *, min_delay_seconds: float) -> None:
    """Have a slot send its next request later, by a number of seconds.

    Args:
        crawler: whose downloader has the slot.
        name: of the slot.
        seconds: are added to the time from which the slot counts its delay.
        min_delay_seconds: the slot's delay is raised to this. It must be above 0: a slot without
            delay sends at once.
    """
    slot = crawler.engine.downloader.slots[name]
    slot.delay = max(slot.delay, min_delay_seconds)
    slot.lastseen += seconds


def count_requests(crawler: Crawler, name: str, n_requests: int) -> None:
    """Have a slot wait for its next request as if it had just sent a number of further ones.

    A slot without delay does not wait.
    """
    slot = crawler.engine.downloader.slots.get(name)
    if slot is not None:
        slot.lastseen += n_requests * slot.delay


def raise_delay(crawler: Crawler, request: Request, min_seconds: float) -> None:
    """Have the slot of a request wait at least `min_seconds` between two requests.

    The delay is no longer varied at random, as that could halve it.
    """
    _, slot = crawler.engine.downloader._get_slot(request)
    slot.delay = max(slot.delay, min_seconds)
    if hasattr(slot, "jitter"):
        slot.jitter = 0.0
    else:  # Scrapy before 2.19
        slot.randomize_delay = False


_MAX_DELAY_FACTOR = 1.5
"""Scrapy waits for up to this multiple of a slot's delay."""


def max_delay(crawler: Crawler, name: str) -> float:
    """The longest time between two requests of a slot, seconds; 0: there is no such slot."""
    slot = crawler.engine.downloader.slots.get(name)
    return 0.0 if slot is None else _MAX_DELAY_FACTOR * float(slot.delay)


def delay_left(crawler: Crawler, name: str) -> float:
    """How long a slot would wait for its next request, at most, seconds."""
    slot = crawler.engine.downloader.slots.get(name)
    if slot is None or not slot.delay:
        return 0.0
    since = _now() - float(slot.lastseen)
    return max(max_delay(crawler, name) - since, 0.0)
