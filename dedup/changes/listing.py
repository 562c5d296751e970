"""The changes of a job's pages since some time, and what a refresh has found in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from dedup.changes.furniture import (
    AT_LEAST,
    Furniture,
    Shown,
    Template,
    UrlNames,
    enough_pages,
    templates,
)
from dedup.changes.lines import (
    MAX_PASSAGES,
    PIECE,
    Difference,
    IsFurniture,
    changed_numbers,
    difference,
    differing_keys,
    line_key,
    replaced_keys,
    shortened,
)
from dedup.changes.page_names import PageNames
from dedup.changes.rereading import Rereading
from dedup.changes.whole_page import Bodies, Rotating, beside_counts, text_with_labels, whole_pages
from dedup.sites.site import Site
from dedup.sites.state import read_state
from dedup.store import JobStore
from dedup.store.sql.changes import AwayPage, ChangedPage, Refresh
from dedup.store.sql.refresh import is_most
from dedup.times import iso_time
from dedup.urls.parts import host_of

_NOTHING = Template()
_BATCH = 1_000
_ROTATING = "rotating"
"""The name in `meta` of what rotated in the last refresh."""

_WHY_GONE = {"noindex": "marked noindex", "not_html": "no longer a page"}
_STEPS = 20
"""The latest versions of a page in its history."""


class Change(NamedTuple):
    """A change of a page, of a template, or what a host has answered.

    Attributes:
        change: `new`, `changed`, `gone`, `back` or `moved`; of a host: `template`, which many pages
            have changed, or `failed`: most pages were not answered, or not as pages.
        seen_at: when it was seen, seconds since 1970.
        moved_to: the other URL.
        share: of the page's words that changed, 0 to 1.
        came, went: passages; some, shortened. Of a template: those that most pages share.
        note: a sentence.
    """

    url: str
    change: str
    seen_at: float
    moved_to: str | None = None
    share: float | None = None
    came: Sequence[str] = ()
    went: Sequence[str] = ()
    note: str = ""


class Changes:
    """What has changed since some time.

    Args:
        since: seconds since 1970; None: since the visit before the last.
        folder: of temporary files.

    Raises:
        ValueError: what pages were at that time is deleted.

    Attributes:
        since: seconds since 1970.
        refreshes: those of the job, the first one first.
    """

    def __init__(self, store: JobStore, since: float | None, folder: Path) -> None:
        self._store = store
        self._bodies = Bodies(rotating := store.meta(_ROTATING))
        self._rotating = Rotating(rotating)
        """What rotates in the last refresh."""
        self._site = lru_cache(1)(self._read_site)
        self.refreshes = store.refreshes.changes.refreshes()
        if since is not None:
            store.refreshes.retention.check(since)
        else:
            since = self.refreshes[-1].began if self.refreshes else 0.0
        self.since = since
        self._last: tuple[str, Furniture, Rereading] | None = None
        pages = store.refreshes.changes.pages_by_host()
        self._n_pages = pages
        self._n_new: Counter[str] = Counter()
        """How many pages of each host have a new version."""
        self._n_changed: Counter[str] = Counter()
        """How many of these have another text."""
        self._n_visited = self._visited()
        spanned = [each.number for each in self.refreshes if each.began >= self.since]
        self._recorded = store.refreshes.changes.recorded(spanned if len(spanned) > 1 else [])
        """Of several refreshes, the pages that one of them found changed."""
        self._names = PageNames(store.refreshes.changes.titles)
        self._templates = templates(self._counted(), self._there_by_host(), self._names_of, folder)
        self._bodies = self._read_bodies()

    def rows(self) -> Iterator[Change]:
        """The changes: of hosts, of pages that are there, and of pages that are not."""
        changes = self._store.refreshes.changes
        away, away_then = changes.away(changes.until()), changes.away(self.since)
        yield from self._hosts()
        yield from self._there(away, away_then)
        yield from self._away(away, away_then)

    def texts(self) -> Iterator[tuple[ChangedPage, Difference | None]]:
        """The pages with a new version, and how their own texts differ; None: not at all."""
        for page in self._changed():
            found = self._difference(page)
            if found is None and page.url in self._recorded:
                found = self._recorded_difference(page)
            yield page, found

    def history(self, url: str) -> list[Change]:
        """What each new version of a page has changed, as the stored texts tell, the last first.

        Lines that many pages have today, or have changed since the given time, do not count.
        """
        found = []
        for page in map(shortened, self._store.refreshes.changes.steps(url, _STEPS)):
            own = difference(page, partial(self._known(page.host)[0], None, ()))
            if own is not None:
                at = page.now.fetched_at
                found.append(Change(url, "changed", at, None, own.share, own.came, own.went))
        return found

    def _visited(self) -> dict[str, int]:
        """How many pages of each host a refresh has visited, at most."""
        found: dict[str, int] = {}
        for refresh in self.refreshes:
            if refresh.began >= self.since:
                answers = self._store.refreshes.changes.answers(refresh.number)
                for host, counts in answers.items():
                    found[host] = max(found.get(host, 0), sum(counts.values()))
        return found

    def _counted(self) -> Iterator[ChangedPage]:
        """The pages with a new version; they are counted by host."""
        for page in self._changed():
            self._n_new[page.host] += 1
            self._n_changed[page.host] += not page.is_beside
            yield page

    def _changed(self) -> Iterator[ChangedPage]:
        """The pages with a new version; where the text is the same, with what stands beside it."""
        for page in self._store.refreshes.changes.changed(self.since):
            is_same = page.then[1:] == page.now[1:]
            whole = self._whole(page, self._bodies.rotating) if is_same else None
            yield whole or shortened(page)

    def _whole(self, page: ChangedPage, rotating: Rotating) -> ChangedPage | None:
        """A page with what stands beside its text, but for what rotates; None: has it no bodies?"""
        bodies = self._store.refreshes.changes.bodies(page.number, self.since)
        if (both := whole_pages(*bodies)) is None:
            return None
        site, beside = self._site(page.host), beside_counts(*both)
        are_own = partial(rotating.are_own, page.host, site, beside)
        then, now = (text_with_labels(each, are_own(each)) for each in both)
        return page._replace(
            then=page.then._replace(text=then), now=page.now._replace(text=now), is_beside=True
        )

    def _read_bodies(self) -> Bodies:
        """What differs in the bodies of hosts on which several pages have new versions."""
        found, changes = Bodies(self._store.meta(_ROTATING)), self._store.refreshes.changes
        visited = self._n_visited
        many = {host: visited.get(host, 0) for host, n in self._n_new.items() if n >= AT_LEAST}
        for page in changes.changed(self.since) if many else ():
            if page.host in many:
                bodies = changes.bodies(page.number, self.since)
                found.add(page.host, self._site(page.host), *bodies)
        for host, n_pages in many.items():
            found.rotating.note_visits(host, n_pages)
        return found

    def _there_by_host(self) -> dict[str, int]:
        """How many pages of each host are there; `away` has duplicates, too, which are no pages."""
        changes = self._store.refreshes.changes
        away = changes.away(changes.until())
        there = dict(self._n_pages)
        for host in there.keys() & set(map(host_of, away)):
            there[host] -= sum(url in away for url in changes.urls(host))
        return there

    def _names_of(self, host: str) -> UrlNames:
        return UrlNames.of(self._store.refreshes.changes.urls(host))

    def _difference(self, page: ChangedPage) -> Difference | None:
        """How a page's own text differs; None: not at all.

        It differs however it is read, or by lines that came to the whole page, or left it.
        """
        furniture, rereading = self._known(page.host)
        numbers, values = furniture.numbers_of(page), furniture.values_of(page)
        if page.is_beside:
            is_furniture = partial(furniture, None, numbers | values)
            return self._of_whole(page, is_furniture, numbers)
        own = numbers | furniture.shared_of(page)
        is_same = difference(page, partial(furniture.has_changed, own)) is None
        labels = furniture.labels_of(page)
        is_renumbered = not differing_keys(page)
        if is_same and not labels and not is_renumbered:
            return None
        again = rereading(page, labels)
        furniture.note(labels, again)
        if again is None:  # nothing tells lists from menus
            return None if is_same else difference(page, partial(furniture, None, numbers))
        own = numbers | furniture.shared_of(page, again.beside)
        found = None
        if again.labels or not is_same:
            for each in (page, *again.texts()):
                is_renumbered |= not differing_keys(each)
                if (found := difference(each, partial(furniture, again, own))) is None:
                    break
        whole = again.whole()
        numbers |= furniture.numbers_of(whole)
        own |= numbers | values | furniture.values_of(whole)
        stored = None if is_renumbered or found is not None else again.stored
        of_whole = self._of_whole(whole, partial(furniture, again, own), numbers, stored)
        if found is None or of_whole is None:
            return found or of_whole
        return found.with_more(of_whole)

    def _recorded_difference(self, page: ChangedPage) -> Difference | None:
        """How a page differs that a refresh found changed, before or after most others changed.

        Its numbers count, and what rotates in the last refresh alone does not.
        """
        page = self._whole(page, self._rotating) or page
        numbers = changed_numbers(page).keys()
        return difference(page, partial(self._known(page.host)[0], None, numbers))

    def _of_whole(
        self,
        page: ChangedPage,
        is_furniture: IsFurniture,
        numbers: Collection[str],
        stored: Collection[str] | None = None,
    ) -> Difference | None:
        """How a page differs that is given with all of its lines; None: not at all.

        Lines that came to the bodies of many pages, or left them, do not count, unless their
        numbers are the page's own, or words beside these, nor does another order.

        `stored`: the lines of the page's texts; others do not count. None: they do.
        """
        enough = enough_pages(self._n_pages.get(page.host, 0))
        own = {*numbers, *replaced_keys(page)}

        def is_out(lines: Sequence[str]) -> list[bool]:
            on_many = self._bodies.are_on(page.host, enough, lines)
            return [
                out
                or (many and line_key(line) not in own)
                or not (stored is None or line in stored or line.startswith(PIECE))
                for line, out, many in zip(lines, is_furniture(lines), on_many, strict=True)
            ]

        found = difference(page, is_out)
        return found if found is not None and (found.came or found.went) else None

    def _read_site(self, host: str) -> Site:
        return read_state(host, self._store.learned.site(host)).site

    def _known(self, host: str) -> tuple[Furniture, Rereading]:
        """What is known of a host; that of the last host is kept."""
        if self._last is None or self._last[0] != host:
            site = self._site(host)
            template = self._templates.get(host, _NOTHING)
            rereading = Rereading(
                self._store.refreshes.changes,
                host,
                site,
                self.since,
                n_pages=self._n_pages.get(host, 0),
                is_new=self._n_changed[host] >= AT_LEAST,
                are_own=partial(self._bodies.rotating.are_own, host, site),
            )
            are_names = partial(self._names.are_names, host)
            furniture = Furniture(template, site, are_names, self._n_visited.get(host, 0))
            self._last = host, furniture, rereading
        return self._last[1:]

    def _hosts(self) -> Iterator[Change]:
        shown = {host: Shown(each) for host, each in self._templates.items() if each.keys}
        for page in self._changed() if shown else ():
            if page.host in shown:
                shown[page.host].add(page)
        for host, found in sorted(shown.items()):
            n_pages = max(self._templates[host].keys.values())
            note = f"lines that {n_pages:,} pages share have changed"
            came, went = found.passages()
            yield Change(host, "template", found.seen_at, None, None, came, went, note)
        for refresh in self.refreshes:
            if refresh.began >= self.since:
                yield from self._rotated(refresh)
                for host, counts in self._store.refreshes.changes.answers(refresh.number).items():
                    n_visited = sum(counts.values())
                    failed = {name: n for name, n in counts.items() if name.startswith("failed")}
                    if is_most(sum(failed.values()), n_visited):
                        note = _failures(failed, n_visited)
                        yield Change(host, "failed", refresh.began, note=note)

    def _rotated(self, refresh: Refresh) -> Iterator[Change]:
        """What most pages of a host have said otherwise since a refresh, and not before."""
        for host, places in sorted(self._rotating.known.items()):
            found = [each for each in places.values() if each.refresh == refresh.number]
            found = sorted(found, key=lambda each: -each.n_pages)[:MAX_PASSAGES]
            if found:
                came, went = (
                    tuple(filter(None, each))
                    for each in zip(*((each.came, each.went) for each in found), strict=True)
                )
                note = f"the same place has changed on {found[0].n_pages:,} pages"
                yield Change(host, "template", refresh.began, None, None, came, went, note)

    def _there(self, away: dict[str, AwayPage], away_then: dict[str, AwayPage]) -> Iterator[Change]:
        back = self._store.refreshes.changes.back(self.since)
        back = {url: at for url, at in back.items() if url in away_then and url not in away}
        for page, found in self.texts():
            if page.url in away or found is None:
                continue
            seen_at, change = back.pop(page.url, None), "back"
            if seen_at is None:
                seen_at, change = page.now.fetched_at, "changed"
            yield Change(page.url, change, seen_at, None, found.share, found.came, found.went)
        for url, seen_at in back.items():
            yield Change(url, "back", seen_at)
        for new in self._store.refreshes.changes.new(self.since):
            if new.url not in away:
                yield Change(new.url, "new", new.seen_at, came=[new.title] if new.title else [])

    def _away(self, away: dict[str, AwayPage], away_then: dict[str, AwayPage]) -> Iterator[Change]:
        moved_to = self._store.refreshes.changes.moved_to(away)
        for url, page in away.items():
            if (known := away_then.get(url)) is None or known.outcome != page.outcome:
                change = "moved" if url in moved_to else page.outcome
                note = _WHY_GONE.get(page.why, "")
                yield Change(url, change, page.seen_at, moved_to=moved_to.get(url), note=note)


def settle(store: JobStore, rotating: Rotating | None = None) -> None:
    """At the end of a refresh, decide what is known only then.

    What most pages of a host cannot have become has failed; new versions that differ in nothing but
    a template are no changes, and those that differ in nothing, or in what rotates, are not kept.

    `rotating`: what differed on most pages beside their texts.
    """
    store.refreshes.settle()
    if rotating is not None:
        number, before = store.refreshes.current(), Rotating(store.meta(_ROTATING))
        store.set_meta(_ROTATING, rotating.to_json(number, before))
    with TemporaryDirectory(prefix="dedup-") as folder:
        urls: list[str] = []
        same: list[str] = []
        for page, found in Changes(store, None, Path(folder)).texts():
            if found is None:
                is_same = page.is_beside and difference(page, _none) is None
                (same if is_same else urls).append(page.url)
            if len(urls) == _BATCH:
                store.refreshes.note_template(urls)
                urls.clear()
        store.refreshes.note_template(urls)
    store.refreshes.take_back(same)  # not while the versions are read


def _none(lines: Sequence[str]) -> list[bool]:
    return [False] * len(lines)


def _failures(failed: dict[str, int], n_visited: int) -> str:
    """What a host answered instead of pages."""
    name = max(failed, key=lambda each: failed[each])
    reason = name.partition(":")[2].strip() or "nothing that could be read"
    share = sum(failed.values()) / n_visited
    return f"host answered {reason} for {share:.0%} of its pages: they are kept as they were"


def moment(store: JobStore, given: str | None, *, name: str = "since") -> float | None:
    """The time that an ISO 8601 date or time names, or a refresh by its number.

    Raises:
        ValueError: it is no time and no refresh.
    """
    if given is None:
        return None
    refreshes = {str(each.number): each.began for each in store.refreshes.changes.refreshes()}
    if given in refreshes:
        return refreshes[given]
    try:
        found = datetime.fromisoformat(given)
        if given.isdecimal() and len(given) < len("20260131"):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"{name} must be an ISO 8601 date or time, or the number of a refresh"
            f" ({', '.join(refreshes) or 'there was none'}), got {given!r}"
        ) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def as_row(change: Change) -> dict[str, Any]:
    """A change by column, with its time in ISO 8601."""
    return {**change._asdict(), "seen_at": iso_time(change.seen_at)}
