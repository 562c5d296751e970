"""A job's requests on their way into the queue in its store, and out of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from secrets import token_bytes
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.httpobj import urlparse_cached

from dedup.scrapy.frontier.meta import KEY, REVISIT
from dedup.scrapy.frontier.stored_request import UnserialisableError, from_bytes, is_plain, to_bytes
from dedup.scrapy.frontier.window import Frontier
from dedup.store import JobStore
from dedup.store.records import QueuedUrl

logger = logging.getLogger(__name__)

_REPEAT = b"again"
"""How the keys begin of requests that no filter looks at (`dont_filter`); the rest is random."""

_REVISIT = b'{"revisit"'
"""How the queued requests of a refresh begin."""


class RequestQueue:
    """Queues requests under their keys, and makes requests again of what is queued.

    Args:
        forget_unreadable: called with a row whose request cannot be made again, and why.
        is_left_out: asked for each row once, when its turn comes; it records those.

    Attributes:
        length: how many are queued or in flight; for display.
    """

    def __init__(
        self,
        crawler: Crawler,
        store: JobStore,
        forget_unreadable: Callable[[QueuedUrl, str], None],
        is_left_out: Callable[[QueuedUrl], bool] = lambda row: False,  # noqa: ARG005
    ) -> None:
        self._crawler = crawler
        self._spider: Any = crawler.spider
        self._store = store
        self._forget_unreadable = forget_unreadable
        self._is_left_out = is_left_out
        self._again: set[bytes] = set()
        """Keys of requests that were handed out before: retries, and those of hosts that went away.
        """
        n_lost = store.urls.drop_held()
        if n_lost:
            logger.warning(
                "%d queued requests could not be stored and ended with the last process;"
                " they are fetched where a page links to them again",
                n_lost,
            )
        self.frontier = Frontier(store.urls)
        self.length = store.urls.count_queued()

    def add(self, request: Request) -> bool:
        """Queue a request in the store; False: in memory alone.

        It carries its key where the dupefilter has found it new, and still does where it is a
        retry, or was redirected.
        """
        key: bytes | None = request.meta.get(KEY)
        is_again = key in self.frontier.in_flight
        if request.dont_filter and not is_again and request.meta.get("is_start_request"):
            # The spider yields it each time it starts.
            self.frontier.hold(_slot_of(request), -request.priority, None, request)
            return False
        if key is None or (request.dont_filter and not is_again):
            key = request.meta[KEY] = _REPEAT + token_bytes(12)
        if not is_again:
            self.length += 1
        return self._write(key, request, is_again=is_again)

    def is_waiting(self, url: str) -> bool:
        """Is the page queued, or under way?"""
        request = self._spider.page_request(url)
        key = self._crawler.request_fingerprinter.fingerprint(request)
        return self._store.urls.is_queued(key)

    def add_known(self, url: str) -> None:
        """Queue a page once more that has been recorded."""
        request = self._spider.page_request(url)
        key = self._crawler.request_fingerprinter.fingerprint(request)
        self._write(key, request, is_again=True)
        self.length += 1

    def next(self, n_active: Callable[[str], int]) -> Request | None:
        """The request whose turn it is, in flight from now on; see `Frontier`."""
        while (found := self.frontier.pop(n_active)) is not None:
            request = found if isinstance(found, Request) else self._request_of(found)
            if request is not None:
                return request
        return None

    def done(self, keys: list[bytes]) -> None:
        """These need no fetching any more."""
        if not self.frontier.in_flight.isdisjoint(keys):
            self.length = max(self.length - 1, 0)
        self.frontier.done(keys)

    def _write(self, key: bytes, request: Request, *, is_again: bool) -> bool:
        slot, rank = _slot_of(request), -request.priority
        stored = None
        is_held = False
        if not is_plain(request, self._spider):
            try:
                stored = to_bytes(request, self._spider)
            except UnserialisableError as error:
                is_held = True
                self._warn_unserialisable(request, error)
        urls = self._store.urls
        if is_again:
            self._again.add(key)
            row = urls.queue_again(key, stored, slot=slot, rank=rank, is_held=is_held)
        else:
            depth = 0 if is_repeat(key) else request.meta.get("depth", 0)
            row = urls.queue(key, request.url, depth, stored, slot=slot, rank=rank, is_held=is_held)
        if is_held:
            self.frontier.hold(slot, rank, key, request)
        elif row is not None:
            self.frontier.push(slot, row)
        return not is_held

    def _warn_unserialisable(self, request: Request, error: Exception) -> None:
        if not self._crawler.stats.get_value("scheduler/unserializable"):
            logger.warning(
                "%s cannot be stored and would be lost with the process: %s"
                " (later ones are only counted, as scheduler/unserializable)",
                request,
                error,
            )
        self._crawler.stats.inc_value("scheduler/unserializable")

    def _request_of(self, row: QueuedUrl) -> Request | None:
        request: Request
        is_first = row.key not in self._again
        self._again.discard(row.key)
        is_revisit = isinstance(row.request, bytes) and row.request.startswith(_REVISIT)
        if is_first and not is_revisit and self._is_left_out(row):
            return None
        try:
            if row.request is None:
                request = self._spider.page_request(row.url, depth=row.depth)
            elif is_revisit:
                request = self._revisiting(row.url, row.depth, json.loads(row.request)["revisit"])
            else:
                request = from_bytes(row.request, self._spider)
        except Exception as error:  # noqa: BLE001 -- the spider's code may have changed
            self._forget_unreadable(row, f"{type(error).__name__}: {error}")
            return None
        request.priority = -row.rank
        request.meta[KEY] = row.key
        return request

    def _revisiting(self, url: str, depth: int, number: int) -> Request:
        request: Request = self._spider.page_request(url, depth=depth)
        request.headers.update(self._store.refreshes.validators(number))
        request.meta[REVISIT] = number
        return request


def is_repeat(key: bytes) -> bool:
    """Is this the key of a request that nothing filters and nothing remembers?"""
    return key.startswith(_REPEAT)


def _slot_of(request: Request) -> str:
    """Scrapy's download slot: the host, unless the request says otherwise."""
    return str(request.meta.get("download_slot") or urlparse_cached(request).hostname or "")
