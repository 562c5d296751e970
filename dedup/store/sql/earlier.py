"""Pages dropped for one of an earlier crawl.

What is known of that one is copied, so that it can be named when the other job is gone.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from dedup.document import Match
from dedup.store.records import DROPPED_FIELDS, EARLIER, Page, storable, storable_fields
from dedup.store.sql.database import Database, Queries
from dedup.urls.parts import host_of

_ORIGIN = "SELECT number, name, url, title, fetched_at FROM pages WHERE number = ?"
_match_values = attrgetter("stage", "distance", "resemblance")

_ORIGINAL_COLUMNS = (
    *("job", "original", "original_name", "original_url", "original_title"),
    "original_fetched_at",
)
_COLUMNS = (
    *("number", *_ORIGINAL_COLUMNS, "stage", "distance", "resemblance", "name", "host"),
    *(*DROPPED_FIELDS, "text"),
)
_INSERT = (
    f"INSERT INTO earlier ({', '.join(_COLUMNS)})"  # noqa: S608 -- our own names
    f" VALUES ({', '.join('?' * len(_COLUMNS))})"
)


class EarlierPages(Queries):
    """The pages dropped for one of an earlier crawl.

    Args:
        add_skipped: see `JobStore`.
    """

    def __init__(self, database: Database, add_skipped: Callable[..., int]) -> None:
        super().__init__(database)
        self._add_skipped = add_skipped

    def origin(self, number: int) -> tuple[int, str | None, str | None, str, float]:
        """Number, name, URL, title and time of a page of this job, for `add` of another one.

        Raises:
            KeyError: there is no page of that number.
        """
        number, name, url, title, fetched_at = self._database.record(_ORIGIN, number)
        return number, name, url, title, fetched_at

    def add(self, page: Page, match: Match, job: str, origin: tuple[Any, ...]) -> None:
        """Record a page that was dropped for one of an earlier job.

        Args:
            page: the one that is dropped.
            match: how it was found.
            job: the earlier job, as users name it.
            origin: of the page there.
        """
        number, name, url, *_ = origin
        with self._database.unit() as connection:
            record = self._add_skipped(
                page.url or "",
                EARLIER,
                detail=f"found by {match.stage}: {url or name or number} in {job}",
                is_fetched=True,
                size_bytes=page.size_bytes,
            )
            # A number is free again after `dedup retry`, or a refresh, has deleted its record.
            connection.execute("DELETE FROM earlier WHERE number = ?", (record,))
            row = (
                *(record, storable(job), *origin, *_match_values(match)),
                *(storable(page.id) or None, host_of(page.url)),
                *(*storable_fields(page, DROPPED_FIELDS).values(), page.packed_text),
            )
            self._database.write(_INSERT, row)

    def page(self, number: int) -> Page:
        """A page that was dropped, without its body.

        Raises:
            KeyError: there is no such page.
        """
        columns = ", ".join(("name", "text", *DROPPED_FIELDS))
        query = f"SELECT {columns} FROM earlier WHERE number = ?"  # noqa: S608 -- our own names
        name, text, *fields = self._database.record(query, number)
        return Page(
            id=name or str(number),
            text=self._database.text(number, text, errors="surrogatepass"),
            **dict(zip(DROPPED_FIELDS, fields, strict=True)),
        )
