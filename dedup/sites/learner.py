"""Learns what sites repeat while their pages arrive, and decides which pages wait.

What is learned, and which knowledge a page is read with, depends only on the order of arrival:
every decision uses what is in the store, so an interrupted job resumes without a difference.
What is known of a site, in versions, is a `SiteState`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from dedup.sites.counts import Contribution
from dedup.sites.outline import Outline
from dedup.sites.site import (
    FEW_NAMES,
    NAMES,
    PageText,
    Site,
    rest_by_itself,
)
from dedup.sites.state import SiteState, first_state, read_state
from dedup.store.records import Outlined, Page, with_text
from dedup.store.sql.learned import HostKnowledge
from dedup.urls.parts import host_of, host_without_port

POOL_PAGES = 64
"""The maximum of pages of a host that wait."""

EARLY_PAGES = 256
"""The maximum of pages of a host that are read again: those stored before the host is settled."""

_SITES_IN_MEMORY = 200
"""A full one takes 150 to 230 kB."""

MAX_OUTLINE_BYTES = 1_000_000
"""A page with a larger outline neither waits nor is read again: 5,000 lines, or a million
characters. Some hundred pages of a host are in memory while their repetitions are learned."""

_LINES_IN_MEMORY = 100_000
"""Lines of outlines; each takes about 230 bytes, and 200 once it has been counted."""


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


def _size_bytes(outline: Outline) -> int:
    """About how much memory an outline takes."""
    return 200 * outline.size.n_lines + outline.size.n_characters


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
        earlier: gives what earlier crawls have learned of a host.
    """

    def __init__(
        self,
        learned: HostKnowledge,
        *,
        max_waiting: int,
        is_shared: bool = False,
        earlier: Callable[[str], Iterable[SiteState]] = lambda _: (),
    ) -> None:
        self._learned = learned
        self._earlier = earlier
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

    def replaced(self, number: int, page: Page, outline: Outline | None) -> None:
        """Take the new version of a page: if that was stored early, it is what is read again."""
        host = host_of(page.url)
        if outline is not None and _size_bytes(outline) > MAX_OUTLINE_BYTES:
            outline = None
        self._learned.replace_early(number, outline)
        early = self._pools[host].early if host in self._pools else {}
        if number in early:
            if outline is None:
                del early[number]
            else:
                early[number] = Outlined(number, page.title, page.url, outline)
            self._count_lines(host)

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
        first = [(page.lines, page.title, page.url or "") for page in pages]
        state = self._states[host] = first_state(first, self._earlier(host))
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
