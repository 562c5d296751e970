"""What became of a URL: looked up in a job's store, under any spelling of it."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from os.path import commonprefix
from typing import Literal

from dedup.store import JobStore
from dedup.store.records import DONE, DUPLICATE_LINK_END, DUPLICATE_LINK_RANK, TOO_DEEP, storable
from dedup.store.results import ApartPage, FoundRecord
from dedup.urls import Canonicaliser, url_key

Outcome = Literal[
    "stored", "duplicate", "skipped", "waiting", "alias", "queued", "too_deep", "done", "unknown"
]

_NEAREST = 3
_FIRST_LOOK = 100
"""URLs with the longest beginning in common, of which the most alike are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What the store knows of a URL.

    Attributes:
        asked: the URL as it was given.
        outcome: `stored`; `duplicate` of a stored page; `skipped`: it gave no page to compare;
            `waiting`: fetched, and not judged before enough is known of its site;
            `alias`: it leads to the page at `page_url`; `queued`: still to be fetched; `too_deep`:
            left out by `DEPTH_LIMIT`; `done`: processed; no separate record; `unknown`:
            never seen.
        waits_for: of a queued URL that was put off, why.
        url: as it was recorded, where it was.
        number: of the record; of a page that waits, its place among those.
        seen_at: when it was fetched, or failed; seconds since 1970.
        original, original_url, stage, distance, resemblance: of a duplicate; see `Match`.
        reason, detail, is_fetched: of a URL that was skipped.
        page_url, kind: of an alias, by `redirect` or `canonical` link.
        duplicates: of a stored page, how many were dropped for it, by stage.
        apart: of a stored page that the second look kept, which page it resembles, and why.
        nearest: of an unknown URL, the known ones that look most like it.
        is_row: the job is that of a collection, so it is rows that are asked for.
    """

    asked: str
    outcome: Outcome
    url: str | None = None
    number: int | None = None
    seen_at: float | None = None
    title: str = ""
    original: int | None = None
    original_url: str | None = None
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
    nearest: tuple[str, ...] = ()
    waits_for: str = ""
    is_row: bool = False


def find_fate(store: JobStore, url: str) -> Fate:
    """Tell what became of `url`, in any spelling that is the same under the job's URL rules.

    The id of a row of a collection will do as well.

    Takes one pass over the job's URLs, or two.

    Raises:
        ValueError: it is no http(s) URL, and the job knows no such text.
    """
    url = storable(url)  # an argument of a command may be no UTF-8
    found = store.explain.find([url]) or store.explain.find_named(url)
    if found is not None:
        return _fate(store, url, found)
    if store.meta("collection") is not None:
        return Fate(asked=url, outcome="unknown", nearest=_nearest(store, url), is_row=True)
    canonical = Canonicaliser(url_rules(store))
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


def _waits_for(store: JobStore, key: bytes) -> str:
    rank = store.urls.rank(key) or 0
    if DUPLICATE_LINK_RANK <= rank < DUPLICATE_LINK_END:
        return "only dropped duplicates link to it"
    return ""


def url_rules(store: JobStore) -> list[str]:
    """The URL rules of a job, by name."""
    rules: list[str] = store.schemes(of="URLs").get("URL", {}).get("rules", [])
    return rules


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


def _nearest(store: JobStore, url: str) -> tuple[str, ...]:
    known = store.explain.known_urls()
    begun_alike = heapq.nlargest(_FIRST_LOOK, known, key=lambda each: _common_length(each, url))
    alike = {each: SequenceMatcher(None, each, url).ratio() for each in begun_alike}
    return tuple(heapq.nlargest(_NEAREST, alike, key=lambda each: alike[each]))


def _common_length(first: str, second: str) -> int:
    return len(commonprefix((first, second)))  # noqa: RUF071 -- characters are meant
