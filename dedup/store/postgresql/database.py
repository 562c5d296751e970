"""A connection to a job in PostgreSQL that commits in groups."""

import contextlib
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Unpack

import psycopg

from dedup.errors import StateError
from dedup.store.postgresql.connection import Connection, translated_query
from dedup.store.postgresql.errors import reporting
from dedup.store.postgresql.opening import connect, lock
from dedup.store.postgresql.place import Place
from dedup.store.sql import database
from dedup.store.sql.database import Options, Parameters

_ROWS_AT_ONCE = 5_000


class Database(database.Database):
    """A job's schema.

    Without `is_durable`, commits do not wait for the server's disk: a server that crashes loses the
    last 0.6 seconds, pages and URLs together.

    Raises:
        StateError: the server cannot be reached; or the job is missing, in use, of another version
            or program. Later, from any method: the server fails.
    """

    connection: Connection

    floor = "floor({expression})::bigint"
    slot = "split_part(found.host, ':', 1)"
    revisit = """convert_to('{"revisit": ' || found.number || '}', 'UTF8')"""

    def __init__(
        self,
        place: Place,
        *,
        must_exist: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(str(place), **options)
        self.place = place
        self._stored_number = 0
        self._names = count()
        raw = self._reach(is_new=not (self._is_read_only or must_exist))
        self.connection = Connection(place, self._reach, raw, waits=self._is_shared)

    @property
    def signatures(self) -> str:
        """Those that existed when this process joined. `Workers` passes on later ones."""
        return f"(SELECT * FROM signatures WHERE changed <= {self.change}) AS known"  # noqa: S608 -- a number

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """As in the base class. After an error the transaction ends, and the lock is released."""
        try:
            with super().reporting():
                yield
        except StateError:
            self._abort()
            raise

    def each(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, kept by the server, without a snapshot of the tables."""
        with self.reporting():
            if self.connection.in_transaction:
                yield from self.connection.execute(query, parameters)
                return
            name = f"rows_{next(self._names)}"
            with self.connection.raw.cursor(name, withhold=True) as cursor:
                cursor.itersize = _ROWS_AT_ONCE
                yield from cursor.execute(
                    translated_query(query, is_named=False) if parameters else query.encode(),
                    parameters,
                )

    def version(self) -> object:
        return self.value("SELECT mark FROM job")

    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:
        query = f"SELECT number, url FROM {table} WHERE url IS NOT NULL"  # noqa: S608 -- our own names
        numbers = [number for number, url in self.each(query) if pattern.search(url)]
        return "r.number = ANY(?)", [numbers]

    def outside(self, column: str, numbers: Collection[int]) -> tuple[str, list[object]]:
        return f"{column} <> ALL(?)", [sorted(numbers)]

    def _reach(self, *, is_new: bool = False) -> psycopg.Connection[Any]:
        raw = connect(self.place, read_only=self._is_read_only, is_new=is_new)
        try:
            if not self._is_read_only:
                lock(raw, self.place, is_shared=self._is_shared)
            if not self._is_durable:
                raw.execute("SET synchronous_commit = off")
        except BaseException:
            raw.close()
            raise
        return raw

    @property
    def is_usable(self) -> bool:
        return not (self.connection.raw.closed or self._has_failed)

    def close(self) -> None:
        """Commit, close and release the lock. A second call does nothing."""
        try:
            if self.is_usable:
                self.commit()
        finally:
            self.connection.close()

    def record(self, query: str, number: int) -> Any:
        """As in the base class. Later writes are new records: they change no earlier one."""
        if number > self._stored_number:
            return super().record(query, number)
        with self.reporting():
            row = self.connection.execute_now(query, (number,)).fetchone()
        if row is None:
            raise KeyError(number)
        return row

    def write_many(
        self,
        query: str,
        rows: Sequence[Parameters],
        *,
        weight: int = 0,
        is_sum: bool = False,
    ) -> None:
        if self._depth:
            self._check_failed()
            self.connection.write_later(query, rows, is_sum=is_sum)
            return
        with self.unit(weight=weight):
            self.connection.write_later(query, rows, is_sum=is_sum)

    def _begin(self) -> None:
        self._lock_job("")

    def _try_begin(self, *, waits: bool) -> bool:
        return self._lock_job("" if waits else "SKIP LOCKED")

    def _lock_job(self, how: str) -> bool:
        """Begin a transaction and lock the job; False: another process has locked it."""
        last_number = self.connection.begin(how)
        if last_number is None:
            return False
        if last_number < self._stored_number:
            self._abort()
            raise StateError(
                str(self.place),
                f"the database has lost records: {self._stored_number} were stored, {last_number}"
                " are left",
                "Rerun the same command: it refetches what was lost",
            )
        self.last_number = self._stored_number = last_number
        self._group_began = time.monotonic()
        self._read_others()
        return True

    def _commit(self) -> None:
        self._check_failed()
        self.connection.commit(self.last_number)
        self._stored_number = self.last_number

    def _set_savepoint(self) -> None:
        self.connection.begin_unit()

    def _end_unit(self) -> None:
        self.connection.end_unit()

    def _roll_back_unit(self) -> None:
        self.connection.undo_unit()

    def _undo_unit(self) -> None:
        if self._has_failed:
            self._abort()
        else:
            super()._undo_unit()

    def _abort(self) -> None:
        self.connection.abort()
        self.has_turn = False

    def _translating(self) -> AbstractContextManager[None]:
        return reporting(self.place)
