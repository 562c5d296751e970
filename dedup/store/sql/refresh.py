"""Visiting the pages of a finished job again, and keeping what they were.

A refresh has a number. Each page keeps its number and its place as an original; a new version takes
the place of the old one, which moves to `versions`. Detectors check a candidate's stored text, so
signatures of an old version, still in memory, match nothing by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from dedup.store.interface import Workers
from dedup.store.records import DONE, QUEUED, VISIT_RESULTS, Page
from dedup.store.sql.database import Database

_RANK_OF_DUPLICATES = 1_000_000
"""After the pages: what they duplicated may have changed by then."""

_NOTE_VISIT = (
    "INSERT INTO visits VALUES (?, ?, ?, ?) ON CONFLICT (refresh, url)"
    " DO UPDATE SET outcome = excluded.outcome, seen_at = excluded.seen_at"
)

Replace = Callable[..., None]


class Refreshes:
    """Visits of a finished job's pages, and the versions that they were replaced by.

    A refresh has a number, from 1 on. A page keeps its number in a new version.

    Args:
        replace: `replace(number, page, signatures, is_new=False)` puts a page's new version and its
            signatures in the place of the old one.
        workers: they are told of hosts that have work again.
    """

    def __init__(self, database: Database, replace: Replace, workers: Workers) -> None:
        self._database = database
        self._replace = replace
        self._workers = workers

    def current(self) -> int:
        """The number of the refresh that is under way or was the last; 0: there was none."""
        return int(self._database.meta("refresh") or 0)

    def begin(self) -> int:
        """Queue all pages for a visit, after them all duplicates; return the refresh's number.

        The request of a page is `{"revisit": number}`. Duplicates stay on record until they are
        dropped by `drop_duplicate`. The job is no longer finished.
        """
        number = self.current() + 1
        with self._database.unit() as connection:
            connection.execute(
                f"UPDATE urls SET state = {QUEUED}, rank = 0, slot = {self._database.slot},"  # noqa: S608 -- constants
                f" request = {self._database.revisit}"
                f" FROM pages AS found WHERE urls.url = found.url AND urls.state = {DONE}"
            )
            connection.execute(
                f"UPDATE urls SET state = {QUEUED}, rank = {_RANK_OF_DUPLICATES},"  # noqa: S608 -- constants
                f" slot = {self._database.slot}"
                f" FROM duplicates AS found WHERE urls.url = found.url AND urls.state = {DONE}"
            )
            connection.execute("DELETE FROM meta WHERE name = 'finished'")
            self._database.set_meta("refresh", str(number))
            self._workers.note_hosts()
        return number

    def validators(self, number: int) -> dict[str, str]:
        """The headers that ask for a page only if it has changed; empty: its server gave none."""
        row = self._database.first(
            "SELECT etag, last_modified FROM pages WHERE number = ?", (number,)
        )
        names = ("If-None-Match", "If-Modified-Since")
        return {name: value for name, value in zip(names, row or (), strict=False) if value}

    def note_visit(self, url: str, result: str) -> None:
        """Record what became of a page's visit, one of `VISIT_RESULTS`.

        Raises:
            ValueError: it is none of them.
        """
        if result not in VISIT_RESULTS:
            raise ValueError(f"result must be one of {', '.join(VISIT_RESULTS)}, got {result!r}")
        self._database.write(_NOTE_VISIT, (self.current(), url, result, time.time()), weight=1)

    def duplicates(self, original: int | None = None) -> dict[str, int]:
        """The numbers of the duplicates of a page, or of all, by their URLs."""
        query = "SELECT url, number FROM duplicates WHERE url IS NOT NULL"
        values: tuple[int, ...] = ()
        if original is not None:
            query, values = f"{query} AND original = ?", (original,)
        return self._database.pairs(query, values)

    def drop_duplicate(self, number: int) -> None:
        """Take a duplicate off the record: its URL has been judged anew."""
        self._database.write("DELETE FROM duplicates WHERE number = ?", (number,), weight=1)

    def replace_page(self, number: int, page: Page, signatures: Mapping[str, bytes]) -> None:
        """Put a new version in a page's place; the old one is kept as a version.

        Duplicates that had its very text keep that text.
        """
        with self._database.unit() as connection:
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
            self._replace(number, page, signatures, is_new=False)
