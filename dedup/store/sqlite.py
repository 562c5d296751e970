"""A job's store in one SQLite file: pages, duplicates, what was skipped, and the URLs seen."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from sqlite3 import Connection, Row
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from dedup.document import Document, Match
from dedup.errors import SchemeError, StateError
from dedup.store.database import Database, storable
from dedup.store.learned import Learned
from dedup.store.page import Page, as_page
from dedup.store.selection import EVERYTHING, Selection
from dedup.store.url_table import UrlTable
from dedup.urls.credentials import without_credentials
from dedup.urls.parts import host_of

_SIGNATURES_PER_BATCH = 1 << 20
"""The larger a batch, the faster it is indexed; as objects these take some 60 MB."""

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Of a text, a body or an outline. A store of half a megabyte could hold gigabytes of zeros."""

_ANY_CREDENTIALS = re.compile(r"(https?://)[^\s/?#@]*@")

_ROWS_AT_ONCE = 1 << 10
"""Rows read at a time: while they fit into the processor's cache, in half the time."""

_PAGE_FIELDS = """
    name url host title language canonical_url status content_type encoding fetched_at size_bytes
    depth etag last_modified heading own_title source template text body
""".split()  # noqa: SIM905 -- shorter to read
_MARKS = ", ".join(f":{field}" for field in _PAGE_FIELDS)
_SETS = ", ".join(f"{field} = :{field}" for field in _PAGE_FIELDS)
_INSERT_PAGE = f"INSERT INTO pages VALUES (:number, {_MARKS})"  # noqa: S608 -- the names above
_INSERT_DUPLICATE = f"INSERT INTO duplicates VALUES ({', '.join('?' * 16)})"  # noqa: S608
_UPDATE_PAGE = f"UPDATE pages SET {_SETS} WHERE number = :number"  # noqa: S608


class SqliteStore:
    """The truth about a job; everything in memory is rebuilt from it. See `schema` for the tables.

    Args:
        path: the SQLite file; created, with its folder, if missing (not with `read_only`).
        keep_bodies: store bodies as well as texts.
        group_units, group_seconds: see `Database`.

    Texts come back as they were, lone surrogates included; URLs, ids and titles with question marks
    for those. Texts and bodies carry checksums.

    Raises:
        StateError: see `Database`; from `document` and `pages` also for a text that is damaged.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        keep_bodies: bool = True,
        group_units: int = 100,
        group_seconds: float = 1.0,
    ) -> None:
        self.database = Database(
            path, read_only=read_only, group_units=group_units, group_seconds=group_seconds
        )
        self.urls = UrlTable(self.database)
        self.keep_bodies = keep_bodies
        self._decompress = zstandard.ZstdDecompressor().decompress
        self.learned = Learned(self.database, self.unpacked)
        try:
            self._next_number = self._last_number() + 1
        except StateError:
            self.close()
            raise

    @property
    def path(self) -> Path:
        return self.database.path

    def unit(self) -> AbstractContextManager[Connection]:
        """Groups writes that belong together: a page, its links, its URL done."""
        return self.database.unit()

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        wanted = json.dumps(schemes, sort_keys=True)
        found = self.database.meta(f"schemes of {of}")
        if found is None:
            self.database.set_meta(f"schemes of {of}", wanted)
        elif found != wanted:
            raise SchemeError(
                self.path,
                f"made with other settings: {_difference(json.loads(found), schemes)}",
                "Set them as they were, or crawl into a new job",
            )

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        number = self._take_number()
        self.write_page(number, as_page(document), signatures)
        return number

    def write_page(
        self, number: int, page: Page, signatures: Mapping[str, bytes], *, is_new: bool = True
    ) -> None:
        """Write a page under its number; where it `is_new` there is none."""
        fields = {
            "number": number,
            "name": storable(page.id) or None,
            "url": storable(page.url),
            "host": host_of(page.url),
            "title": storable(page.title),
            "language": storable(page.language),
            "canonical_url": storable(page.canonical_url),
            "status": page.status,
            "content_type": storable(page.content_type),
            "encoding": storable(page.encoding),
            "fetched_at": page.fetched_at,
            "size_bytes": page.size_bytes,
            "depth": page.depth,
            "etag": storable(page.etag),
            "last_modified": storable(page.last_modified),
            "heading": storable(page.heading),
            "own_title": storable(page.own_title),
            "source": page.source,
            "template": page.template,
            "text": page.packed_text,
            "body": page.packed_body if self.keep_bodies and is_body_kept(page) else None,
        }
        with self.unit() as connection:
            connection.execute(_INSERT_PAGE if is_new else _UPDATE_PAGE, fields)
            connection.executemany(
                "INSERT INTO signatures VALUES (?, ?, ?)",
                [(stage, number, value) for stage, value in signatures.items()],
            )

    def change_text(self, number: int, page: Page) -> None:
        """Keep another text of a page than before, and what is known of it."""
        query = (
            "UPDATE pages SET text = ?, heading = ?, own_title = ?, source = ?, template = ?"
            " WHERE number = ?"
        )
        heading, own_title = storable(page.heading), storable(page.own_title)
        row = page.packed_text, heading, own_title, page.source, page.template, number
        with self.unit() as connection:
            connection.execute(query, row)

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        with self.unit() as connection:
            connection.execute("DELETE FROM signatures WHERE page = ?", (number,))
            connection.executemany(
                "INSERT INTO signatures VALUES (?, ?, ?)",
                [(stage, number, value) for stage, value in signatures.items()],
            )

    def add_duplicate(self, document: Document, match: Match) -> None:
        page = as_page(document)
        number = self._take_number()
        is_copy = match.stage == "body"
        with self.unit() as connection:
            connection.execute(
                _INSERT_DUPLICATE,
                (
                    number,
                    storable(page.id) or None,
                    storable(page.url),
                    host_of(page.url),
                    match.original,
                    match.stage,
                    match.distance,
                    match.resemblance,
                    page.fetched_at,
                    page.size_bytes,
                    storable(page.title),
                    storable(page.heading),
                    storable(page.own_title),
                    page.source,
                    page.template,
                    None if is_copy else page.packed_text,
                ),
            )

    def add_skipped(
        self, url: str, reason: str, *, detail: str = "", is_fetched: bool, size_bytes: int = 0
    ) -> None:
        """Record a URL that gave no page to compare, and why."""
        number = self._take_number()
        with self.unit() as connection:
            connection.execute(
                "INSERT INTO skipped VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    storable(without_credentials(url)),
                    host_of(url),
                    reason,
                    storable(_ANY_CREDENTIALS.sub(r"\1", detail)),
                    is_fetched,
                    time.time(),
                    size_bytes,
                ),
            )

    def add_alias(self, url: str, page_url: str, kind: str) -> None:
        """Record that `url` leads to the page at `page_url`: by `redirect` or `canonical` link."""
        with self.unit() as connection:
            connection.execute(
                "INSERT INTO aliases VALUES (?, ?, ?) ON CONFLICT (url, kind) DO NOTHING",
                (storable(url), storable(page_url), kind),
            )

    def add_to_counter(self, name: str, amount: int) -> None:
        """Add to a named counter."""
        with self.database.unit(weight=0) as connection:
            connection.execute(
                "INSERT INTO counters VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                (name, amount),
            )

    def count_fetched(self) -> int:
        """Records for which a response arrived."""
        query = (
            "SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)"
            " + (SELECT count(*) FROM skipped WHERE is_fetched) + (SELECT count(*) FROM waiting)"
        )
        return self._number(query)

    def fetched_by_host(self) -> dict[str, int]:
        """The same, of each host."""
        query = (
            "SELECT host, count(*) FROM (SELECT host FROM pages UNION ALL SELECT host FROM"
            " duplicates UNION ALL SELECT host FROM skipped WHERE is_fetched"
            " UNION ALL SELECT host FROM waiting) GROUP BY host"
        )
        return dict(map(tuple, self.rows(query)))

    def document(self, number: int) -> Document:
        query = (
            "SELECT name, text, url, title, heading, own_title, source FROM pages WHERE number = ?"
        )
        with self.database.reporting():
            row = self.database.connection.execute(query, (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        name, packed, url, title, heading, own_title, source = row
        return Document(
            id=name or str(number),
            text=self.unpacked(number, packed).decode(errors="surrogatepass"),
            url=url,
            title=title,
            heading=heading,
            own_title=own_title,
            source=source,
        )

    def body(self, number: int) -> bytes | None:
        """The body of a page; None: it was not kept."""
        query = "SELECT body FROM pages WHERE number = ?"
        with self.database.reporting():
            row = self.database.connection.execute(query, (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        return None if row[0] is None else self.unpacked(number, row[0], "body")

    def signatures(self, stage: str) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        query = "SELECT page, value FROM signatures WHERE stage = ? ORDER BY page"
        with self.database.reporting():
            cursor = self.database.connection.execute(query, (stage,))
            numbers: list[NDArray[np.int64]] = []
            values: list[bytes] = []
            while rows := cursor.fetchmany(min(_ROWS_AT_ONCE, _SIGNATURES_PER_BATCH)):
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
        where, parameters = selection.where("pages", self.database.connection)
        query = (
            "SELECT number, name, url, title, language, canonical_url, status, content_type,"  # noqa: S608 -- values are parameters
            f" fetched_at, depth, text FROM pages AS r WHERE {where} ORDER BY number"
        )
        for row in self.rows(query, parameters):
            yield {
                "id": row["name"] or row["number"],
                "url": row["url"],
                "title": row["title"],
                "language": row["language"],
                "text": self.unpacked(row["number"], row["text"]).decode(errors="replace"),
                "canonical_url": row["canonical_url"],
                "status": row["status"],
                "content_type": row["content_type"],
                "fetched_at": row["fetched_at"],
                "depth": row["depth"],
            }

    def page_urls(self) -> dict[int, str | None]:
        """The unique pages' URLs by number."""
        with self.database.reporting():
            return dict(self.database.connection.execute("SELECT number, url FROM pages"))

    def duplicates(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The record of each dropped page, as exported."""
        where, parameters = selection.where("duplicates", self.database.connection)
        query = (
            "SELECT r.*, p.name AS original_name, p.url AS original_url FROM duplicates AS r"  # noqa: S608
            f" JOIN pages AS p ON p.number = r.original WHERE {where} ORDER BY r.number"
        )
        for row in self.rows(query, parameters):
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
        where, parameters = selection.where(table, self.database.connection)
        return self._number(f"SELECT count(*) FROM {table} AS r WHERE {where}", parameters)  # noqa: S608

    def close(self) -> None:
        self.database.close()

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Row]:
        """The rows of a query, one after the other, by the names of their columns."""
        with self.database.reporting():
            cursor = self.database.connection.cursor()
            cursor.row_factory = Row
            yield from cursor.execute(query, parameters)

    def _number(self, query: str, parameters: Sequence[object] = ()) -> int:
        with self.database.reporting():
            return int(self.database.connection.execute(query, parameters).fetchone()[0])

    def _last_number(self) -> int:
        return self._number(
            "SELECT max((SELECT coalesce(max(number), 0) FROM pages),"
            " (SELECT coalesce(max(number), 0) FROM duplicates),"
            " (SELECT coalesce(max(number), 0) FROM skipped))"
        )

    def unpacked(self, number: int, compressed: bytes, kind: str = "text") -> bytes:
        """What the store keeps compressed of the page `number`."""
        try:
            size_bytes = zstandard.get_frame_parameters(compressed).content_size
            if size_bytes > MAX_UNPACKED_BYTES:  # so is one that is not told
                raise zstandard.ZstdError(f"more than {MAX_UNPACKED_BYTES:,} bytes")
            return self._decompress(compressed)
        # Damage can turn the column into NULL, and the size that zstd notes into an enormous one.
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            raise StateError(
                self.path,
                f"the {kind} of page {number} is damaged ({error})",
                "Restore the store from a copy, or move it away and crawl again",
            ) from error

    def _take_number(self) -> int:
        number = self._next_number
        self._next_number += 1
        return number


def is_body_kept(page: Page) -> bool:
    """Is the page's body small enough to be read again?"""
    return page.body is not None and len(page.body) <= MAX_UNPACKED_BYTES


def _difference(
    found: Mapping[str, Mapping[str, object]], wanted: Mapping[str, Mapping[str, object]]
) -> str:
    parts = []
    for stage in sorted({*found, *wanted}):
        if stage not in wanted:
            parts.append(f"it has {stage!r}, now switched off")
        elif stage not in found:
            parts.append(f"it lacks {stage!r}, now switched on")
        else:
            parts += [
                f"{stage} {name} {found[stage].get(name)!r}, now {wanted[stage].get(name)!r}"
                for name in sorted({*found[stage], *wanted[stage]})
                if found[stage].get(name) != wanted[stage].get(name)
            ]
    return "; ".join(parts)
