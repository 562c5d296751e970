"""Revisiting the pages of a finished job, and keeping their old versions.

A refresh has a number. Each page keeps its number and stays an original; a new version replaces the
old one, which moves to `versions`. Detectors check a candidate's stored text, so signatures of old
versions that are still in memory cause no matches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from dedup.store.interface import Workers
from dedup.store.records import DONE, EARLIER, QUEUED, VISIT_RESULTS, Page
from dedup.store.sql.database import Database

_RANK_OF_DUPLICATES = 1_000_000
"""After the pages, because their originals may have changed by then."""

_NOTE_VISIT = (
    "INSERT INTO visits VALUES (?, ?, ?, ?) ON CONFLICT (refresh, url)"
    " DO UPDATE SET outcome = excluded.outcome, seen_at = excluded.seen_at"
)

Replace = Callable[..., None]


class Refreshes:
    """Visits to the pages of a finished job, and the versions that replace them.

    A refresh has a number, from 1 on. A page keeps its number in a new version.

    Args:
        replace: `replace(number, page, signatures, is_new=False)` replaces a page and its
            signatures by a new version.
        workers: they learn which hosts have work again.
    """

    def __init__(self, database: Database, replace: Replace, workers: Workers) -> None:
        self._database = database
        self._replace = replace
        self._workers = workers

    def current(self) -> int:
        """The number of the current or last refresh; 0: there was none."""
        return int(self._database.meta("refresh") or 0)

    def begin(self) -> int:
        """Queue all pages for a visit, then all dropped ones; return the refresh's number.

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
            connection.execute(
                f"UPDATE urls SET state = {QUEUED}, rank = {_RANK_OF_DUPLICATES},"  # noqa: S608 -- constants
                f" slot = {self._database.slot} FROM skipped AS found"
                f" WHERE urls.url = found.url AND urls.state = {DONE} AND reason = '{EARLIER}'"
            )
            connection.execute("DELETE FROM meta WHERE name = 'finished'")
            self._database.set_meta("refresh", str(number))
            self._workers.note_hosts()
        return number

    def validators(self, number: int) -> dict[str, str]:
        """The headers for a conditional request of a page; empty: its server sent no validators."""
        row = self._database.first(
            "SELECT etag, last_modified FROM pages WHERE number = ?", (number,)
        )
        names = ("If-None-Match", "If-Modified-Since")
        return {name: value for name, value in zip(names, row or (), strict=False) if value}

    def note_visit(self, url: str, result: str) -> None:
        """Record the result of a page's visit, one of `VISIT_RESULTS`.

        Raises:
            ValueError: it is not one of them.
        """
        if result not in VISIT_RESULTS:
            raise ValueError(f"result must be one of {', '.join(VISIT_RESULTS)}, got {result!r}")
        self._database.write(_NOTE_VISIT, (self.current(), url, result, time.time()), weight=1)

    def duplicates(self, original: int | None = None) -> dict[str, int]:
        """The numbers of the duplicates of a page, or of all that were dropped, by URL."""
        query = "SELECT url, number FROM duplicates WHERE url IS NOT NULL"
        values: tuple[int, ...] = ()
        if original is not None:
            query, values = f"{query} AND original = ?", (original,)
        else:
            query += f" UNION ALL SELECT url, number FROM skipped WHERE reason = '{EARLIER}'"  # noqa: S608 -- a constant
        return self._database.pairs(query, values)

    def drop_duplicate(self, number: int) -> None:
        """Delete a duplicate: its URL has a new verdict."""
        self._database.write("DELETE FROM duplicates WHERE number = ?", (number,), weight=1)
        self._database.write(
            f"DELETE FROM skipped WHERE number = ? AND reason = '{EARLIER}'",  # noqa: S608 -- a constant
            (number,),
        )

    def replace_page(self, number: int, page: Page, signatures: Mapping[str, bytes]) -> None:
        """Replace a page by a new version, and keep the old one.

        Duplicates that share its text keep the old text.
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
