"""A connection to a job's database that commits in groups, for SQLite and PostgreSQL."""

import contextlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypedDict

import zstandard

from dedup.errors import DamageError, StateError

Parameters = Sequence[object] | Mapping[str, object]
"""Values for a query with `?` or with `:name`."""


_ALL_CHANGES = 2**63 - 1

MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""The limit for a text, a body or an outline. Half a megabyte could hold gigabytes of zeros."""


class Options(TypedDict, total=False):
    """How a store is opened.

    read_only: change nothing. The job may be running; reads see its state on opening.
    group_units: writes are committed together once this many pages are waiting.
    group_seconds: or once the first of them has waited this long.
    is_durable: False: writes are faster, but may be lost if the machine fails.
    is_shared: other processes write to the store, too, in turns: see `Workers`.
    """

    read_only: bool
    group_units: int
    group_seconds: float
    is_durable: bool
    is_shared: bool


class Cursor(Protocol):
    """The rows of a query."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    @property
    def in_transaction(self) -> bool: ...

    def execute(self, query: str, parameters: Any = ..., /) -> Cursor: ...

    def executemany(self, query: str, parameters: Iterable[Any], /) -> Cursor: ...


class Database(ABC):
    """A connection to a job's store that commits in groups.

    All writes within one `unit` become durable together; a unit that raises is undone. Units are
    committed once `group_units` of them are waiting or the oldest has waited `group_seconds`. A
    killed process loses at most these, the latest ones.

    Args:
        location: the name of the store in messages.

    Raises:
        StateError: from any method: the store cannot be read or written.
    """

    connection: Connection

    floor: str
    """The SQL that rounds down an `{expression}` that is not negative."""

    slot: str
    """The SQL of the host of a record `found`, without its port."""

    revisit: str
    """The SQL of the request that visits the page `found` again."""

    def __init__(
        self,
        location: str,
        *,
        read_only: bool = False,
        group_units: int = 100,
        group_seconds: float = 1.0,
        is_durable: bool = True,
        is_shared: bool = False,
    ) -> None:
        if group_units < 1:
            raise ValueError(f"group_units must be at least 1, got {group_units!r}")
        if group_seconds <= 0:
            raise ValueError(f"group_seconds must be greater than 0, got {group_seconds!r}")
        self.location = location
        self.on_error: Callable[[StateError], object] | None = None
        """Called with each `StateError` before it is raised."""
        self._is_read_only = read_only
        self._is_durable = is_durable
        self._is_shared = is_shared
        self._group_units = group_units
        self._group_seconds = group_seconds
        self.before_commit: list[Callable[[], object]] = []
        """Called before each commit, to write something with it."""
        self.after_begin: list[Callable[[], object]] = []
        """In a shared store: called when a transaction has begun, to read what others wrote."""
        self.last_number = 0
        """The number of the last record."""
        self.change = _ALL_CHANGES
        """The last change that `signatures` reads; `Workers.on_signatures` gets later ones."""
        self.has_turn = False
        """Within a turn, writes are committed at its end."""
        self._is_committing = False
        self._waiting_units = 0
        self._depth = 0
        self._is_broken = False
        """Has a unit inside the current one raised?"""
        self._group_began = 0.0
        self._has_failed = False
        self._decompress = zstandard.ZstdDecompressor().decompress

    @property
    def signatures(self) -> str:
        """The SQL of the signatures that this process may read."""
        return "signatures"

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction that may write."""

    @abstractmethod
    def _try_begin(self, *, waits: bool) -> bool:
        """Begin a transaction in a shared store; False: another process is writing."""

    @abstractmethod
    def _abort(self) -> None:
        """Abort the transaction."""

    @abstractmethod
    def _translating(self) -> AbstractContextManager[None]:
        """Raise `StateError` for errors of the database."""

    @abstractmethod
    def each(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query, read one by one, for results of any size."""

    def end_snapshot(self) -> None:  # noqa: B027 -- not every database has one
        """Have a reader see the job as it is from now on, and not as it was on opening."""

    @abstractmethod
    def version(self) -> object:
        """What changes when another connection has written to the job."""

    @abstractmethod
    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:
        """The SQL condition that the URLs of rows `r` of a table match, and its parameters."""

    @abstractmethod
    def outside(self, column: str, numbers: Collection[int]) -> tuple[str, list[object]]:
        """The SQL condition that a column has none of these numbers, and its parameters."""

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """For reads: raise `StateError`, after a call of `on_error`. Units do this themselves."""
        try:
            with self._translating():
                yield
        except StateError as error:
            self._has_failed = True
            if self.on_error is not None:
                self.on_error(error)
            raise

    @contextlib.contextmanager
    def unit(self, *, weight: int = 1) -> Iterator[Connection]:
        """Writes inside are stored completely or not at all. Units nest; the outermost counts.

        Args:
            weight: how many units of the group this counts as; 0 if it only prepares a later unit.

        Raises:
            RuntimeError: a unit inside has raised, and the exception was caught.
        """
        if self._depth:
            with self._inner_unit():
                yield self.connection
            return
        self._begin_unit()
        self._depth, self._is_broken = 1, False
        try:
            with self.reporting():
                yield self.connection
                if self._is_broken:
                    raise RuntimeError("a unit inside this one has failed")
                self._end_unit()
        except BaseException:
            self._undo_unit()
            raise
        finally:
            self._depth = 0
        self._waiting_units += weight
        self.commit_if_due()

    def begin_turn(self, *, waits: bool) -> bool:
        """Begin to write, until `end_turn`; False: another process is writing."""
        with self.reporting():
            self._check_failed()
            if not (self.connection.in_transaction or self._try_begin(waits=waits)):
                return False
        self.has_turn = True
        return True

    def end_turn(self) -> None:
        """Commit the writes of the turn."""
        self.has_turn = False
        self.commit()

    def commit_if_due(self) -> None:
        """Commit the group if it is full or old enough, except within a turn.

        Call this regularly while idle.
        """
        if self._is_committing or self.has_turn:
            return
        is_old = time.monotonic() - self._group_began >= self._group_seconds
        is_due = self._waiting_units >= self._group_units or (self._waiting_units and is_old)
        if is_due or (self._is_shared and self.connection.in_transaction):  # others wait
            self.commit()

    def commit(self) -> None:
        """Commit waiting writes. Not allowed within a unit.

        Raises:
            StateError: they could not be written.
        """
        if self._depth:
            raise RuntimeError("commit must be called outside of units")
        if self.connection.in_transaction:
            self._write_what_goes_with_it()
            with self.reporting():
                self._commit()
        self._waiting_units = 0

    def all(self, query: str, parameters: Parameters = ()) -> list[Any]:
        """All rows of a query."""
        with self.reporting():
            return self.connection.execute(query, parameters).fetchall()

    def pairs(self, query: str, parameters: Parameters = ()) -> dict[Any, Any]:
        """The rows of a query with two columns, as a mapping from the first to the second."""
        return dict(self.all(query, parameters))

    def first(self, query: str, parameters: Parameters = ()) -> Any:
        """The first row of a query, or None."""
        with self.reporting():
            return self.connection.execute(query, parameters).fetchone()

    def record(self, query: str, number: int) -> Any:
        """The row that a query finds by a number.

        Raises:
            KeyError: there is no such row.
        """
        row = self.first(query, (number,))
        if row is None:
            raise KeyError(number)
        return row

    def value(self, query: str, parameters: Parameters = ()) -> Any:
        """The first column of a query's first row; None: it has no row."""
        row = self.first(query, parameters)
        return None if row is None else row[0]

    def meta(self, name: str) -> str | None:
        """A named value of the job, or None."""
        value = self.value("SELECT value FROM meta WHERE name = ?", (name,))
        return None if value is None else str(value)

    def set_meta(self, name: str, value: str) -> None:
        query = (
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        self.write(query, (name, value), weight=1)

    def take_number(self) -> int:
        """The number of the next record; call this within a unit."""
        self.last_number += 1
        return self.last_number

    def write(self, query: str, parameters: Parameters = (), *, weight: int = 0) -> None:
        """Execute a statement without a result in a unit of its own, or in the current one."""
        self.write_many(query, [parameters], weight=weight)

    def write_many(
        self,
        query: str,
        rows: Sequence[Parameters],
        *,
        weight: int = 0,
        is_sum: bool = False,  # noqa: ARG002 -- where they are sent together
    ) -> None:
        """Execute a statement without a result for each row, as `write` does.

        Args:
            query: the statement.
            rows: its parameters, one time after the other.
            weight: see `unit`.
            is_sum: the statement adds the last value of a row to that of an equal one.
        """
        with self.unit(weight=weight) as connection:
            connection.executemany(query, rows)

    def unpacked(self, number: int, compressed: bytes, kind: str = "text") -> bytes:
        """Decompress data of the page `number`."""
        try:
            size_bytes = zstandard.get_frame_parameters(compressed).content_size
            if size_bytes > MAX_UNPACKED_BYTES:  # an unknown size is also larger
                raise zstandard.ZstdError(f"more than {MAX_UNPACKED_BYTES:,} bytes")
            return self._decompress(compressed)
        # Damage can turn the column into NULL, and the size in the frame into an enormous one.
        except (zstandard.ZstdError, TypeError, MemoryError) as error:
            raise DamageError(
                self.location, f"the {kind} of page {number} is damaged ({error})"
            ) from error

    def text(self, number: int, compressed: bytes, *, errors: str = "replace") -> str:
        """The text of the page `number`."""
        return self.unpacked(number, compressed).decode(errors=errors)

    def _commit(self) -> None:
        self.connection.execute("COMMIT")

    def _write_what_goes_with_it(self) -> None:
        if self._has_failed:
            return
        self._is_committing = True
        try:
            for call in self.before_commit:
                call()
        finally:
            self._is_committing = False

    @property
    @abstractmethod
    def is_usable(self) -> bool:
        """Is there a connection without a failure?"""

    @abstractmethod
    def close(self) -> None:
        """Commit, close and release the lock. A second call does nothing."""

    @contextlib.contextmanager
    def _inner_unit(self) -> Iterator[None]:
        self._check_failed()
        self._depth += 1
        try:
            with self.reporting():
                yield
        except BaseException:
            self._is_broken = True
            raise
        finally:
            self._depth -= 1

    def _check_failed(self) -> None:
        # A failed write may be a link of the next page, or a whole group. Memory and store differ
        # now, so the process cannot continue.
        if self._has_failed:
            raise StateError(
                self.location, "an earlier write to the store failed", "Rerun the same command"
            )

    def _read_others(self) -> None:
        """Read what other processes have written, after a transaction has begun."""
        try:
            for call in self.after_begin:
                call()
        except BaseException:
            self._abort()
            raise

    def _begin_unit(self) -> None:
        self._check_failed()
        with self.reporting():
            if not self.connection.in_transaction:
                self._begin()
                self._group_began = time.monotonic()
            self._set_savepoint()

    def _set_savepoint(self) -> None:
        self.connection.execute("SAVEPOINT unit")

    def _end_unit(self) -> None:
        self.connection.execute("RELEASE unit")

    def _roll_back_unit(self) -> None:
        self.connection.execute("ROLLBACK TO unit")
        self.connection.execute("RELEASE unit")

    def _undo_unit(self) -> None:
        if self._is_shared and self._has_failed:
            self._abort()
            return
        # On a full disk, for example, SQLite rolls back the transaction with its savepoints.
        self._has_failed = self._has_failed or not self.connection.in_transaction
        if self.connection.in_transaction:
            with self.reporting():
                self._roll_back_unit()


def inserting(table: str, *columns: str) -> str:
    """The query that adds a row with values for these columns."""
    marks = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 -- our own names


class Queries:
    """The base of those parts of a store that answer queries of one part of the program.

    Raises:
        StateError: from any method: the store is damaged.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
