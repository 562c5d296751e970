"""A connection to a job's database that commits in groups: what SQLite and PostgreSQL share."""

import contextlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypedDict

import zstandard

from dedup.errors import DamageError, StateError

Parameters = Sequence[object] | Mapping[str, object]
"""Of a query with `?` for each, or with `:name`."""


MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Of a text, a body or an outline. A store of half a megabyte could hold gigabytes of zeros."""


class Options(TypedDict, total=False):
    """How a store is opened.

    read_only: change nothing; the job may be running, and is seen as it is now.
    group_units: writes are committed together once this many pages are waiting.
    group_seconds: or once the first of them has waited this long.
    is_durable: False: a store that need not outlive the machine, which is faster to write.
    """

    read_only: bool
    group_units: int
    group_seconds: float
    is_durable: bool


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

    Everything done within one `unit` becomes durable together; a unit that raises leaves no trace.
    Units are committed once `group_units` of them are waiting or the oldest has waited
    `group_seconds`: a killed process loses at most that much, and what is lost is the newest.

    Args:
        location: what messages call the store.

    Raises:
        StateError: from any method: the store cannot be read or written.
    """

    connection: Connection

    floor: str
    """The SQL of an `{expression}` that is not negative, rounded down."""

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
        self._group_units = group_units
        self._group_seconds = group_seconds
        self.before_commit: list[Callable[[], object]] = []
        """Called before each commit, to write what goes with it."""
        self.last_number = 0
        """Of the records."""
        self._is_committing = False
        self._waiting_units = 0
        self._depth = 0
        self._is_broken = False
        """Has a unit inside the present one raised?"""
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
    def _translating(self) -> AbstractContextManager[None]:
        """Raise `StateError` for what is wrong with the database."""

    @abstractmethod
    def each(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        """The rows of a query as tuples, one after the other, however many there are."""

    @abstractmethod
    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:
        """The condition on rows `r` of a table that their URLs match, and its parameters."""

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """For reads: raise `StateError`, and tell of it. Units report by themselves."""
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
        """What is written inside is kept whole or not at all. Units nest; the outermost counts.

        Args:
            weight: how many units of the group this is; 0 for what only prepares a later unit.

        Raises:
            RuntimeError: a unit inside has raised, and the exception went no further.
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
                self.connection.execute("RELEASE unit")
        except BaseException:
            self._undo_unit()
            raise
        finally:
            self._depth = 0
        self._waiting_units += weight
        self.commit_if_due()

    def commit_if_due(self) -> None:
        """Commit the group if it is full or old enough; call it now and then while idle."""
        if self._is_committing:
            return
        if self._waiting_units and (
            self._waiting_units >= self._group_units
            or time.monotonic() - self._group_began >= self._group_seconds
        ):
            self.commit()

    def commit(self) -> None:
        """Commit what is waiting; not within a unit.

        Raises:
            StateError: what is waiting could not be written.
        """
        if self._depth:
            raise RuntimeError("commit must be called outside of units")
        if self.connection.in_transaction:
            self._write_what_goes_with_it()
            with self.reporting():
                self._commit()
        self._waiting_units = 0

    def all(self, query: str, parameters: Parameters = ()) -> list[Any]:
        """The rows of a query, at once."""
        with self.reporting():
            return self.connection.execute(query, parameters).fetchall()

    def pairs(self, query: str, parameters: Parameters = ()) -> dict[Any, Any]:
        """The rows of a query of two columns: the second one by the first one, in their order."""
        return dict(self.all(query, parameters))

    def first(self, query: str, parameters: Parameters = ()) -> Any:
        """The first row of a query, or None."""
        with self.reporting():
            return self.connection.execute(query, parameters).fetchone()

    def record(self, query: str, number: int) -> Any:
        """The row that a query finds by a number.

        Raises:
            KeyError: there is none.
        """
        row = self.first(query, (number,))
        if row is None:
            raise KeyError(number)
        return row

    def value(self, query: str, parameters: Parameters = ()) -> Any:
        """The first column of a query's first row; None where there is no row."""
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
        """The number of the record that is written next, within a unit."""
        self.last_number += 1
        return self.last_number

    def write(self, query: str, parameters: Parameters = (), *, weight: int = 0) -> None:
        """Execute in a unit of its own, or in the present one."""
        with self.unit(weight=weight) as connection:
            connection.execute(query, parameters)

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

    @abstractmethod
    def close(self) -> None:
        """Commit, close and let go of what is locked. A second call does nothing."""

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
        # What failed may be a link of the page that comes next, or all of a group: memory knows
        # what the store does not, and there is no going on.
        if self._has_failed:
            raise StateError(
                self.location, "an earlier write to the store failed", "Rerun the same command"
            )

    def _begin_unit(self) -> None:
        self._check_failed()
        with self.reporting():
            if not self.connection.in_transaction:
                self._begin()
                self._group_began = time.monotonic()
            self.connection.execute("SAVEPOINT unit")

    def _undo_unit(self) -> None:
        # On a full disk, for one, SQLite rolls back all of the transaction, savepoints included.
        self._has_failed = self._has_failed or not self.connection.in_transaction
        if self.connection.in_transaction:
            with self.reporting():
                self.connection.execute("ROLLBACK TO unit")
                self.connection.execute("RELEASE unit")


def inserting(table: str, *columns: str) -> str:
    """The query that adds a row, given by the names of its columns."""
    marks = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 -- our own names


class Queries:
    """The base of a part of a store, which one part of the program asks.

    Raises:
        StateError: from any method: the store is damaged.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
