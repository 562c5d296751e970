"""A connection to a job in PostgreSQL that commits in groups."""

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import count
from typing import Any

import psycopg

from dedup.store.postgresql.errors import reporting
from dedup.store.postgresql.opening import connect, lock
from dedup.store.postgresql.place import Place
from dedup.store.sql import database
from dedup.store.sql.database import Parameters

_ROWS_AT_ONCE = 5_000


class Row(tuple[Any, ...]):
    """A row by place or by the names of its columns, as `sqlite3.Row`."""

    names: Mapping[str, int]

    def __getitem__(self, place: Any) -> Any:
        return super().__getitem__(self.names[place] if isinstance(place, str) else place)


class Connection:
    """Takes queries as SQLite does, with `?` or `:name` for parameters."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw

    def execute(self, query: str, parameters: Parameters = (), /) -> psycopg.Cursor[Any]:
        if not parameters:
            return self.raw.execute(query.encode())
        translated = _translated(query, isinstance(parameters, Mapping))
        try:
            return self.raw.execute(translated, parameters)
        except (psycopg.DataError, UnicodeEncodeError):
            return self.raw.execute(translated, _cleaned(parameters))

    def executemany(self, query: str, parameters: Iterable[Parameters], /) -> psycopg.Cursor[Any]:
        cursor = self.raw.cursor()
        rows = list(parameters)
        if rows:
            translated = _translated(query, isinstance(rows[0], Mapping))
            try:
                cursor.executemany(translated, rows)
            except (psycopg.DataError, UnicodeEncodeError):
                cursor.executemany(translated, list(map(_cleaned, rows)))
        return cursor


class Database(database.Database):
    """A job's schema.

    Where it is not `is_durable`, a commit does not wait for the server's disk: what a crashed
    server loses are the last 0.6 seconds, pages and URLs together.

    Raises:
        StateError: the server cannot be reached; the job is not there, of another version, in use
            by another process, or another program's. Later, from any method: the server fails.
    """

    connection: Connection

    def __init__(
        self,
        place: Place,
        *,
        read_only: bool = False,
        must_exist: bool = False,
        is_shared: bool = False,
        group_units: int = 100,
        group_seconds: float = 1.0,
        is_durable: bool = True,
    ) -> None:
        super().__init__(str(place), group_units=group_units, group_seconds=group_seconds)
        self.place = place
        self.last_number = 0
        """Of the records; what it is for others as long as the lock of `job` is held."""
        self.has_turn = False
        """Is what is written committed at the end of a turn, and not before?"""
        self.after_begin: list[Callable[[], object]] = []
        self.before_commit: list[Callable[[], object]] = []
        self._is_shared = is_shared
        self._is_open = False
        self._is_committing = False
        self._pipeline = contextlib.ExitStack()
        self._names = count()
        raw = connect(place, read_only=read_only, is_new=not (read_only or must_exist))
        self.connection = Connection(raw)
        try:
            if not read_only:
                lock(raw, place, is_shared=is_shared)
            if not is_durable:
                raw.execute("SET synchronous_commit = off")
        except BaseException:
            raw.close()
            raise

    @property
    def is_in_transaction(self) -> bool:
        return self._is_open

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Row]:
        with self.reporting():
            cursor = self.connection.execute(query, parameters)
            found = cursor.fetchall()  # before which a pipeline knows no names
            names = {column.name: place for place, column in enumerate(cursor.description or ())}
            kind = type("Row", (Row,), {"names": names})
            yield from map(kind, found)

    def each(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query. The server keeps them, not a snapshot of the tables."""
        with self.reporting():
            if self._is_open:
                yield from self.connection.execute(query, parameters)
                return
            name = f"rows_{next(self._names)}"
            with self.connection.raw.cursor(name, withhold=True) as cursor:
                cursor.itersize = _ROWS_AT_ONCE
                yield from cursor.execute(
                    _translated(query, is_named=False) if parameters else query.encode(), parameters
                )

    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:
        query = f"SELECT number, url FROM {table} WHERE url IS NOT NULL"  # noqa: S608 -- our own names
        numbers = [number for number, url in self.each(query) if pattern.search(url)]
        return "r.number = ANY(?)", [numbers]

    def take_number(self) -> int:
        """The number of the record that is written next, within a unit."""
        self.last_number += 1
        return self.last_number

    @property
    def is_usable(self) -> bool:
        """Is there a connection, and has nothing failed on it?"""
        return not (self.connection.raw.closed or self._has_failed)

    def close(self) -> None:
        """Commit, close and let go of the lock. A second call does nothing."""
        try:
            if self.is_usable:
                self.commit()
        finally:
            with contextlib.suppress(psycopg.Error):
                self._pipeline.close()
            self.connection.raw.close()

    def begin_turn(self, *, waits: bool) -> bool:
        """Begin to write, for as long as until `end_turn`; False: another process writes."""
        if not self._is_open:
            with self.reporting():
                self._check_failed()
                if not self._lock_job("" if waits else "SKIP LOCKED"):
                    return False
        self.has_turn = True
        return True

    def end_turn(self) -> None:
        """Commit what has been written in the turn."""
        self.has_turn = False
        self.commit()

    def commit_if_due(self) -> None:
        """Commit the group if it is full or old enough, but not within a turn."""
        if self.has_turn or self._is_committing:
            return
        if self._is_shared and self._is_open:  # others wait
            self.commit()
        else:
            super().commit_if_due()

    def _begin(self) -> None:
        self._lock_job("")

    def _lock_job(self, how: str) -> bool:
        """Begin a transaction and lock the job; False: another process has it locked."""
        raw = self.connection.raw
        self._pipeline.enter_context(raw.pipeline())
        raw.execute("BEGIN")
        row = raw.execute(f"SELECT last_number FROM job FOR UPDATE {how}".encode()).fetchone()  # noqa: S608 -- two words at most
        if row is None:
            raw.execute("ROLLBACK")
            self._pipeline.close()
            return False
        self._is_open = True
        self.last_number = self._first_number = row[0]
        self._group_began = time.monotonic()
        try:
            for call in self.after_begin:
                call()
        except BaseException:
            self._abort()
            raise
        return True

    def _commit(self) -> None:
        raw = self.connection.raw
        self._is_committing = True
        try:
            for call in self.before_commit:
                call()
        finally:
            self._is_committing = False
        if self.last_number != self._first_number:
            raw.execute("UPDATE job SET last_number = %s", [self.last_number])
        raw.execute("COMMIT")
        self._pipeline.close()
        self._is_open = False

    def _undo_unit(self) -> None:
        if not self._has_failed:
            super()._undo_unit()
            return
        self._abort()

    def _abort(self) -> None:
        """Let go of the transaction, and of the lock."""
        with contextlib.suppress(psycopg.Error):
            self._pipeline.close()
        with contextlib.suppress(psycopg.Error):
            self.connection.raw.rollback()
        self._is_open = self.has_turn = False

    def _translating(self) -> AbstractContextManager[None]:
        return reporting(self.place)


@lru_cache(maxsize=1_000)
def _translated(query: str, is_named: bool) -> bytes:
    query = query.replace("%", "%%")
    if is_named:
        return re.sub(r":(\w+)", r"%(\1)s", query).encode()
    return query.replace("?", "%s").encode()


def _cleaned(parameters: Parameters) -> Any:
    """With question marks for what PostgreSQL refuses in a text: zeros and lone surrogates."""
    if isinstance(parameters, Mapping):
        return {name: clean(value) for name, value in parameters.items()}
    return [clean(value) for value in parameters]


def clean(value: object) -> object:
    if isinstance(value, list):
        return [clean(each) for each in value]
    if isinstance(value, str):
        return value.replace("\0", "?").encode("utf-8", "replace").decode()
    return value
