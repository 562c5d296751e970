"""What is read of a job's store by the number of a record, or for an export."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from dedup.document import Document
from dedup.errors import DamageError
from dedup.sites.rest import Rest
from dedup.store.export_columns import EXPORTED_FIELDS
from dedup.store.records import DONE, KEY_STAGE, PAGE_FIELDS, Page, key_in
from dedup.store.results import DuplicateRow, RecordRow
from dedup.store.selection import EVERYTHING, Selection
from dedup.store.sql.database import Database
from dedup.store.sql.selection import where

_SIGNATURES_PER_BATCH = 1 << 20
"""The larger a batch, the faster it is indexed; as objects these take some 60 MB."""

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Of a text, a body or an outline. A store of half a megabyte could hold gigabytes of zeros."""

GROUP_KEY = "group {:020d}"
"""Where `meta` notes the first record of a group that was judged apart."""

_ROWS_AT_ONCE = 1 << 10
"""Rows read at a time: while they fit into the processor's cache, in half the time."""

_DROPPED_FIELDS = (
    *("url", "title", "fetched_at", "size_bytes", "heading", "own_title", "source", "site_version"),
)
"""The `PAGE_FIELDS` that are kept of a dropped page."""


_RECORDS = """
SELECT number, NULL AS original, NULL AS stage, NULL AS distance, NULL AS resemblance,
    NULL AS detail FROM pages WHERE number BETWEEN ? AND ?
UNION ALL SELECT number, original, stage, distance, resemblance, NULL FROM duplicates
    WHERE number BETWEEN ? AND ?
UNION ALL SELECT number, NULL, reason, NULL, NULL, detail FROM skipped
    WHERE number BETWEEN ? AND ?
ORDER BY number
"""


class StoreReader:
    """The records of a job: stored pages and dropped ones, with their signatures.

    Raises:
        StateError: from any method: the store is damaged.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._decompress = zstandard.ZstdDecompressor().decompress

    @property
    def location(self) -> str:
        """What messages call the store."""
        return self.database.location

    def document(self, number: int) -> Document:
        query = (
            "SELECT name, text, url, title, heading, own_title, source, rest, value FROM pages"
            " LEFT JOIN signatures ON stage = ? AND page = number WHERE number = ?"
        )
        with self.database.reporting():
            row = self.database.connection.execute(query, (KEY_STAGE, number)).fetchone()
        if row is None:
            raise KeyError(number)
        name, packed, url, title, heading, own_title, source, rest, key = row
        return Document(
            id=name or str(number),
            text=self._text(number, packed),
            url=url,
            title=title,
            heading=heading,
            own_title=own_title,
            source=source,
            key=key_in(key),
            rest=self._rest(number, rest),
        )

    def page(self, number: int) -> Page:
        """A stored page, its body too where that was kept.

        Raises:
            KeyError: there is no page of that number.
        """
        row = self._row("SELECT * FROM pages WHERE number = ?", number)
        body = row["body"]
        return Page(
            id=row["name"] or str(number),
            text=self._text(number, row["text"]),
            body=None if body is None else self.unpacked(number, body, "body"),
            key=self._key(number),
            rest=self._rest(number, row["rest"]),
            **{name: row[name] for name in PAGE_FIELDS},
        )

    def dropped_page(self, number: int) -> Page:
        """A dropped page. Its body was not kept, unless it was the same as the original's.

        Raises:
            KeyError: there is no duplicate of that number.
        """
        row = self._row("SELECT * FROM duplicates WHERE number = ?", number)
        original = self.page(row["original"]) if row["text"] is None else None
        return Page(
            id=row["name"] or str(number),
            text=self._text(number, row["text"]) if original is None else original.text,
            body=None if original is None else original.body,
            key=self._key(row["original"]),  # else it would be no duplicate
            **{name: row[name] for name in _DROPPED_FIELDS},
        )

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a page, without its text.

        Raises:
            KeyError: there is no page of that number.
        """
        row = self._row("SELECT name, url FROM pages WHERE number = ?", number)
        return row["name"] or str(number), row["url"]

    def group_start(self, number: int) -> int:
        """The first record of the group that a record is of; 0: the collection has no groups."""
        query = "SELECT max(name) AS name FROM meta WHERE name BETWEEN 'group ' AND ?"
        (row,) = self.rows(query, [GROUP_KEY.format(number)])
        return int((row["name"] or "0").removeprefix("group "))

    def body(self, number: int) -> bytes | None:
        """The body of a page; None: it was not kept."""
        query = "SELECT body FROM pages WHERE number = ?"
        with self.database.reporting():
            row = self.database.connection.execute(query, (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        return None if row[0] is None else self.unpacked(number, row[0], "body")

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        query = "SELECT page, value FROM signatures WHERE stage = ? AND page > ? ORDER BY page"
        return self._signatures(query, (stage, after))

    def _signatures(
        self, query: str, parameters: Sequence[object]
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        found = self.database.each(query, parameters)
        numbers: list[NDArray[np.int64]] = []
        values: list[bytes] = []
        while rows := list(islice(found, min(_ROWS_AT_ONCE, _SIGNATURES_PER_BATCH))):
            some_numbers, some_values = zip(*rows, strict=True)
            numbers.append(np.array(some_numbers, dtype=np.int64))
            values += some_values
            if len(values) >= _SIGNATURES_PER_BATCH:
                yield np.concatenate(numbers), values
                numbers, values = [], []
        if values:
            yield np.concatenate(numbers), values

    def pages(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The unique pages without their bodies, as exported."""
        condition, parameters = where(selection, "pages", self.database)
        columns = ", ".join(name for name in EXPORTED_FIELDS if name != "id")
        query = f"SELECT number, name, {columns} FROM pages AS r WHERE {condition}"  # noqa: S608 -- values are parameters
        for row in self._by_number(query, parameters):
            known = {
                "id": row["name"] or row["number"],
                "text": self.unpacked(row["number"], row["text"]).decode(errors="replace"),
            }
            yield {name: known[name] if name in known else row[name] for name in EXPORTED_FIELDS}

    def page_url(self, number: int) -> str | None:
        """The URL of a stored page, or None; also where there is no such page."""
        for (url,) in self.rows("SELECT url FROM pages WHERE number = ?", [number]):
            return None if url is None else str(url)
        return None

    def has_page_of(self, host: str) -> bool:
        """Is there a stored page of a host?"""
        return any(self.rows("SELECT 1 FROM pages WHERE host = ? LIMIT 1", [host]))

    def page_numbers(self, selection: Selection = EVERYTHING) -> Iterator[int]:
        """The numbers of the unique pages, ascending."""
        condition, parameters = where(selection, "pages", self.database)
        query = f"SELECT r.number FROM pages AS r WHERE {condition}"  # noqa: S608 -- values are parameters
        return (row["number"] for row in self._by_number(query, parameters))

    def duplicate_rows(self, selection: Selection = EVERYTHING) -> Iterator[DuplicateRow]:
        """The dropped pages by number, ascending."""
        condition, parameters = where(selection, "duplicates", self.database)
        columns = ", ".join(f"r.{name}" for name in DuplicateRow._fields)
        query = f"SELECT {columns} FROM duplicates AS r WHERE {condition}"  # noqa: S608 -- values are parameters
        return (DuplicateRow._make(row) for row in self._by_number(query, parameters))

    def deferred_urls(self, rank: int) -> list[str]:
        """URLs that were put off to this rank or behind, and have been fetched all the same."""
        query = (
            "SELECT url FROM urls WHERE state = ? AND rank >= ?"
            " EXCEPT SELECT url FROM skipped WHERE reason = 'trap'"
        )
        return [url for (url,) in self.rows(query, (DONE, rank))]

    def latest_urls(self, limit: int) -> tuple[list[str], list[str]]:
        """The URLs of the pages stored last, and of the duplicates dropped last."""
        pages, duplicates = (
            f"SELECT url FROM {table} WHERE url IS NOT NULL ORDER BY number DESC LIMIT ?"  # noqa: S608 -- our own names
            for table in ("pages", "duplicates")
        )
        return (
            [url for (url,) in self.rows(pages, [limit])],
            [url for (url,) in self.rows(duplicates, [limit])],
        )

    def fetched_by_host(self) -> dict[str, int]:
        """Records for which a response arrived, and pages that wait, by host."""
        query = (
            "SELECT host, count(*) FROM (SELECT host FROM pages UNION ALL SELECT host FROM"
            " duplicates UNION ALL SELECT host FROM skipped WHERE is_fetched"
            " UNION ALL SELECT host FROM waiting) AS every GROUP BY host"
        )
        return {row[0]: row[1] for row in self.rows(query)}

    def records(self, first: int, last: int) -> list[RecordRow]:
        """What became of the documents of these numbers, ascending."""
        return [RecordRow._make(row) for row in self.rows(_RECORDS, [first, last] * 3)]

    def recorded_urls(self) -> list[str]:
        """The URLs of all records: stored pages, dropped ones, and URLs that were skipped."""
        query = (
            "SELECT url FROM pages UNION ALL SELECT url FROM duplicates"
            " UNION ALL SELECT url FROM skipped"
        )
        return [url for (url,) in self.rows(query)]

    def skipped_urls(self) -> dict[str, str]:
        """Why each URL that gave no page to compare was skipped; the latest reason."""
        query = "SELECT url, reason FROM skipped ORDER BY number"
        return dict(map(tuple, self.rows(query)))

    def page_urls(self) -> dict[int, str | None]:
        """The unique pages' URLs by number."""
        return dict(self.database.each("SELECT number, url FROM pages"))

    def duplicates(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The record of each dropped page, as exported."""
        condition, parameters = where(selection, "duplicates", self.database)
        query = (
            "SELECT r.*, p.name AS original_name, p.url AS original_url FROM duplicates AS r"  # noqa: S608 -- our own names
            f" JOIN pages AS p ON p.number = r.original WHERE {condition}"
        )
        for row in self._by_number(query, parameters):
            yield {
                "id": row["name"] or row["number"],
                "url": row["url"],
                "duplicate_of": row["original_name"] or row["original"],
                "duplicate_of_url": row["original_url"],
                "stage": row["stage"],
                "distance": row["distance"],
                "resemblance": row["resemblance"],
                "first_seen": row["fetched_at"],
            }

    def count(self, table: str, selection: Selection = EVERYTHING) -> int:
        """Rows of `pages` or `duplicates`."""
        if table not in ("pages", "duplicates"):
            raise ValueError(f"table must be 'pages' or 'duplicates', got {table!r}")
        condition, parameters = where(selection, table, self.database)
        return self._number(f"SELECT count(*) FROM {table} AS r WHERE {condition}", parameters)  # noqa: S608 -- our own names

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, one after the other, by the names of their columns."""
        return self.database.rows(query, parameters)

    def _by_number(self, query: str, parameters: list[object]) -> Iterator[Any]:
        """The rows `r` of a query that has a condition, by ascending numbers.

        Read in parts, so that a long export holds no snapshot of the whole.
        """
        query = f"{query} AND r.number > ? ORDER BY r.number LIMIT {_ROWS_AT_ONCE}"
        last = -1
        while rows := list(self.rows(query, [*parameters, last])):
            yield from rows
            last = rows[-1]["number"]

    def _number(self, query: str, parameters: Sequence[object] = ()) -> int:
        with self.database.reporting():
            return int(self.database.connection.execute(query, parameters).fetchone()[0])

    def _row(self, query: str, number: int) -> Any:
        for row in self.rows(query, [number]):
            return row
        raise KeyError(number)

    def _key(self, number: int) -> str:
        query = "SELECT value FROM signatures WHERE stage = ? AND page = ?"
        return next((key_in(row["value"]) for row in self.rows(query, [KEY_STAGE, number])), "")

    def _text(self, number: int, compressed: bytes) -> str:
        return self.unpacked(number, compressed).decode(errors="surrogatepass")

    def _rest(self, number: int, value: bytes | None) -> Rest | None:
        try:
            return None if value is None else Rest.from_bytes(value)
        except (ValueError, TypeError) as error:
            raise DamageError(
                self.location,
                f"what is rare on page {number} is damaged ({error})",
            ) from error

    def unpacked(self, number: int, compressed: bytes, kind: str = "text") -> bytes:
        """What the store keeps compressed of the page `number`."""
        try:
            size_bytes = zstandard.get_frame_parameters(compressed).content_size
            if size_bytes > MAX_UNPACKED_BYTES:  # so is one that is not told
                raise zstandard.ZstdError(f"more than {MAX_UNPACKED_BYTES:,} bytes")
            return self._decompress(compressed)
        # Damage can turn the column into NULL, and the size that zstd notes into an enormous one.
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            raise DamageError(
                self.location,
                f"the {kind} of page {number} is damaged ({error})",
            ) from error


def is_body_kept(page: Page) -> bool:
    """Is the page's body small enough to be read again?"""
    return page.body is not None and len(page.body) <= MAX_UNPACKED_BYTES
