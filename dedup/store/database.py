"""Opening a job's SQLite file safely, committing in groups, and saying what is wrong with it.

One writer holds a lock on the file `<name>.lock` beside the database for as long as it lives; the
lock belongs to the process, so one left behind by a dead process does not block. Readers need no
lock: the database is in WAL mode, and a running job can be read at any time.

Damage shows where SQLite trips over it, when opening or later; `reporting` makes one clear error of
it. There is no full check when opening: it would read the whole file.
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from filelock import BaseFileLock, FileLock, Timeout

from dedup.errors import StateError
from dedup.files import open_private
from dedup.store.schema import (
    APPLICATION_ID,
    OLD_JOB,
    READABLE_VERSIONS,
    SCHEMA,
    SCHEMA_VERSION,
)

_SQLITE_MAGIC = b"SQLite format 3\x00"

_DISK = "the store cannot be read or written", "Check the disk, its space and the permissions"
_IN_USE = "the store is in use by another program", "Wait for it to end, and try again"
_DAMAGE = "the store is damaged", "Restore it from a copy, or move it away and crawl again"
_PROBLEMS = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_CANTOPEN: _DISK,
    sqlite3.SQLITE_FULL: _DISK,
    sqlite3.SQLITE_IOERR: _DISK,
    sqlite3.SQLITE_PERM: _DISK,
    sqlite3.SQLITE_READONLY: _DISK,
}


class Database:
    """A connection to a job's store that commits in groups.

    Everything done within one `unit` becomes durable together; a unit that raises leaves no trace.
    Units are committed once `group_units` of them are waiting or the oldest has waited
    `group_seconds`: a killed process loses at most that much, and what is lost is the newest.
    With `read_only`, nothing in the store is changed, and a running job may be opened: all reads
    see it as it was when opened.

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
            self.connection = _connect(path, read_only=read_only)
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
                _tidy(self.path)
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


@contextlib.contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Raise `StateError` for what SQLite finds wrong with the file at `path`, or with its disk."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.DataError):
        raise  # the caller's own
    except sqlite3.DatabaseError as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF  # without the extension
        problem, remedy = _PROBLEMS.get(code, _DAMAGE)
        raise StateError(path, f"{problem} ({error})", remedy) from error


_Text = TypeVar("_Text", str, str | None)


def storable(text: _Text) -> _Text:
    """The text with lone surrogates, which SQLite refuses, replaced by question marks."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()


class JobLock:
    """A job's lock, held until it is closed or the process ends."""

    def __init__(self, held: BaseFileLock) -> None:
        self._held = held

    def close(self) -> None:
        self._held.release()


def lock(path: Path) -> JobLock:
    """Lock the store at `path` for this process.

    Raises:
        StateError: another process has it, or its folder cannot be written.
    """
    lock_path = path.with_name(path.name + ".lock")
    try:
        if not path.parent.exists():  # of a job: for its owner alone
            path.parent.parent.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
        holder = _holder(lock_path)
    except OSError as error:
        raise StateError(
            path.parent, f"the folder cannot be written ({error.strerror})", "Choose another folder"
        ) from error
    held = FileLock(lock_path, mode=0o600, blocking=False, thread_local=False)
    try:
        held.acquire()
        lock_path.write_text(str(os.getpid()))
    except Timeout as error:
        raise StateError(
            path,
            f"the job is in use by another process (pid {holder})",
            "Wait for it to end, or give this crawl another job name",
        ) from error
    except PermissionError as error:
        raise StateError(
            path.parent, f"the folder cannot be written ({error.strerror})", "Choose another folder"
        ) from error
    except OSError as error:  # no locks on this file system, or a full disk
        held.release()
        raise StateError(
            lock_path, f"the job cannot be locked ({error.strerror})", "Choose another folder"
        ) from error
    return JobLock(held)


def _holder(lock_path: Path) -> str:
    """Who has the lock, if anyone."""
    try:
        with lock_path.open("rb") as file:
            return file.read(20).decode("ascii", "replace").strip() or "unknown"
    except (FileNotFoundError, PermissionError):  # Windows lets no other process read it
        return "unknown"


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    _check_header(path, must_exist=read_only)
    mode = "mode=ro" if read_only else "mode=rwc"
    if not read_only and not path.exists():
        with contextlib.suppress(OSError), open_private(path, "ab"):
            pass  # SQLite gives the files beside it the same permissions; and says what is wrong
    if read_only and not os.access(path.parent, os.W_OK) and not _wal_size_bytes(path):
        mode = "immutable=1"  # WAL mode needs files beside the store; here nobody can write any
    with reporting(path), contextlib.ExitStack() as on_error:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None
        )
        on_error.callback(connection.close)
        connection.execute("PRAGMA busy_timeout = 10000")
        connection.execute("PRAGMA cell_size_check = ON")  # notices more damage
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
        if read_only:
            connection.execute("BEGIN")
        try:
            _check_or_create(connection, path, read_only=read_only)
        except UnicodeDecodeError as error:  # SQLite quotes the damaged schema in its message
            raise sqlite3.DatabaseError("malformed database schema") from error
        if not read_only:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        on_error.pop_all()
    return connection


def _check_header(path: Path, *, must_exist: bool) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(_SQLITE_MAGIC))
    except FileNotFoundError:
        if must_exist:
            raise StateError(path, "there is no such job", "Check the name of the job") from None
        header = b""
    except OSError as error:
        raise StateError(
            path, f"the store cannot be read ({error.strerror})", "Check its permissions"
        ) from error
    if header and header != _SQLITE_MAGIC:
        raise StateError(
            path,
            f"expected an SQLite file, found one that begins with {header!r}",
            "Move it away, or choose another job name",
        )
    if not header and _wal_size_bytes(path):  # which SQLite would delete
        raise StateError(
            path,
            f"the file is missing or empty, but {path.name}-wal beside it holds pages of it",
            "Restore the file from a copy, or move the other away too",
        )


def _wal_size_bytes(path: Path) -> int:
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0


def _tidy(path: Path) -> None:
    """Let SQLite remove the empty files that it made beside the store for a reader.

    A connection that may not write leaves them. The last one that may removes them, unless others
    use them; a log that holds something (a crawl was killed) is none of a reader's business.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or _wal_size_bytes(path):
        return
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        finally:
            connection.close()


def _check_or_create(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if not (tables or application_id or version):
        if read_only:
            raise StateError(path, "the store is empty", "Wait for the crawl to begin, or start it")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
    elif application_id != APPLICATION_ID:
        raise StateError(
            path,
            "expected a crawl's store, found an SQLite database of another program",
            "Move it away, or choose another job name",
        )
    elif version in READABLE_VERSIONS and version != SCHEMA_VERSION:
        if not read_only:
            raise StateError(
                path,
                "the job was made by an earlier release, which read other texts from pages",
                "Its pages can be read and exported; to crawl, begin anew with -s DEDUP_RESTART=1,"
                " or give this crawl another job name",
            )
        programs = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index')"
            " OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ).fetchall()
        if programs:
            raise StateError(
                path,
                f"its tables are not those of a crawl's store ({programs[0][0]!r})",
                "Use a store that this program has made",
            )
        for statement in OLD_JOB.split(";"):
            connection.execute(statement)
    elif version != SCHEMA_VERSION:
        raise StateError(
            path,
            f"expected schema version {SCHEMA_VERSION}, found {version}",
            "Read it with the release that made it, or crawl into a new job",
        )
    else:
        _check_schema(connection, path)


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with other tables than a store's: a view or a trigger in it is a program."""
    expected = sqlite3.connect(":memory:")
    try:
        expected.executescript(SCHEMA)
        known = _schema_of(expected)
    finally:
        expected.close()
    if (found := _schema_of(connection)) != known:
        names = sorted({name for _, name, _ in found ^ known})
        raise StateError(
            path,
            f"its tables are not those of a crawl's store ({', '.join(map(repr, names[:5]))})",
            "Use a store that this program has made",
        )


def _schema_of(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\'"
    )
    return {(kind, name, re.sub(r"\s+", " ", sql)) for kind, name, sql in rows}
