"""A connection to a job's SQLite file that commits in groups.

One writer holds the job's lock: see `dedup.store.lock`. Of a job that several processes share, the
process that started them holds it, and they write in turns. Readers need no lock: the database is
in WAL mode, so a running job can be read at any time.
"""

import contextlib
import re
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Unpack

from dedup.errors import StateError, in_use
from dedup.store.lock import lock
from dedup.store.sql import database
from dedup.store.sql.database import Options
from dedup.store.sql.decisions import LAST_NUMBER
from dedup.store.sqlite.errors import reporting
from dedup.store.sqlite.opening import connect, remove_empty_files, set_shared
from dedup.urls.parts import host_without_port

_WAIT_SECONDS = 1.0
"""How long a process waits for its turn, before it goes on with other things and tries again."""


class Database(database.Database):
    """A job's SQLite file.

    Without `is_durable`, commits do not wait for the disk: the store survives a killed process, but
    not a failed machine. With `read_only`, nothing in the store changes, and the job may be
    running: all reads see its state on opening.

    Raises:
        StateError: the file is not a store, is damaged, has another schema version, is in use, or
            cannot be read or created. It is unchanged. Later, from any method: damage that was not
            found on opening, or a full disk.
    """

    connection: sqlite3.Connection

    max_wait_seconds = 60.0
    """How long a write outside of a turn waits for other processes of the job."""

    floor = "cast({expression} AS INTEGER)"
    slot = "substr(found.host, 1, instr(found.host || ':', ':') - 1)"
    revisit = """CAST('{"revisit": ' || found.number || '}' AS BLOB)"""

    def __init__(self, path: Path, **options: Unpack[Options]) -> None:
        super().__init__(str(path), **options)
        self.path = path
        self._is_closed = False
        is_alone = not (self._is_read_only or self._is_shared)
        self._lock = lock(path) if is_alone else None
        try:
            self.connection = connect(path, read_only=self._is_read_only)
            if not self._is_read_only:
                set_shared(self.connection, path, is_shared=self._is_shared)
                self.connection.create_function("slot_of", 1, host_without_port, deterministic=True)
            if not self._is_durable:
                self.connection.execute("PRAGMA synchronous = OFF")
            self._version = self._data_version()
        except BaseException:
            self._unlock()
            raise

    def each(self, query: str, parameters: Sequence[object] = ()) -> Iterator[Any]:
        with self.reporting():
            for row in self.connection.execute(query, parameters):  # noqa: UP028 -- it would close the cursor, perhaps after the connection
                yield row

    def end_snapshot(self) -> None:
        if self._is_read_only and self.connection.in_transaction:
            self.connection.execute("COMMIT")

    def version(self) -> object:
        with self.reporting():
            file = self.path.stat()  # a crawl that starts over has another one
            return self._data_version(), file.st_dev, file.st_ino

    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:  # noqa: ARG002 -- SQLite calls the function for each row
        find = pattern.search
        self.connection.create_function(
            "is_selected", 1, lambda url: url is not None and find(url) is not None
        )
        return "is_selected(r.url)", []

    def outside(self, column: str, numbers: Collection[int]) -> tuple[str, list[object]]:
        self.connection.create_function("is_outside", 1, lambda number: number not in numbers)
        return f"is_outside({column})", []

    @property
    def signatures(self) -> str:
        if not self._is_shared:
            return super().signatures
        later = f"SELECT stage, page FROM changes WHERE change > {self.change}"  # noqa: S608 -- a number
        return f"(SELECT * FROM signatures WHERE (stage, page) NOT IN ({later})) AS known"  # noqa: S608 -- as above

    @property
    def is_usable(self) -> bool:
        return not (self._is_closed or self._has_failed)

    def close(self) -> None:
        """Commit, close and release the lock. A second call does nothing."""
        self._is_closed = True
        try:
            if not self._is_read_only:  # after damage was found, COMMIT raises again
                with contextlib.suppress(sqlite3.ProgrammingError):  # closed already
                    self.commit()
        finally:
            self.connection.close()
            if self._is_read_only:
                remove_empty_files(self.path)
            self._unlock()

    def _begin(self) -> None:
        if self._is_shared:
            if not self._begin_within(self.max_wait_seconds):
                raise in_use(self.path, "which has not ended its turn")
            return
        self.connection.execute("BEGIN IMMEDIATE")
        if self._data_version() != self._version:
            self.connection.execute("ROLLBACK")
            raise StateError(
                self.path,
                "another process writes to the job: locks do not work on this file system",
                "End the other process, and choose a folder on a local disk",
            )

    def _try_begin(self, *, waits: bool) -> bool:
        return self._begin_within(_WAIT_SECONDS if waits else 0)

    def _begin_within(self, seconds: float) -> bool:
        self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        finally:
            self.connection.execute("PRAGMA busy_timeout = 10000")
        self._group_began = time.monotonic()
        version = self._data_version()
        if version != self._version:
            self.last_number = int(self.connection.execute(LAST_NUMBER).fetchone()[0])
            self._read_others()
            self._version = version
        return True

    def _abort(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self.has_turn = False

    def _data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def _translating(self) -> AbstractContextManager[None]:
        return reporting(self.path)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
