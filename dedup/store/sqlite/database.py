"""A connection to a job's SQLite file that commits in groups.

One writer holds the job's lock, see `dedup.store.lock`. Readers need no lock: the database is in
WAL mode, and a running job can be read at any time.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dedup.errors import StateError
from dedup.store.lock import JobLock, lock
from dedup.store.sqlite.errors import reporting
from dedup.store.sqlite.opening import connect, remove_empty_files


class Database:
    """A connection to a job's store that commits in groups.

    Everything done within one `unit` becomes durable together; a unit that raises leaves no trace.
    Units are committed once `group_units` of them are waiting or the oldest has waited
    `group_seconds`: a killed process loses at most that much, and what is lost is the newest.
    Where it is not `is_durable`, a commit does not wait for the disk: the store outlives a killed
    process, not a failed machine. With `read_only`, nothing in the store is changed, and a
    running job may be opened: all reads see it as it was when opened.

    Raises:
        StateError: the file is not a store, is damaged, is of another schema version, is in use by
            another process, or cannot be read or created. It is left as it was. Later, from any
            method: damage that opening did not come across, or a full disk.
    """

    def __init__(
        self,
        path: Path,
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
        self.path = path
        self._is_read_only = read_only
        self.on_error: Callable[[StateError], object] | None = None
        """Called with each `StateError` before it is raised."""
        self._group_units = group_units
        self._group_seconds = group_seconds
        self._waiting_units = 0
        self._depth = 0
        self._group_began = 0.0
        self._has_failed = False
        self._lock: JobLock | None = None
        if not read_only:
            self._lock = lock(path)
        try:
            self.connection = connect(path, read_only=read_only)
            if not is_durable:
                self.connection.execute("PRAGMA synchronous = OFF")
        except BaseException:
            self._unlock()
            raise

    @contextlib.contextmanager
    def reporting(self) -> Iterator[None]:
        """For reads: see the function of this name. Units report by themselves."""
        try:
            with reporting(self.path):
                yield
        except StateError as error:
            self._has_failed = True
            if self.on_error is not None:
                self.on_error(error)
            raise

    @contextlib.contextmanager
    def unit(self, *, weight: int = 1) -> Iterator[sqlite3.Connection]:
        """What is written inside is kept whole or not at all. Units nest; the outermost counts.

        Args:
            weight: how many units of the group this is; 0 for what only prepares a later unit.
        """
        self._begin_unit()
        self._depth += 1
        try:
            with self.reporting():
                yield self.connection
                self.connection.execute("RELEASE unit")
        except BaseException:
            self._undo_unit()
            raise
        finally:
            self._depth -= 1
        if self._depth == 0:
            self._waiting_units += weight
            self.commit_if_due()

    def commit_if_due(self) -> None:
        """Commit the group if it is full or old enough; call it now and then while idle."""
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
            with self.reporting():
                self.connection.execute("COMMIT")
        self._waiting_units = 0

    def meta(self, name: str) -> str | None:
        """A named value of the job, or None."""
        query = "SELECT value FROM meta WHERE name = ?"
        with self.reporting():
            row = self.connection.execute(query, (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        with self.unit() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Commit, close and let go of the lock. A second call does nothing."""
        try:
            with contextlib.suppress(sqlite3.ProgrammingError):  # closed already
                self.commit()
        finally:
            self.connection.close()
            if self._is_read_only:
                remove_empty_files(self.path)
            self._unlock()

    def _begin_unit(self) -> None:
        # What failed may be a link of the page that comes next, or all of a group: memory knows
        # what the store does not, and there is no going on.
        if self._has_failed:
            raise StateError(
                self.path, "an earlier write to the store failed", "Run the same command again"
            )
        with self.reporting():
            if not self.connection.in_transaction:
                self.connection.execute("BEGIN IMMEDIATE")
                self._group_began = time.monotonic()
            self.connection.execute("SAVEPOINT unit")

    def _undo_unit(self) -> None:
        # On a full disk, for one, SQLite rolls back all of the transaction, savepoints included.
        self._has_failed = self._has_failed or not self.connection.in_transaction
        if self.connection.in_transaction:
            with self.reporting():
                self.connection.execute("ROLLBACK TO unit")
                self.connection.execute("RELEASE unit")

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
