"""What happened to a URL: looked up in a job's store, in any spelling."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from os.path import commonprefix
from typing import Literal

from dedup.store import JobStore, render_mode
from dedup.store.query_results import ApartPage, FoundRecord
from dedup.store.records import DONE, DUPLICATE_LINK_END, DUPLICATE_LINK_RANK, TOO_DEEP, storable
from dedup.urls import Canonicaliser, url_key

Outcome = Literal[
    "stored", "duplicate", "skipped", "waiting", "alias", "queued", "too_deep", "done", "unknown"
]

_NEAREST = 3
_FIRST_LOOK = 100
"""URLs with the longest common prefix, of which the most similar are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What the store knows of a URL.

    Attributes:
        asked: the URL as given.
        outcome: `stored`; `duplicate` of a stored page; `skipped`: without a page to compare;
            `waiting`: fetched, but not judged until enough is known about its site; `alias`: it
            leads to the page at `page_url`; `queued`: not fetched yet; `too_deep`: excluded by
            `DEPTH_LIMIT`; `done`: processed; no separate record; `unknown`: never seen.
        waits_for: why a queued URL was deferred.
        url: the URL as recorded, if it was.
        number: that of the record; for a waiting page, its place.
        seen_at: when it was fetched, or failed; seconds since 1970.
        original, original_url, stage, distance, resemblance: for a duplicate; see `Match`. An
            original without a URL has its id in place of it, if it has one.
        original_job, original_seen_at: for a page skipped because it duplicates one of an earlier
            crawl: that crawl's job, and when the original was fetched there.
        reason, detail, is_fetched: for a skipped URL.
        page_url, kind: for an alias, by `redirect`, `route` or `canonical` link.
        duplicates: for a stored page, the number of its duplicates by stage.
        apart: for a stored page that the second look kept, the page it resembles, and why.
        visited, visited_at, moved_to: for a page, from `follow`: what its last visit in a refresh
            found, as in the table `visits`, when, and where that was led; None: there was none.
        nearest: for an unknown URL, the most similar known URLs.
        is_row: the job is that of a collection, so this is a row.
    """

    asked: str
    outcome: Outcome
    url: str | None = None
    number: int | None = None
    seen_at: float | None = None
    title: str = ""
    original: int | None = None
    original_url: str | None = None
    original_job: str | None = None
    original_seen_at: float | None = None
    stage: str | None = None
    distance: int | None = None
    resemblance: float | None = None
    reason: str | None = None
    detail: str = ""
    is_fetched: bool | None = None
    page_url: str | None = None
    kind: str | None = None
    duplicates: Mapping[str, int] = field(default_factory=dict)
    apart: ApartPage | None = None
    visited: str | None = None
    visited_at: float | None = None
    moved_to: str | None = None
    nearest: tuple[str, ...] = ()
    waits_for: str = ""
    is_row: bool = False


def find_fate(store: JobStore, url: str) -> Fate:
    """Find what happened to `url`, in any spelling that is equal under the job's URL rules.

    `url` may also be the id of a row of a collection. Takes one or two passes over the job's URLs.

    Raises:
        ValueError: it is neither an http(s) URL nor a known id.
    """
    url = storable(url)  # a command's argument may not be valid UTF-8
    found = store.explain.find([url]) or store.explain.find_named(url)
    if found is not None:
        return _fate(store, url, found)
    if store.meta("collection") is not None:
        return Fate(asked=url, outcome="unknown", nearest=_nearest(store, url), is_row=True)
    canonical = canonicaliser_of(store)
    try:
        key = url_key(canonical(url))
    except ValueError as error:
        raise ValueError(f"URL must be a page's URL, got {url!r} ({error})") from None
    known = store.urls.find(key)
    if known is not None and known.state == TOO_DEEP:
        return Fate(asked=url, outcome="too_deep", url=known.url)
    if known is not None and known.state != DONE:
        waits_for = _waits_for(store, key)
        return Fate(asked=url, outcome="queued", url=known.url, waits_for=waits_for)
    found = store.explain.find([canonical(url), *([] if known is None else [known.url])])

    def is_same(other: str) -> bool:
        return key_under(canonical, other) == key

    found = found or store.explain.find_any(is_same)
    if found is not None:
        return _fate(store, url, found)
    alias = store.explain.alias(url, is_same)
    if alias is not None:
        return Fate(asked=url, outcome="alias", **alias._asdict())
    if known is None:
        return Fate(asked=url, outcome="unknown", nearest=_nearest(store, url))
    return Fate(asked=url, outcome="done", url=known.url)


def follow(store: JobStore, url: str) -> list[Fate]:
    """The fate of `url` and, for an alias, of the page that it leads to, with their last visits."""
    fates = [_with_last_visit(store, find_fate(store, url))]
    asked = {url}
    while (target := fates[-1].page_url) is not None and target not in asked:
        asked.add(target)
        fates.append(_with_last_visit(store, find_fate(store, target)))
    return fates


def _waits_for(store: JobStore, key: bytes) -> str:
    rank = store.urls.rank(key) or 0
    if DUPLICATE_LINK_RANK <= rank < DUPLICATE_LINK_END:
        return "only dropped duplicates link to it"
    return ""


def canonicaliser_of(store: JobStore) -> Canonicaliser:
    """The URL rules of a job, with routes if its last crawl rendered pages."""
    rules: list[str] = store.schemes(of="URLs").get("URL", {}).get("rules", [])
    return Canonicaliser(rules, has_routes=render_mode(store) != "off")


def key_under(canonical: Canonicaliser, url: str) -> bytes | None:
    """The key of a URL under the job's URL rules; None: it has no canonical form."""
    try:
        return url_key(canonical(url))
    except ValueError:
        return None


def _fate(store: JobStore, asked: str, found: FoundRecord) -> Fate:
    outcome, number = found
    details = store.explain.details(outcome, number)
    return Fate(asked=asked, outcome=outcome, number=number, **details)


def _with_last_visit(store: JobStore, fate: Fate) -> Fate:
    if fate.outcome not in ("stored", "duplicate") or fate.url is None:
        return fate
    changes = store.refreshes.changes
    if not (visits := changes.visits(fate.url)):
        return fate
    found = visits[-1]
    moved_to = changes.redirect(fate.url) if found.outcome == "moved" else None
    return replace(fate, visited=found.outcome, visited_at=found.seen_at, moved_to=moved_to)


def _nearest(store: JobStore, url: str) -> tuple[str, ...]:
    known = store.explain.known_urls()
    begun_alike = heapq.nlargest(_FIRST_LOOK, known, key=lambda each: _common_length(each, url))
    alike = {each: SequenceMatcher(None, each, url).ratio() for each in begun_alike}
    return tuple(heapq.nlargest(_NEAREST, alike, key=lambda each: alike[each]))


def _common_length(first: str, second: str) -> int:
    return len(commonprefix((first, second)))  # noqa: RUF071 -- compares characters
