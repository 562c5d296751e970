"""Visiting the pages of a finished job again, and keeping what they were.

A refresh has a number. Each page keeps its number and its place as an original; a new version takes
the place of the old one, which moves to `versions`. Detectors check a candidate's stored text, so
signatures of an old version, still in memory, match nothing by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from dedup.store.records import DONE, QUEUED, Page
from dedup.store.sqlite.store import SqliteStore

OUTCOMES = ("unchanged", "changed", "gone", "moved", "failed")

_RANK_OF_DUPLICATES = 1_000_000
"""After the pages: what they duplicated may have changed by then."""

_SLOT = "substr(found.host, 1, instr(found.host || ':', ':') - 1)"


def current_refresh(store: SqliteStore) -> int:
    """The number of the refresh that is under way or was the last; 0: none yet."""
    return int(store.database.meta("refresh") or 0)


def begin_refresh(store: SqliteStore) -> int:
    """Queue all pages for a visit, all duplicates to be judged anew; return the refresh's number.

    Pages are queued with `{"revisit": number}` for a request. Duplicates stay on record until they
    have been fetched and judged: see `duplicates_by_url`.
    """
    number = current_refresh(store) + 1
    with store.unit() as connection:
        connection.execute(
            f"UPDATE urls SET state = {QUEUED}, rank = 0, slot = {_SLOT},"  # noqa: S608 -- constants
            """ request = CAST('{"revisit": ' || found.number || '}' AS BLOB)"""
            f" FROM pages AS found WHERE urls.url = found.url AND urls.state = {DONE}"
        )
        connection.execute(
            f"UPDATE urls SET state = {QUEUED}, rank = {_RANK_OF_DUPLICATES}, slot = {_SLOT}"  # noqa: S608
            f" FROM duplicates AS found WHERE urls.url = found.url AND urls.state = {DONE}"
        )
        connection.execute("DELETE FROM meta WHERE name = 'finished'")
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('refresh', ?)", (str(number),))
    return number


def validators(store: SqliteStore, number: int) -> dict[str, str]:
    """The headers that ask for a page only if it has changed; empty where its server gave none."""
    query = "SELECT etag, last_modified FROM pages WHERE number = ?"
    with store.database.reporting():
        row = store.database.connection.execute(query, (number,)).fetchone()
    names = ("If-None-Match", "If-Modified-Since")
    return {name: value for name, value in zip(names, row or (), strict=False) if value}


def note_visit(store: SqliteStore, url: str, outcome: str) -> None:
    """Record what became of a page's visit, one of `OUTCOMES`."""
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {outcome!r}")
    with store.unit() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO visits VALUES (?, ?, ?, ?)",
            (current_refresh(store), url, outcome, time.time()),
        )


def duplicates_by_url(store: SqliteStore, original: int | None = None) -> dict[str, int]:
    """The numbers of the duplicates of a page, or of all, by their URLs."""
    query = "SELECT url, number FROM duplicates WHERE url IS NOT NULL"
    if original is None:
        return dict(map(tuple, store.rows(query)))
    return dict(map(tuple, store.rows(f"{query} AND original = ?", [original])))


def drop_duplicate(store: SqliteStore, number: int) -> None:
    """Take a duplicate off the record: its URL has been judged anew."""
    with store.unit() as connection:
        connection.execute("DELETE FROM duplicates WHERE number = ?", (number,))


def replace_page(
    store: SqliteStore, number: int, page: Page, signatures: Mapping[str, bytes]
) -> None:
    """Put a new version in a page's place; the old one moves to `versions`.

    Duplicates that had its very text keep that text.
    """
    with store.unit() as connection:
        connection.execute(
            "UPDATE duplicates SET text = (SELECT text FROM pages WHERE number = :number)"
            " WHERE original = :number AND text IS NULL",
            {"number": number},
        )
        connection.execute(
            "INSERT INTO versions SELECT number, fetched_at, title, text, body FROM pages"
            " WHERE number = ?",
            (number,),
        )
        connection.execute("DELETE FROM signatures WHERE page = ?", (number,))
        store.write_page(number, page, signatures, is_new=False)
