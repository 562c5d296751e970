"""Learns what sites repeat while their pages arrive, and decides which pages wait.

What is learned, and which knowledge a page is read with, depends only on the order of arrival:
every decision uses what is in the store, so an interrupted job resumes without a difference.
The knowledge of a site has versions. The first version is made from ten names, and another one each
time the number of names has doubled. A version is used from `_LAG` names after it was made, so that
pages being read at that moment need not be read again.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Collection
from copy import deepcopy
from dataclasses import dataclass, field, replace

from zstandard import ZstdCompressor, ZstdDecompressor, ZstdError, get_frame_parameters

from dedup.sites.counts import Contribution, SiteCounts
from dedup.sites.outline import Outline
from dedup.sites.site import (
    FEW_NAMES,
    NAMES,
    PageText,
    Site,
    learn,
    rest_by_itself,
)
from dedup.store.records import Outlined, Page, with_text
from dedup.store.sql.learned import HostKnowledge
from dedup.urls.parts import host_of, host_without_port

logger = logging.getLogger(__name__)

POOL_PAGES = 64
"""The maximum of pages of a host that wait."""

EARLY_PAGES = 256
"""The maximum of pages of a host that are read again: those stored before the host is settled."""

_GROWTH = 2
_LAG = 16
_SITES_IN_MEMORY = 200
"""A full one takes 150 to 230 kB."""

MAX_OUTLINE_BYTES = 1_000_000
"""A page with a larger outline neither waits nor is read again: 5,000 lines, or a million
characters. Some hundred pages of a host are in memory while their repetitions are learned."""

_LINES_IN_MEMORY = 100_000
"""Lines of outlines; each takes about 230 bytes, and 200 once it has been counted."""

_MAX_STATE_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Ready:
    """A page that is ready to be judged.

    Attributes:
        page: the page with its final text.
        place: its place among the waiting pages, if it has waited.
        outline: set if the page is to be read again when more is known of its site.
    """

    page: Page
    place: int | None = None
    outline: Outline | None = None


@dataclass(frozen=True, slots=True)
class LearningStep:
    """The results of a page's arrival.

    Attributes:
        ready: the pages to judge now, in this order.
        reread: the numbers of early pages, each with the text read with today's knowledge.
    """

    ready: list[Ready] = field(default_factory=list)
    reread: list[tuple[int, PageText]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Version:
    """The knowledge at some time: the counts, as they are stored, and the site made from them."""

    counts: SiteCounts
    site: Site


class SiteState:
    """What has been learned of a site.

    Args:
        counts: the counts of its pages.
        used: the counts of the version in use; None: nothing is known yet.
        following: the counts of the next version, which is used from `next_from` names on.
        version: the number of the version in use.
    """

    def __init__(
        self,
        counts: SiteCounts | None = None,
        used: SiteCounts | None = None,
        following: SiteCounts | None = None,
        next_from: int = 0,
        version: int = 0,
    ) -> None:
        self.counts = counts or SiteCounts()
        self._used = _version(used, version) if used else None
        self._next = _version(following, version + 1) if following else None
        self._next_from = next_from

    @property
    def site(self) -> Site:
        """The version in use."""
        return self._used.site if self._used else Site()

    def site_for(self, ahead: int) -> Site:
        """The version that a page is read with if `ahead` other pages arrive before it."""
        if self._next and self.counts.n_names + ahead >= self._next_from:
            return self._next.site
        return self.site

    def begin(self, counts: SiteCounts) -> None:
        """Use the first version."""
        self.counts = counts
        self._used = _version(counts, 1)

    def add(self, page: Contribution) -> bool:
        """Count a page; return True if the next version is used from now on."""
        if self._used is None or not self.counts.add(page):
            return False
        n_names = self.counts.n_names
        if self._next is None:
            if n_names >= _GROWTH * self._used.counts.n_names:
                self._next = _version(self.counts, self.site.version + 1)
                self._next_from = n_names + _LAG
            return False
        if n_names < self._next_from:
            return False
        self._used, self._next = self._next, None
        return True

    def to_bytes(self) -> bytes:
        """Return the state as it is stored."""
        versions = [each.counts.to_bytes() if each else b"" for each in (self._used, self._next)]
        parts = [self.counts.to_bytes(), *versions]
        head = json.dumps([self.site.version, self._next_from, *map(len, parts)]).encode()
        return ZstdCompressor(level=1).compress(b"".join((head, b"\n", *parts)))

    @classmethod
    def from_bytes(cls, data: bytes) -> SiteState:
        """Return the state that `to_bytes` has written.

        Raises:
            ValueError: the bytes are in another format, or damaged.
        """
        try:
            if get_frame_parameters(data).content_size > _MAX_STATE_BYTES:  # so is one not told
                raise ValueError(f"more than {_MAX_STATE_BYTES:,} bytes")
            raw = ZstdDecompressor().decompress(data)
            head, _, rest = raw.partition(b"\n")
            version, next_from, *lengths = map(int, json.loads(head))
        except (ZstdError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"what was learned of a site is damaged: {error}") from error
        found: list[SiteCounts | None] = []
        for length in lengths:
            found.append(SiteCounts.from_bytes(rest[:length]) if length else None)
            rest = rest[length:]
        counts, used, following = (*found, None, None, None)[:3]
        return cls(counts or SiteCounts(), used, following, next_from, version)


def read_state(host: str, data: bytes | None) -> SiteState:
    """The stored state of a host; a damaged one is logged, and counts as none."""
    try:
        return SiteState() if data is None else SiteState.from_bytes(data)
    except ValueError as error:
        logger.warning("%s: %s; it is learned again", host, error)
        return SiteState()


def _size_bytes(outline: Outline) -> int:
    """About how much memory an outline takes."""
    return 200 * outline.size.n_lines + outline.size.n_characters


def _version(counts: SiteCounts, version: int) -> _Version:
    """Make a version, without the lines that only one page has: they carry no information."""
    found = deepcopy(counts)
    kept = found.line_counts > 1
    found.lines, found.line_counts = found.lines[kept], found.line_counts[kept]
    found.line_seen = found.line_seen[kept] * 0
    return _Version(found, Site(found, version=version))


@dataclass(slots=True)
class _Pool:
    """The waiting pages of a host, by place, and its early pages, by number.

    Attributes:
        n_lines: the lines of their outlines, when last counted.
    """

    waiting: dict[int, Outlined]
    early: dict[int, Outlined]
    n_lines: int = 0

    def count(self) -> int:
        """Count the lines again; return how many were added."""
        before = self.n_lines
        pages = (*self.waiting.values(), *self.early.values())
        self.n_lines = sum(page.outline.size.n_lines for page in pages)
        return self.n_lines - before


class SiteLearner:
    """Decides which pages wait until enough is known of their site.

    A page waits until pages of ten different names have arrived. It goes on without that knowledge
    if 64 other pages of its host wait, if `max_waiting` pages of all hosts wait, or if its outline
    is very large (`MAX_OUTLINE_BYTES`).

    Args:
        learned: the store of what is known, and of the waiting pages.
        max_waiting: the maximum of waiting pages; 0: no page waits.
        is_shared: other processes learn other hosts; this one learns only those it takes up. Of
            the others it knows in each turn what has been stored before.
    """

    def __init__(
        self, learned: HostKnowledge, *, max_waiting: int, is_shared: bool = False
    ) -> None:
        self._learned = learned
        self._max_waiting = max_waiting
        self._states: OrderedDict[str, SiteState] = OrderedDict()
        self._changed: set[str] = set()
        """Hosts whose state in memory is newer than in the store."""
        self._pools: OrderedDict[str, _Pool] = OrderedDict()
        self._n_lines = 0
        """The lines of all pools."""
        self._n_waiting = {} if is_shared else learned.count_waiting()
        self._released: set[str] = set()
        """Hosts that became known through an early page, and may have pages waiting for that."""
        self._on_their_way: dict[int, str] = {}
        """The hosts of pages being judged, by place; the store still has these as waiting."""
        self._names: set[str] = set()
        """In a shared job: the names of the hosts that this process learns."""
        learned.before_commit(self._write)
        if is_shared:
            learned.after_begin(self._forget_others)

    @property
    def n_waiting(self) -> int:
        """How many pages wait, not counting those being judged."""
        return sum(self._n_waiting.values())

    @property
    def n_unjudged(self) -> int:
        """How many fetched pages have no verdict yet, counting those being judged."""
        return self.n_waiting + len(self._on_their_way)

    def take_up(self, names: Collection[str]) -> None:
        """Continue to learn hosts of these names, at any port, where another process stopped."""
        self.give_up(names)
        self._names.update(names)
        found = self._learned.count_waiting()
        self._n_waiting.update(
            {host: n for host, n in found.items() if host_without_port(host) in names}
        )

    def give_up(self, names: Collection[str]) -> None:
        """Forget hosts of these names: another process learns them from now on."""
        self._names.difference_update(names)
        for known in (self._states, self._pools, self._n_waiting):
            for host in [each for each in known if host_without_port(each) in names]:
                del known[host]
        self._learned.forget_counts()
        self._n_lines = sum(pool.n_lines for pool in self._pools.values())
        self._released = {each for each in self._released if host_without_port(each) not in names}
        self._changed = {each for each in self._changed if host_without_port(each) not in names}

    def names_waiting(self) -> set[str]:
        """The names of hosts with waiting pages."""
        return set(map(host_without_port, self._n_waiting))

    def names_judged(self) -> set[str]:
        """The names of hosts with pages that waited and are being judged."""
        return set(map(host_without_port, self._on_their_way.values()))

    def site(self, host: str, *, ahead: int = 0) -> Site:
        """The knowledge to read a page with if `ahead` other pages of its host arrive before it."""
        return self._state(host).site_for(ahead)

    def known_site(self, host: str) -> Site | None:
        """What is known of a host; None: nothing."""
        return self.site(host) or None

    def add(self, url: str | None, page: Contribution) -> LearningStep:
        """Count a page that was read with knowledge of its site."""
        host = host_of(url)
        progress = LearningStep()
        state = self._state(host)
        n_names = state.counts.n_names
        is_newer = state.add(page)
        if state.counts.n_names > n_names:
            self._changed.add(host)
        if is_newer:
            self._read_early(host, progress, keep=not state.site.is_settled)
        return progress

    def arrive(self, page: Page, outline: Outline) -> LearningStep:
        """Take a page that was read when nothing was known of its site."""
        host = host_of(page.url)
        progress = LearningStep()
        if not host or not self._max_waiting:
            progress.ready.append(Ready(page, outline=outline))
            return progress
        if _size_bytes(outline) > MAX_OUTLINE_BYTES:
            progress.ready.append(Ready(replace(page, rest=rest_by_itself(outline))))
            return progress
        place = self._learned.add_waiting(page, outline)
        self._n_waiting[host] = self._n_waiting.get(host, 0) + 1
        if host in self._pools:
            self._pools[host].waiting[place] = Outlined(place, page.title, page.url, outline)
            self._count_lines(host)
        n_pages = self._n_waiting[host] + self._learned.count_early(host)
        if n_pages >= NAMES and self._learn(host, progress, min_names=NAMES):
            self._release(host, progress)
        if self._n_waiting.get(host, 0) > POOL_PAGES:
            self._let_go(host, progress, at_most=1)
        while self.n_waiting > self._max_waiting:
            self._let_go(next(iter(self._n_waiting)), progress, at_most=POOL_PAGES)
        return progress

    def early(self, number: int, page: Page, outline: Outline) -> LearningStep:
        """Take a page that was stored early; it is read again when enough is known of its site."""
        host = host_of(page.url)
        progress = LearningStep()
        if not host or _size_bytes(outline) > MAX_OUTLINE_BYTES:
            return progress
        self._learned.add_early(number, host, outline, at_most=EARLY_PAGES)
        if host in self._pools:
            early = self._pools[host].early
            early[number] = Outlined(number, page.title, page.url, outline)
            while len(early) > EARLY_PAGES:
                del early[min(early)]
            self._count_lines(host)
        may_learn = not self.site(host) and self._learned.count_early(host) >= NAMES
        if may_learn and self._learn(host, progress, min_names=NAMES):
            self._released.add(host)
        return progress

    def release(self, url: str) -> LearningStep:
        """Return the pages that waited for what an early page of their host has made known.

        Call it when the next page of the host arrives: the returned pages come before it.
        """
        host = host_of(url)
        progress = LearningStep()
        if host in self._released:
            self._released.discard(host)
            self._release(host, progress)
        return progress

    def done(self, place: int) -> None:
        """Note that a ready page has been recorded."""
        self._learned.drop_waiting(place)
        host = self._on_their_way.pop(place, "")
        if host in self._pools:
            self._pools[host].waiting.pop(place, None)

    def resume(self) -> LearningStep:
        """Return the pages that were ready when an earlier process ended."""
        progress = LearningStep()
        for host in list(self._n_waiting):
            if self.site(host):
                self._release(host, progress)
        return progress

    def finish(self) -> LearningStep:
        """Return the waiting pages of one host, read with what is known; empty: no page waits.

        Four names are enough here, because no more pages will arrive.
        """
        progress = LearningStep()
        while self._n_waiting and not progress.ready:
            host = next(iter(self._n_waiting))
            self._release(host, progress)
            if self._n_waiting.get(host) and self._learn(host, progress, min_names=FEW_NAMES):
                self._release(host, progress)
            self._let_go(host, progress, at_most=POOL_PAGES)
            if not progress.ready:
                self._n_waiting.pop(host, None)  # none of them is left in the store
        return progress

    # --- Private ---------------------------------------------------------------------------------

    def _state(self, host: str) -> SiteState:
        state = self._states.get(host)
        if state is None:
            data = self._learned.site(host)
            state = self._states[host] = read_state(host, data)
            if len(self._states) > _SITES_IN_MEMORY:
                self._make_room()
        else:
            self._states.move_to_end(host)
        return state

    def _forget_others(self) -> None:
        """Forget hosts that other processes learn: these may have stored more about them."""
        for host in [each for each in self._states if host_without_port(each) not in self._names]:
            del self._states[host]

    def _make_room(self) -> None:
        host = next(iter(self._states))
        if host in self._changed:
            self._write()
        del self._states[host]

    def _write(self) -> None:
        """Store what has been learned, in one transaction with the pages it was learned from."""
        changed, self._changed = self._changed, set()
        for host in sorted(changed):
            self._learned.set_site(host, self._states[host].to_bytes())

    def _learn(self, host: str, progress: LearningStep, *, min_names: int) -> bool:
        """Make the first version of a site; return False if there are too few names."""
        pool = self._pool(host)
        pages = [*pool.early.values(), *self._still_waiting(host)]
        if self.site(host) or len({page.name for page in pages}) < min_names:
            return False
        state = self._state(host)
        state.begin(learn((page.lines, page.title, page.url or "") for page in pages))
        self._changed.add(host)
        self._read_early(host, progress, keep=not state.site.is_settled)
        return True

    def _read_early(self, host: str, progress: LearningStep, *, keep: bool = False) -> None:
        """Read early pages again; `keep`: they will be read once more later."""
        site = self.site(host)
        early = self._pool(host).early
        for page in list(early.values()):
            own = site.read_again(page.lines, page.name, page.title)
            if own is not None:
                progress.reread.append((page.key, own))
        if not keep:
            self._learned.drop_early(list(early))
            early.clear()

    def _release(self, host: str, progress: LearningStep) -> None:
        """Make the waiting pages of a host ready, if enough is known of it."""
        site = self.site(host)
        if not site:
            return
        for each in self._still_waiting(host):
            own = site.read_again(each.lines, each.name, each.title)
            page = self._learned.waiting_page(each.key)
            page = page if own is None else with_text(page, own)
            outline = None if site.is_settled else each.outline
            self._send(host, Ready(page, each.key, outline), progress)

    def _let_go(self, host: str, progress: LearningStep, *, at_most: int) -> None:
        """Make the pages that have waited longest ready, without knowledge of their site."""
        for each in self._still_waiting(host)[:at_most]:
            page = self._learned.waiting_page(each.key)
            page = replace(page, rest=rest_by_itself(each.outline))
            self._send(host, Ready(page, each.key, each.outline), progress)

    def _send(self, host: str, ready: Ready, progress: LearningStep) -> None:
        progress.ready.append(ready)
        if ready.place is not None:
            self._on_their_way[ready.place] = host
        self._n_waiting[host] -= 1
        if not self._n_waiting[host]:
            del self._n_waiting[host]

    def _still_waiting(self, host: str) -> list[Outlined]:
        waiting = self._pool(host).waiting
        return [waiting[place] for place in sorted(waiting) if place not in self._on_their_way]

    def _pool(self, host: str) -> _Pool:
        if host in self._pools:
            self._pools.move_to_end(host)
            return self._pools[host]
        pool = self._pools[host] = _Pool(
            {each.key: each for each in self._learned.waiting(host)},
            {each.key: each for each in self._learned.early(host)},
        )
        self._count_lines(host)
        return pool

    def _count_lines(self, host: str) -> None:
        """Count the lines of a host again; if all pools have too many, drop those of others."""
        self._pools.move_to_end(host)
        self._n_lines += self._pools[host].count()
        while len(self._pools) > 1 and self._n_lines > _LINES_IN_MEMORY:
            _, dropped = self._pools.popitem(last=False)
            self._n_lines -= dropped.n_lines
