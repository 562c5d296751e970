"""What became of a URL: looked up in a job's store, under any spelling of it."""

import heapq
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from os.path import commonprefix
from typing import Any, Literal

from dedup.store import SqliteStore
from dedup.store.records import DONE
from dedup.urls import Canonicaliser, url_key

Outcome = Literal["stored", "duplicate", "skipped", "waiting", "alias", "queued", "done", "unknown"]

_NEAREST = 3
_FIRST_LOOK = 100
"""URLs with the longest beginning in common, of which the most alike are named."""

_RECORDS = """
SELECT 'stored' AS outcome, number, url FROM pages WHERE {condition}
UNION ALL SELECT 'duplicate', number, url FROM duplicates WHERE {condition}
UNION ALL SELECT 'skipped', number, url FROM skipped WHERE {condition}
UNION ALL SELECT 'waiting', place, url FROM waiting WHERE {condition}
ORDER BY number DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What the store knows of a URL.

    Attributes:
        asked: the URL as it was given.
        outcome: `stored`; `duplicate` of a stored page; `skipped`: it gave no page to compare;
            `waiting`: fetched, and not judged before its template is known;
            `alias`: it leads to the page at `page_url`; `queued`: still to be fetched; `done`:
            dealt with, without a record of its own; `unknown`: never seen.
        url: as it was recorded, where it was.
        number: of the record; of a page that waits, its place among those.
        seen_at: when it was fetched, or failed; seconds since 1970.
        original, original_url, stage, distance, resemblance: of a duplicate; see `Match`.
        reason, detail, is_fetched: of a URL that was skipped.
        page_url, kind: of an alias, by `redirect` or `canonical` link.
        duplicates: of a stored page, how many were dropped for it, by stage.
        nearest: of an unknown URL, the known ones that look most like it.
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
    nearest: tuple[str, ...] = ()


def find_fate(store: SqliteStore, url: str) -> Fate:
    """Tell what became of `url`, in any spelling that is the same under the job's URL rules.

    Takes one pass over the job's URLs, or two.

    Raises:
        ValueError: it is no http(s) URL, and the job knows no such text.
    """
    found = _record(store, "url = ?", [url])
    if found is not None:
        return _fate(store, url, *found)
    canonical = Canonicaliser(_url_rules(store))
    try:
        key = url_key(canonical(url))
    except ValueError as error:
        raise ValueError(f"URL must be that of a page, got {url!r} ({error})") from None
    state, queued_as = _state(store, key)
    if state is not None and state != DONE:
        return Fate(asked=url, outcome="queued", url=queued_as)
    found = _record(store, "url IN (?, ?)", [canonical(url), queued_as])
    if found is None:
        _register(store, canonical, key)
        found = _record(store, "has_key(url)", [])
    if found is not None:
        return _fate(store, url, *found)
    return _alias(store, url) or Fate(
        asked=url,
        outcome="unknown" if state is None else "done",
        url=queued_as,
        nearest=_nearest(store, url) if state is None else (),
    )


def _url_rules(store: SqliteStore) -> list[str]:
    schemes = json.loads(store.database.meta("schemes of URLs") or "{}")
    rules: list[str] = schemes.get("URL", {}).get("rules", [])
    return rules


def _record(
    store: SqliteStore, condition: str, parameters: list[Any]
) -> tuple[Outcome, int] | None:
    query = _RECORDS.format(condition=condition)
    for row in store.rows(query, parameters * 4):
        return row["outcome"], row["number"]
    return None


def _state(store: SqliteStore, key: bytes) -> tuple[int | None, str | None]:
    for row in store.rows("SELECT state, url FROM urls WHERE key = ?", [key]):
        return row["state"], row["url"]
    return None, None


def _register(store: SqliteStore, canonical: Canonicaliser, key: bytes) -> None:
    def has_key(url: str | None) -> bool:
        try:
            return url is not None and url_key(canonical(url)) == key
        except ValueError:
            return False

    store.database.connection.create_function("has_key", 1, has_key)


def _fate(store: SqliteStore, asked: str, outcome: Outcome, number: int) -> Fate:
    read = {"stored": _stored, "duplicate": _duplicate, "skipped": _skipped, "waiting": _waiting}[
        outcome
    ]
    return Fate(asked=asked, outcome=outcome, number=number, **read(store, number))


def _stored(store: SqliteStore, number: int) -> dict[str, Any]:
    query = "SELECT url, title, fetched_at AS seen_at FROM pages WHERE number = ?"
    (row,) = store.rows(query, [number])
    stages = "SELECT stage, count(*) AS n FROM duplicates WHERE original = ? GROUP BY stage"
    counts = {each["stage"]: each["n"] for each in store.rows(stages, [number])}
    return {**dict(row), "duplicates": counts}


def _duplicate(store: SqliteStore, number: int) -> dict[str, Any]:
    query = (
        "SELECT d.url, d.title, d.fetched_at AS seen_at, d.original, p.url AS original_url,"
        " d.stage, d.distance, d.resemblance FROM duplicates AS d"
        " JOIN pages AS p ON p.number = d.original WHERE d.number = ?"
    )
    (row,) = store.rows(query, [number])
    return dict(row)


def _skipped(store: SqliteStore, number: int) -> dict[str, Any]:
    query = "SELECT url, seen_at, reason, detail, is_fetched FROM skipped WHERE number = ?"
    (row,) = store.rows(query, [number])
    return {**dict(row), "is_fetched": bool(row["is_fetched"])}


def _waiting(store: SqliteStore, number: int) -> dict[str, Any]:
    query = "SELECT url, title, fetched_at AS seen_at FROM waiting WHERE place = ?"
    (row,) = store.rows(query, [number])
    return dict(row)


def _alias(store: SqliteStore, url: str) -> Fate | None:
    """The alias that `url` is; `has_key` has been registered for it."""
    query = (
        "SELECT url, page_url, kind FROM aliases WHERE url = ? OR has_key(url) ORDER BY kind DESC"
    )
    for row in store.rows(query, [url]):
        return Fate(asked=url, outcome="alias", **dict(row))
    return None


def _nearest(store: SqliteStore, url: str) -> tuple[str, ...]:
    query = "SELECT url FROM urls UNION ALL SELECT url FROM pages WHERE url IS NOT NULL"
    known: Iterator[str] = (row["url"] for row in store.rows(query))
    begun_alike = heapq.nlargest(_FIRST_LOOK, known, key=lambda each: _common_length(each, url))
    alike = {each: SequenceMatcher(None, each, url).ratio() for each in begun_alike}
    return tuple(heapq.nlargest(_NEAREST, alike, key=lambda each: alike[each]))


def _common_length(first: str, second: str) -> int:
    return len(commonprefix((first, second)))  # noqa: RUF071 -- characters are meant
