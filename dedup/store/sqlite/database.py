"""A connection to a job's SQLite file that commits in groups.

One writer holds the job's lock: see `dedup.store.lock`. Readers need no lock: the database is in
WAL mode, so a running job can be read at any time.
"""

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Unpack

from dedup.errors import StateError
from dedup.store.lock import lock
from dedup.store.sql import database
from dedup.store.sql.database import Options
from dedup.store.sqlite.errors import reporting
from dedup.store.sqlite.opening import connect, remove_empty_files


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

    floor = "cast({expression} AS INTEGER)"
    slot = "substr(found.host, 1, instr(found.host || ':', ':') - 1)"
    revisit = """CAST('{"revisit": ' || found.number || '}' AS BLOB)"""

    def __init__(self, path: Path, **options: Unpack[Options]) -> None:
        super().__init__(str(path), **options)
        self.path = path
        self._lock = None if self._is_read_only else lock(path)
        try:
            self.connection = connect(path, read_only=self._is_read_only)
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

    def matching(self, table: str, pattern: re.Pattern[str]) -> tuple[str, list[object]]:  # noqa: ARG002 -- SQLite calls the function for each row
        find = pattern.search
        self.connection.create_function(
            "is_selected", 1, lambda url: url is not None and find(url) is not None
        )
        return "is_selected(r.url)", []

    def close(self) -> None:
        """Commit, close and release the lock. A second call does nothing."""
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
        self.connection.execute("BEGIN IMMEDIATE")
        if self._data_version() != self._version:
            self.connection.execute("ROLLBACK")
            raise StateError(
                self.path,
                "another process writes to the job: locks do not work on this file system",
                "End the other process, and choose a folder on a local disk",
            )

    def _data_version(self) -> int:
        """A number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def _translating(self) -> AbstractContextManager[None]:
        return reporting(self.path)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
