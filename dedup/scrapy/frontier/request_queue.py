"""The requests of a job, queued in its store."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from secrets import token_bytes
from typing import TypeGuard

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.utils.httpobj import urlparse_cached

from dedup.scrapy.frontier.meta import KEY, REVISIT
from dedup.scrapy.frontier.stored_request import UnserialisableError, from_bytes, is_plain, to_bytes
from dedup.scrapy.frontier.window import Frontier
from dedup.scrapy.internals.downloads import delay_left
from dedup.scrapy.spiders.own import own_spider
from dedup.scrapy.url_keys import UrlKeys
from dedup.store import JobStore
from dedup.store.records import NewUrl, QueuedUrl
from dedup.urls.parts import host_without_port

logger = logging.getLogger(__name__)

_REPEAT = b"again"
"""The first bytes of the key of a request that is not filtered (`dont_filter`); the rest is
random."""

_REVISIT = b'{"revisit"'
"""The first bytes of a queued request of a refresh."""

_LATER_RANK = 2_000_000
"""Of visits that come after those of all pages and duplicates."""


class RequestQueue:
    """Queues requests under their keys, and makes requests from the rows of the queue.

    Args:
        ask_for_turn: called when something waits to be queued, where others share the job.

    Attributes:
        again: keys of requests that are queued again after they were in flight, such as retries.
        length: how many requests are queued or in flight; for display.
        is_shared: do other processes work on the job?
    """

    def __init__(
        self, crawler: Crawler, store: JobStore, ask_for_turn: Callable[[], None] = lambda: None
    ) -> None:
        self._crawler = crawler
        self._store = store
        self._ask_for_turn = ask_for_turn
        self.again: set[bytes] = set()
        self._targets: dict[bytes, bytes] = {}
        """Keys of the pages that requests, which are queued again, redirect to."""
        self._later: dict[bytes, NewUrl] = {}
        """URLs that are queued in the next turn, where others share the job."""
        self.hosts: set[str] = set()
        """Of a shared job, those that this process fetches from."""
        self.is_shared = store.workers.is_shared
        store.workers.before_commit(self._queue_later)
        if not self.is_shared:
            drop_held(store)
        self.frontier = Frontier(store.urls, () if self.is_shared else None)
        self.length = store.urls.count_queued()

    def add(self, request: Request) -> bool:
        """Queue a request in the store; False: it cannot be stored, and is queued in memory.

        The request has a key in its `meta` if the dupefilter has passed it; retries and redirected
        requests keep that key.
        """
        key: bytes | None = request.meta.get(KEY)
        is_again = key in self.frontier.in_flight
        if request.dont_filter and not is_again and request.meta.get("is_start_request"):
            # The spider yields it each time it starts.
            self.frontier.hold(_slot_of(request), -request.priority, None, request)
            return False
        if key is None or (request.dont_filter and not is_again):
            key = request.meta[KEY] = _new_repeat()
        if not is_again:
            self.length += 1
        return self._write(key, request, is_again=is_again)

    def note_too_deep(self, request: Request, depth: int) -> None:
        """Store a request that is not sent for its depth, to be queued once `DEPTH_LIMIT` allows.

        One that cannot be stored is counted only.
        """
        self._crawler.stats.inc_value("dedup/url/too_deep")
        request = request.replace(meta={**request.meta, "depth": depth})
        key = _new_repeat() if request.dont_filter else self._key(request)
        try:
            stored = self._stored(request)
        except UnserialisableError:
            return
        self._store.urls.note_too_deep(
            key, request.url, depth, stored, slot=_slot_of(request), rank=-request.priority
        )

    def is_waiting(self, url: str) -> bool:
        """Is the page queued or in flight?"""
        return self._store.urls.is_queued(self._key(own_spider(self._crawler).page_request(url)))

    def has_visit(self, key: bytes) -> bool:
        """Is the visit of a stored page queued or in flight?"""
        return is_revisit(self._store.urls.request_of_queued(key))

    def wait_for_target(self, key: bytes, target: bytes) -> None:
        """Hand out a request, which is queued again, when the one it redirects to has landed."""
        self._targets[key] = target

    def waits(self, row: QueuedUrl, original: str | None) -> bool:
        """Is the row's original, or the target of its redirect, in flight?

        Then the row is handed out again once that is done.
        """
        key = self._targets.pop(row.key, None)
        if original is not None:
            key = self._key(own_spider(self._crawler).page_request(original))
        if key is None or key not in self.frontier.in_flight:
            return False
        self.frontier.wait(row, key)
        return True

    def add_known(self, url: str, page: int | None = None) -> None:
        """Queue a page that is recorded, so that it is fetched once more.

        `page`: its number, if it is stored; the visit then gives a new version.
        """
        request = own_spider(self._crawler).page_request(url)
        stored = None if page is None else _revisit(page)
        self._write(self._key(request), request, is_again=True, stored=stored)
        self.length += 1

    def visit_later(self, request: Request) -> None:
        """Queue a visit, which is in flight, after all others; those of stored pages first."""
        key, number = request.meta[KEY], request.meta.get(REVISIT)
        stored = None if number is None else _revisit(number)
        rank = _LATER_RANK if stored else 2 * _LATER_RANK
        (url, *_) = request.meta.get("redirect_urls") or [request.url]
        first = own_spider(self._crawler).page_request(url, depth=request.meta.get("depth", 0))
        self._write(key, first.replace(priority=-rank), is_again=True, stored=stored)

    def visit_first(self, keys: Iterable[bytes]) -> None:
        """Hand out next what is queued under these keys."""
        self._store.urls.queue_first(keys)
        self.reload_all()

    def reload(self, slot: str, *, n_more: int) -> None:
        """Read a slot again whose rows have other ranks, or `n_more` rows, in the store."""
        self.length += n_more
        self.frontier.reload(slot)

    def reload_all(self) -> None:
        """Read all slots again: other rows are queued in the store."""
        self.length = self._store.urls.count_queued()
        self.frontier.reload_all()

    def is_again(self, row: QueuedUrl) -> bool:
        """Was the request that comes next in flight before? Later it is as any other."""
        is_again = row.key in self.again
        self.again.discard(row.key)
        return is_again

    def done(self, keys: list[bytes]) -> None:
        """Remove the requests of these keys: they need no fetching any more."""
        if not self.frontier.in_flight.keys().isdisjoint(keys):
            self.length = max(self.length - 1, 0)
        self.frontier.done(keys)

    @property
    def _spider(self) -> Spider:
        spider = self._crawler.spider
        if spider is None:
            raise ValueError("the crawler must have a spider before requests are queued")
        return spider

    def _write(
        self, key: bytes, request: Request, *, is_again: bool, stored: bytes | None = None
    ) -> bool:
        """Queue a request, in a shared job with others once nobody else writes.

        One that cannot be stored stays with this process: others could not make it. `stored`: how
        the store keeps the request, if it is not to be found out.
        """
        slot, rank = _slot_of(request), -request.priority
        depth = 0 if is_repeat(key) else request.meta.get("depth", 0)
        is_held = False
        try:
            stored = stored or self._stored(request)
        except UnserialisableError:
            is_held = True
        if is_again:
            self.again.add(key)
        urls, row = self._store.urls, None
        if self.is_shared:
            if not is_held:
                self._later[key] = NewUrl(key, request.url, depth, stored, slot, rank, is_again)
                self._ask_for_turn()
        elif is_again:
            row = urls.queue_again(key, stored, slot=slot, rank=rank, is_held=is_held)
        else:
            row = urls.queue(key, request.url, depth, stored, slot=slot, rank=rank, is_held=is_held)
        if is_held:
            self.frontier.hold(slot, rank, key, request)
        elif row is not None:
            self.frontier.push(slot, row)
        return not is_held

    def _key(self, request: Request) -> bytes:
        return UrlKeys.of(self._crawler).fingerprint(request)

    def _stored(self, request: Request) -> bytes | None:
        """The request as the store keeps it; None: the spider makes it from URL and depth.

        Raises:
            UnserialisableError: JSON cannot hold it; a warning has said so.
        """
        if is_plain(request, self._crawler.spider):
            return None
        try:
            return to_bytes(request, self._spider)
        except UnserialisableError as error:
            self._warn_unserialisable(request, error)
            raise

    def _queue_later(self) -> None:
        """Queue what waits for it, in the turn whose commit comes next."""
        if not self._later:
            return
        later, self._later = self._later, {}
        for slot, row in self._store.workers.queue_many(list(later.values())):
            if slot in self.hosts:
                self.frontier.push(slot, row)
        self.frontier.done([key for key, each in later.items() if each.is_again])

    def is_ours(self, host: str) -> bool:
        """Does this process fetch from a host, at any port? Others learn the other hosts."""
        return not self.is_shared or host_without_port(host) in self.hosts

    def take_up(self, slots: Iterable[str]) -> None:
        """Fetch from these hosts, too."""
        for slot in slots:
            self.hosts.add(slot)
            self.frontier.take_up(slot)

    def look_again(self, slots: Iterable[str]) -> None:
        """Look into the store for what others have queued of these hosts."""
        for slot in slots:
            if slot in self.hosts and not self.frontier.has(slot):
                self.frontier.take_up(slot)

    def give_up(self, slots: Iterable[str]) -> None:
        """Fetch from these hosts no more."""
        for slot in slots:
            self.hosts.discard(slot)
            self.frontier.give_up(slot)

    def leave_hosts(self) -> None:
        """Let others fetch from all hosts, from each when the next request to it is due."""
        pauses = {host: delay_left(self._crawler, host) for host in self.hosts}
        self._store.workers.leave(pauses)
        self.hosts.clear()

    @property
    def has_later(self) -> bool:
        """Are there requests that are not queued yet?"""
        return bool(self._later)

    def _warn_unserialisable(self, request: Request, error: Exception) -> None:
        if not self._crawler.stats.get_value("scheduler/unserializable"):
            logger.warning(
                "%s cannot be stored and would be lost with the process: %s"
                " (later ones are only counted, as scheduler/unserializable)",
                request,
                error,
            )
        self._crawler.stats.inc_value("scheduler/unserializable")

    def request_of(self, row: QueuedUrl) -> Request:
        """The request of a row of the queue.

        Raises:
            Exception: any; the spider's code may have changed since it was queued.
        """
        if row.request is None:
            request = own_spider(self._crawler).page_request(row.url, depth=row.depth)
        elif is_revisit(row.request):
            request = self._revisiting(row.url, row.depth, json.loads(row.request)["revisit"])
        else:
            request = from_bytes(row.request, self._spider)
        request.priority = -row.rank
        request.meta[KEY] = row.key
        return request

    def _revisiting(self, url: str, depth: int, number: int) -> Request:
        request = own_spider(self._crawler).page_request(url, depth=depth)
        request.headers.update(self._store.refreshes.validators(number))
        request.meta[REVISIT] = number
        return request


def drop_held(store: JobStore) -> None:
    """Forget the requests that an earlier process held in memory alone; a warning says so."""
    if n_lost := store.urls.drop_held():
        logger.warning(
            "%d queued requests could not be stored and were lost with the last process; they are"
            " fetched if a page links to them again",
            n_lost,
        )


def _new_repeat() -> bytes:
    return _REPEAT + token_bytes(12)


def is_repeat(key: bytes) -> bool:
    """Is this the key of a request that was not filtered (`dont_filter`)?"""
    return key.startswith(_REPEAT)


def is_revisit(request: object) -> TypeGuard[bytes]:
    """Is this the request of a stored page's visit, as it is queued?"""
    return isinstance(request, bytes) and request.startswith(_REVISIT)


def _revisit(page: int) -> bytes:
    return b'{"revisit": %d}' % page


def _slot_of(request: Request) -> str:
    """Scrapy's download slot: the host, unless the request says otherwise."""
    return str(request.meta.get("download_slot") or urlparse_cached(request).hostname or "")
