"""A job's store: its pages, duplicates and skipped URLs, and its other parts."""

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Any, Self

from dedup.document import Document, Match
from dedup.errors import DamageError, SchemeError, StateError
from dedup.store.interface import Schemes, Workers
from dedup.store.records import (
    DROPPED_FIELDS,
    HAS_REDUCED,
    PAGE_FIELDS,
    REDUCED,
    Page,
    as_page,
    compressed,
    storable,
    storable_fields,
)
from dedup.store.sql.database import MAX_UNPACKED_BYTES, Connection, Database, inserting
from dedup.store.sql.decisions import StoredDecisions
from dedup.store.sql.explain import ExplainQueries
from dedup.store.sql.export import ExportQueries
from dedup.store.sql.learned import HostKnowledge
from dedup.store.sql.reading import PageReader
from dedup.store.sql.refresh import Refreshes
from dedup.store.sql.report import ReportQueries
from dedup.store.sql.stats import StatsQueries
from dedup.store.sql.url_table import UrlTable
from dedup.urls.credentials import without_credentials
from dedup.urls.parts import host_of

_ANY_CREDENTIALS = re.compile(r"(https?://)[^\s/?#@]*@")

_COLUMNS = ("name", "host", *PAGE_FIELDS, "rest", "text", "body")
_MATCH = ("original", "stage", "distance", "resemblance")


def _updating(*columns: str) -> str:
    values = ", ".join(f"{column} = :{column}" for column in columns)
    return f"UPDATE pages SET {values} WHERE number = :number"  # noqa: S608 -- our own names


_INSERT_PAGE = inserting("pages", "number", *_COLUMNS)
_DUPLICATE_COLUMNS = ("number", "name", "host", *_MATCH, *DROPPED_FIELDS, "text")
_INSERT_DUPLICATE = (
    f"INSERT INTO duplicates ({', '.join(_DUPLICATE_COLUMNS)})"  # noqa: S608 -- our own names
    f" VALUES ({', '.join('?' * len(_DUPLICATE_COLUMNS))})"
)
_match_values = attrgetter(*_MATCH)
_UPDATE_PAGE = _updating(*_COLUMNS)
_CHANGE_TEXT = _updating("text", "heading", "own_title", "source", "site_version", "rest")


class JobStore(PageReader, ABC):
    """The store of a crawl's job, or of a job of `dedup run`.

    Texts come back unchanged, lone surrogates included. In URLs, ids and titles, question marks
    replace these. Texts and bodies have checksums.

    Attributes:
        keep_bodies: are the bodies of pages stored as well as their texts?
        urls: the seen URLs, and the queue.
        learned: what is known about hosts, and the pages to learn from.
        workers: the processes that share the job.
        refreshes: visits to the pages of a finished job.
        decisions: those of a run over a collection, and about pages of earlier crawls.
        stats, report, explain, exports: queries for the parts of the program with these names.

    Raises:
        StateError: from any method: the store is damaged, or cannot be read or written.
    """

    def __init__(self, database: Database, workers: Workers, *, keep_bodies: bool) -> None:
        super().__init__(database)
        self.keep_bodies = keep_bodies
        self.urls = UrlTable(database)
        self.learned = HostKnowledge(database)
        self.workers = workers
        self.refreshes = Refreshes(database, self._write_page, workers)
        self.decisions = StoredDecisions(database, self.add_skipped)
        self.stats = StatsQueries(database)
        self.report = ReportQueries(database)
        self.explain = ExplainQueries(database)
        self.exports = ExportQueries(database)

    @property
    def location(self) -> str:
        """The address of the store in messages, without a password."""
        return self.database.location

    @property
    @abstractmethod
    def job(self) -> str:
        """The job as an argument of commands: its folder, or `postgresql://…/DATABASE#NAME`."""

    def unit(self) -> AbstractContextManager[Connection]:
        """Writes inside are stored completely or not at all, for example a page and its links."""
        return self.database.unit()

    def on_error(self, call: Callable[[StateError], object]) -> None:
        """Have `call` called with each `StateError` before it is raised."""
        self.database.on_error = call

    def meta(self, name: str) -> str | None:
        """A named value of the job, or None."""
        return self.database.meta(name)

    def set_meta(self, name: str, value: str) -> None:
        """Store a named value of the job."""
        self.database.set_meta(name, value)

    def commit(self) -> None:
        """Make writes durable. Not allowed within a unit."""
        self.database.commit()

    def commit_if_due(self) -> None:
        """Commit writes that have waited long enough. Call this regularly while idle."""
        self.database.commit_if_due()

    def schemes(self, *, of: str = "detectors") -> dict[str, Any]:
        """The schemes of the store, see `check_schemes`; empty: none are stored."""
        try:
            found: dict[str, Any] = json.loads(self.meta(f"schemes of {of}") or "{}")
        except ValueError as error:
            problem = f"its settings of {of} are damaged ({error})"
            raise DamageError(self.location, problem) from error
        return found

    def check_schemes(self, schemes: Schemes, *, of: str = "detectors") -> None:
        wanted = json.dumps(schemes, sort_keys=True)
        found = self.database.meta(f"schemes of {of}")
        if found is None:
            self.database.set_meta(f"schemes of {of}", wanted)
        elif found != wanted:
            raise SchemeError(
                self.location,
                f"made with different settings: {_difference(self.schemes(of=of), schemes)}",
                "Restore them, or crawl into a new job",
            )

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        with self.unit():
            number = self.database.take_number()
            self._write_page(number, as_page(document), signatures)
        return number

    def _write_page(
        self, number: int, page: Page, signatures: Mapping[str, bytes], *, is_new: bool = True
    ) -> None:
        """Write a page under its number, as a new row or over the old one."""
        fields = {**_fields(number, page), **_content(page), "body": None}
        if self.keep_bodies and page.body is not None and len(page.body) <= MAX_UNPACKED_BYTES:
            fields["body"] = page.body_column
        elif page.reduced is not None:
            fields["body"] = REDUCED + compressed(page.reduced)
        with self.unit() as connection:
            if page.reduced is not None:
                self.set_meta(HAS_REDUCED, "1")
            if is_new:
                self.database.write(_INSERT_PAGE, fields)
            else:
                connection.execute(_UPDATE_PAGE, fields)
            self._add_signatures(number, signatures)
            if page.preferences or not is_new:
                self.learned.preferences.note(number, page.preferences)

    def change_text(self, number: int, page: Page) -> None:
        """Replace the text of a page, and the fields that depend on it."""
        with self.unit() as connection:
            connection.execute(_CHANGE_TEXT, {**_fields(number, page), **_content(page)})

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        with self.unit() as connection:
            connection.execute("DELETE FROM signatures WHERE page = ?", (number,))
            self._add_signatures(number, signatures)

    def _add_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        rows = [(stage, number, value) for stage, value in signatures.items()]
        self.database.write_many("INSERT INTO signatures VALUES (?, ?, ?)", rows)

    def note_apart(self, number: int, original: int, lines: Sequence[str]) -> None:
        """Record that a page was kept for these lines, although its text resembles another's."""
        self.database.write(
            "INSERT INTO apart VALUES (?, ?, ?) ON CONFLICT (page) DO UPDATE"
            " SET original = excluded.original, lines = excluded.lines",
            (number, original, storable(json.dumps(list(lines), ensure_ascii=False))),
        )

    def add_duplicate(self, document: Document, match: Match) -> None:
        page = as_page(document)
        with self.unit():
            number = self.database.take_number()
            row = (
                number,
                storable(page.id) or None,
                host_of(page.url),
                *_match_values(match),
                *storable_fields(page, DROPPED_FIELDS).values(),
                None if match.stage == "body" else page.packed_text,
            )
            self.database.write(_INSERT_DUPLICATE, row)
            if page.claims is not None:
                self.exports.copies.note(number, page.claims)

    def add_skipped(
        self, url: str, reason: str, *, detail: str = "", is_fetched: bool, size_bytes: int = 0
    ) -> int:
        """Record a URL without a page to compare, and the reason; return the record's number."""
        with self.unit():
            number = self.database.take_number()
            self.database.write(
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
        return number

    def add_to_counter(self, name: str, amount: int) -> None:
        """Add to a named counter."""
        self.database.write_many(
            "INSERT INTO counters VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value",
            [(name, amount)],
            is_sum=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit and close. A second call does nothing."""
        self.database.close()


def render_mode(store: JobStore) -> str:
    """`DEDUP_RENDER` of the last crawl of a job."""
    try:
        settings = json.loads(store.meta("settings") or "{}")
    except ValueError as error:
        raise DamageError(store.location, f"its settings are damaged ({error})") from error
    return str(settings.get("DEDUP_RENDER", "off"))


def _difference(found: Schemes, wanted: Schemes) -> str:
    parts = []
    for stage in sorted({*found, *wanted}):
        if stage not in wanted:
            parts.append(f"it has {stage!r}, which is now off")
        elif stage not in found:
            parts.append(f"it lacks {stage!r}, which is now on")
        else:
            parts += [
                f"{stage} {name} {found[stage].get(name)!r}, now {wanted[stage].get(name)!r}"
                for name in sorted({*found[stage], *wanted[stage]})
                if found[stage].get(name) != wanted[stage].get(name)
            ]
    return "; ".join(parts)


def _fields(number: int, page: Page) -> dict[str, object]:
    """The columns of a record, without its content."""
    return {
        **storable_fields(page),
        "number": number,
        "name": storable(page.id) or None,
        "host": host_of(page.url),
    }


def _content(page: Page) -> dict[str, object]:
    rest = None if page.rest is None else page.rest.kept().to_bytes()
    return {"text": page.packed_text, "rest": rest}
