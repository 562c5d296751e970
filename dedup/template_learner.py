"""Learning templates while pages arrive: which pages wait, and which are ready to be judged.

What is learned, and of which pages, depends on the order of arrival alone: every decision is made
of what the store holds, so an interrupted job goes on as if nothing had happened.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from dedup.store.interface import HostKnowledge
from dedup.store.records import Outlined, Page
from dedup.templates.grouping import FEW_PAGES, PAGES
from dedup.templates.learning import learn
from dedup.templates.measuring import Sample
from dedup.templates.outline import Outline
from dedup.templates.site import MAX_TEMPLATES, OwnText, Site
from dedup.urls.parts import host_of, host_without_port

POOL_PAGES = 64
"""Pages of a host that templates are learned from, at most: those that arrived last."""

_SITES_IN_MEMORY = 2_000
_LINES_IN_MEMORY = 200_000
"""Of outlines, some 200 bytes each."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A page that is ready to be judged.

    Attributes:
        page: with its final text.
        place: its place among the pages that wait, where it has waited.
        outline: of a page whose template is still not known.
    """

    page: Page
    place: int | None = None
    outline: Outline | None = None


@dataclass(frozen=True, slots=True)
class LearningStep:
    """What the arrival of a page has brought about.

    Attributes:
        ready: the pages to be judged now, in this order.
        reread: the numbers of early pages, and what they say by their template.
    """

    ready: list[Ready] = field(default_factory=list)
    reread: list[tuple[int, OwnText]] = field(default_factory=list)


@dataclass(slots=True)
class _Pool:
    """The pages of a host that templates are learned from, by place and by number."""

    waiting: dict[int, Outlined]
    early: dict[int, Outlined]

    @property
    def n_lines(self) -> int:
        pages = (*self.waiting.values(), *self.early.values())
        return sum(len(page.outline.lines) for page in pages)


class TemplateLearner:
    """Decides for each page of a template that is not known whether it waits.

    A page waits until its template has been learned, from ten pages of different names; or until 64
    other pages of its host wait, or `max_waiting` pages of all hosts: then it goes on without.

    Args:
        learned: where templates and waiting pages are kept.
        max_waiting: pages that wait at the most; 0: none does, each goes on without its template.
        is_shared: other processes learn of other hosts: this one of those that it takes up.
    """

    def __init__(
        self, learned: HostKnowledge, *, max_waiting: int, is_shared: bool = False
    ) -> None:
        self._learned = learned
        self._max_waiting = max_waiting
        self._sites: OrderedDict[str, Site] = OrderedDict()
        self._pools: OrderedDict[str, _Pool] = OrderedDict()
        self._n_waiting = {} if is_shared else learned.count_waiting()
        self._n_early = {} if is_shared else learned.count_early()
        self._released: set[str] = set()
        """Hosts of which a template was learned from an early page, and pages may wait for it."""
        self._on_their_way: dict[int, str] = {}
        """Hosts by the places of pages that are being judged, and still wait in the store."""

    @property
    def n_waiting(self) -> int:
        """How many pages wait, those on their way left out."""
        return sum(self._n_waiting.values())

    @property
    def n_unjudged(self) -> int:
        """How many pages have been fetched and are not judged yet, those on their way too."""
        return self.n_waiting + len(self._on_their_way)

    def take_up(self, names: Collection[str]) -> None:
        """Go on learning of hosts of these names, at whatever port, where another has stopped."""
        self.give_up(names)
        for counts, found in (
            (self._n_waiting, self._learned.count_waiting()),
            (self._n_early, self._learned.count_early()),
        ):
            counts.update(
                {host: n for host, n in found.items() if host_without_port(host) in names}
            )

    def give_up(self, names: Collection[str]) -> None:
        """Forget hosts of these names: another process learns of them from here on."""
        for known in (self._sites, self._pools, self._n_waiting, self._n_early):
            for host in [each for each in known if host_without_port(each) in names]:
                del known[host]
        self._released = {each for each in self._released if host_without_port(each) not in names}

    def names_waiting(self) -> set[str]:
        """The names of hosts that have pages which wait."""
        return set(map(host_without_port, self._n_waiting))

    def names_judged(self) -> set[str]:
        """The names of hosts that have pages which waited, and are being judged."""
        return set(map(host_without_port, self._on_their_way.values()))

    def site(self, host: str) -> Site:
        """What is known of a host's templates."""
        site = self._sites.get(host)
        if site is None:
            site = self._sites[host] = Site(self._learned.templates(host))
            if len(self._sites) > _SITES_IN_MEMORY:
                self._sites.popitem(last=False)
        else:
            self._sites.move_to_end(host)
        return site

    def arrive(self, page: Page, outline: Outline) -> LearningStep:
        """Take a page that was read without a template."""
        host = host_of(page.url)
        progress = LearningStep()
        own = self.site(host).read_outline(outline, page.title)
        if own is not None:
            progress.ready.append(Ready(_with_text(page, own)))
            return progress
        if not host or not self._max_waiting:
            progress.ready.append(Ready(page, outline=outline))
            return progress
        place = self._learned.add_waiting(page, outline)
        self._n_waiting[host] = self._n_waiting.get(host, 0) + 1
        if host in self._pools:
            self._pools[host].waiting[place] = Outlined(place, page.title, outline)
        if self._is_due(host, place) and self._learn(host, progress, min_pages=PAGES):
            self._release(host, progress)
        if self._n_waiting.get(host, 0) > POOL_PAGES:
            self._let_go(host, progress, at_most=1)
        while self.n_waiting > self._max_waiting:
            self._let_go(next(iter(self._n_waiting)), progress, at_most=POOL_PAGES)
        return progress

    def early(self, number: int, page: Page, outline: Outline) -> LearningStep:
        """Take a page that was stored without its template: it is read anew once that is known."""
        host = host_of(page.url)
        progress = LearningStep()
        if not host:
            return progress
        self._learned.add_early(number, host, outline, at_most=POOL_PAGES)
        self._n_early[host] = min(self._n_early.get(host, 0) + 1, POOL_PAGES)
        if host in self._pools:
            early = self._pools[host].early
            early[number] = Outlined(number, page.title, outline)
            while len(early) > POOL_PAGES:
                del early[min(early)]
        if self._is_due(host, number) and self._learn(host, progress, min_pages=PAGES):
            self._released.add(host)
        return progress

    def release(self, url: str) -> LearningStep:
        """The pages that wait for a template that an early page of this host has made known.

        To be asked for when the next page of the host arrives: these come before it.
        """
        host = host_of(url)
        progress = LearningStep()
        if host in self._released:
            self._released.discard(host)
            self._release(host, progress)
        return progress

    def done(self, place: int) -> None:
        """Note that a page that was ready has been recorded."""
        self._learned.drop_waiting(place)
        host = self._on_their_way.pop(place, "")
        if host in self._pools:
            self._pools[host].waiting.pop(place, None)

    def resume(self) -> LearningStep:
        """The pages that were ready when an earlier process ended."""
        progress = LearningStep()
        for host in list(self._n_waiting):
            if self.site(host).templates:
                self._release(host, progress)
        return progress

    def finish(self) -> LearningStep:
        """The pages of one host that wait, by what is known; nothing: no page waits.

        Templates are learned from as few as four pages here, as no more will come.
        """
        progress = LearningStep()
        while self._n_waiting and not progress.ready:
            host = next(iter(self._n_waiting))
            self._release(host, progress)
            if self._learn(host, progress, min_pages=FEW_PAGES):
                self._release(host, progress)
            self._let_go(host, progress, at_most=POOL_PAGES)
            if not progress.ready:
                del self._n_waiting[host]  # none of them is left in the store
        return progress

    # --- Private ---------------------------------------------------------------------------------

    def _is_due(self, host: str, place: int) -> bool:
        """Is it time to look for templates again? Ever more rarely, where none is found."""
        n_pages = self._n_waiting.get(host, 0) + self._n_early.get(host, 0)
        every = 1 if n_pages < 15 else 3 if n_pages < 30 else 8
        return n_pages >= PAGES and place % every == 0

    def _learn(self, host: str, progress: LearningStep, *, min_pages: int) -> bool:
        """Look for templates, and bring early pages to their texts; False: there are none."""
        site = self.site(host)
        if len(site.templates) >= MAX_TEMPLATES:
            return False
        early = list(self._pool(host).early.values())
        pages = [*early, *self._still_waiting(host)][-POOL_PAGES:]
        samples = [Sample(page.title, page.outline) for page in pages]
        templates = learn(samples, min_pages=min_pages) if len(samples) >= min_pages else []
        if not templates:
            return False
        self._learned.add_templates(host, templates, first=len(site.templates))
        site = self._sites[host] = Site([*site.templates, *templates])
        for page in early:
            own = site.read_outline(page.outline, page.title)
            if own is not None:
                progress.reread.append((page.key, own))
                del self._pool(host).early[page.key]
        self._learned.drop_early([number for number, _ in progress.reread])
        self._n_early[host] = len(self._pool(host).early)
        return True

    def _release(self, host: str, progress: LearningStep) -> None:
        """Let go of the pages of a host whose template is known."""
        site = self.site(host)
        for each in self._still_waiting(host):
            own = site.read_outline(each.outline, each.title)
            if own is not None:
                page = _with_text(self._learned.waiting_page(each.key), own)
                self._send(host, Ready(page, each.key), progress)

    def _let_go(self, host: str, progress: LearningStep, *, at_most: int) -> None:
        """Let the pages of a host that wait longest go on without their template."""
        site = self.site(host)
        for each in self._still_waiting(host)[:at_most]:
            page = self._learned.waiting_page(each.key)
            own = site.read_outline(each.outline, each.title, strictly=False)
            if own is not None:
                page = replace(page, text=own.text, heading=own.heading, own_title=own.title)
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
        n_lines = sum(each.n_lines for each in self._pools.values())
        while len(self._pools) > 1 and n_lines > _LINES_IN_MEMORY:
            _, dropped = self._pools.popitem(last=False)
            n_lines -= dropped.n_lines
        return pool


def _with_text(page: Page, own: OwnText) -> Page:
    return replace(
        page,
        text=own.text,
        heading=own.heading,
        own_title=own.title,
        source="box",
        template=own.template,
    )
