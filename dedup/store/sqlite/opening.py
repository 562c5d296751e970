"""Opening a job's SQLite file safely: it may be damaged, another program's, or a stranger's.

Opening makes no full check, which would read the whole file.
"""

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from dedup.errors import DamageError, StateError, in_use, wrong_version
from dedup.files import check_plain, open_private
from dedup.store.sqlite.errors import reporting
from dedup.store.sqlite.processes import is_alive
from dedup.store.sqlite.schema import (
    ADDED_TABLES,
    APPLICATION_ID,
    FORMER_TABLES,
    OLD_JOBS,
    SCHEMA,
    SCHEMA_VERSION,
    SHARED_TABLES,
    WHOLE_SCHEMA,
)

HAS_WORKERS = "SELECT 1 FROM sqlite_schema WHERE name = 'workers'"
"""The query that finds a row in a job that processes share."""

_SQLITE_MAGIC = b"SQLite format 3\x00"

_MAX_SECONDS = 2.5e11  # since 1970: up to the year 9999
_KINDS = {
    "INTEGER": "typeof({0}) = 'integer'",
    "REAL": f"typeof({{0}}) IN ('real', 'integer') AND {{0}} BETWEEN 0 AND {_MAX_SECONDS}",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
}
"""Conditions for the values of a column, by its type. Shares and times have the type REAL."""

_SCHEMES = ("schemes of detectors", "schemes of URLs", "schemes of verdicts")
_META: dict[str, Callable[[str], bool]] = {
    "refresh": lambda text: 0 <= int(text) < 2**63,
    **dict.fromkeys(("started", "finished"), lambda text: 0 <= float(text) < _MAX_SECONDS),
    **dict.fromkeys(("settings", "collection"), lambda text: _has(json.loads(text), object)),
    **dict.fromkeys(_SCHEMES, lambda text: _has(json.loads(text), dict)),
}
"""Conditions for values of the table `meta`."""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    check_plain(path, is_read_only=read_only)
    # Readers also write to these.
    check_plain(*(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")))
    _check_header(path, must_exist=read_only)
    mode = "mode=ro" if read_only else "mode=rwc"
    if not read_only and not path.exists():
        with contextlib.suppress(OSError), open_private(path, "ab"):
            pass  # SQLite gives the files beside it the same permissions, and reports errors
    if read_only and not os.access(path.parent, os.W_OK) and not _wal_size_bytes(path):
        mode = "immutable=1"  # WAL mode needs files beside the store, which cannot be written here
    with reporting(path), contextlib.ExitStack() as on_error:
        address = f"{path.absolute().as_uri()}?{mode}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
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
        # A job that is only read, perhaps one of several, is read once and from front to back.
        connection.execute(f"PRAGMA cache_size = -{8_192 if read_only else 65_536}")
        on_error.pop_all()
    return connection


def _check_header(path: Path, *, must_exist: bool) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(_SQLITE_MAGIC))
    except FileNotFoundError:
        if must_exist:
            raise StateError(path, "job not found", "Check the name of the job") from None
        header = b""
    except OSError as error:
        raise StateError(
            path, f"the store cannot be read ({error.strerror})", "Check its permissions"
        ) from error
    if header and header != _SQLITE_MAGIC:
        raise StateError(
            path,
            f"expected an SQLite file, found one that begins with {header!r}",
            "Move it, or choose another job name",
        )
    if not header and _wal_size_bytes(path):  # SQLite would delete that file
        raise StateError(
            path,
            f"the file is missing or empty, but {path.name}-wal next to it holds some of its pages",
            "Restore the file from a copy, or move the other file too",
        )


def _wal_size_bytes(path: Path) -> int:
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0


def remove_empty_files(path: Path) -> None:
    """Let SQLite remove the empty files that it created beside the store for a reader.

    A read-only connection leaves them behind; the last one that may write removes them. A log with
    content, from a killed crawl, is kept.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or _wal_size_bytes(path):
        return
    address = f"{path.absolute().as_uri()}?mode=rw"
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(address, uri=True)) as connection,
    ):
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def _check_or_create(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if not (tables or application_id or version):
        if read_only:
            raise StateError(path, "the store is empty", "Wait for the crawl to begin, or start it")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(WHOLE_SCHEMA)
    elif application_id != APPLICATION_ID:
        raise StateError(
            path,
            "expected a crawl's store, found another program's SQLite database",
            "Move it, or choose another job name",
        )
    elif version in OLD_JOBS:
        if not read_only:
            raise StateError(
                path,
                "the job was made by an earlier release, which extracted texts differently",
                "Its pages can be read and exported; to crawl, start over with -s"
                " DEDUP_RESTART=1, or use another job name",
            )
        programs = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index')"
            " OR sql LIKE 'CREATE VIRTUAL%' UNION SELECT tables.name FROM sqlite_schema AS tables,"
            " pragma_table_xinfo(tables.name) AS columns WHERE columns.hidden > 1 ORDER BY 1"
        ).fetchall()
        if programs:
            raise _other_tables(path, programs[0][0])
        for statement in OLD_JOBS[version].split(";"):
            connection.execute(statement)
        _add_tables(connection, is_for_reading=True)
    elif version != SCHEMA_VERSION:
        raise wrong_version(path, SCHEMA_VERSION, version)
    else:
        _check_schema(connection, path)
        _add_tables(connection, is_for_reading=read_only)
        if not read_only:
            check_values(connection, path)


def check_values(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse values of wrong types, and references to missing rows.

    SQLite itself accepts them. Takes 4 µs a page.

    Raises:
        StateError: there are such values.
    """
    with reporting(path), _empty_store() as expected:
        wrong = [table for table, *_ in connection.execute("PRAGMA main.foreign_key_check")][:1]
        for table in [name for kind, name, _ in _schema_of(expected) if kind == "table"]:
            columns = f"PRAGMA main.table_info({table})"
            found = {column for _, column, *_ in connection.execute(columns)}  # old jobs have less
            conditions = [
                f"({_KINDS[kind].format(column)}{'' if is_needed else f' OR {column} IS NULL'})"
                for _, column, kind, is_needed, *_ in expected.execute(columns)
                if column in found
            ]
            if conditions:
                query = f"SELECT 1 FROM main.{table} WHERE NOT ({' AND '.join(conditions)}) LIMIT 1"  # noqa: S608 -- our own names
                wrong += [table] * len(connection.execute(query).fetchall())
        meta = connection.execute("SELECT name, value FROM main.meta")
        wrong += ["meta" for name, value in meta if not _is_right(name, value)]
    if wrong:
        raise DamageError(path, f"the table {wrong[0]} holds invalid values")


def _is_right(name: str, value: str) -> bool:
    try:
        return name not in _META or _META[name](value)
    except (TypeError, ValueError, RecursionError):
        return False


def _has(found: object, kind: type) -> bool:
    return isinstance(found, dict) and all(isinstance(each, kind) for each in found.values())


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with unknown tables, views or triggers, which may run code."""
    known, whole, former, shared = map(
        _schema, (SCHEMA, WHOLE_SCHEMA, FORMER_TABLES, SHARED_TABLES)
    )
    added = whole - known
    found = _schema_of(connection)
    if found - (added | former | shared) != known or any(
        0 < len(found & more) < len(more) for more in (former, shared)
    ):
        names = sorted({name for _, name, _ in (found ^ known) - added})
        raise _other_tables(path, *names[:5])


def _add_tables(connection: sqlite3.Connection, *, is_for_reading: bool) -> None:
    """Add the tables that an earlier job does not have; for a reader, empty ones of its own."""
    found = {name for _, name, _ in _schema_of(connection)}
    kind = "TEMP TABLE" if is_for_reading else "TABLE IF NOT EXISTS"  # others may add it, too
    for name, definition in ADDED_TABLES.items():
        if name not in found:
            connection.execute(f"CREATE {kind} {name} {definition}")


def set_shared(connection: sqlite3.Connection, path: Path, *, is_shared: bool) -> None:
    """Make the tables of a job that processes share, or drop those of a killed crawl.

    Raises:
        StateError: the job is to be opened alone, and a process that shares it is alive.
    """
    with reporting(path):
        if _has_workers(connection) == is_shared:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not is_shared:
                _drop_shared_tables(connection, path)
            elif not _has_workers(connection):  # others may join at the same time
                for statement in SHARED_TABLES.split(";\n"):
                    connection.execute(statement)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _has_workers(connection: sqlite3.Connection) -> bool:
    return connection.execute(HAS_WORKERS).fetchone() is not None


def _drop_shared_tables(connection: sqlite3.Connection, path: Path) -> None:
    query = "SELECT name, CAST(pid AS INTEGER), CAST(process AS TEXT) FROM workers"
    for name, pid, process in connection.execute(query):
        if is_alive(pid, process):
            raise in_use(path, str(name))
    for table in ("workers", "hosts", "changes"):
        connection.execute(f"DROP TABLE {table}")


def _schema(script: str) -> set[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return _schema_of(connection)


def _other_tables(path: Path, *names: str) -> StateError:
    problem = f"its tables are not a crawl store's ({', '.join(map(repr, names))})"
    return StateError(path, problem, "Use a store made by this program")


@contextlib.contextmanager
def _empty_store() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(WHOLE_SCHEMA)
        yield connection


def _schema_of(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\'"
    )
    return {(kind, name, re.sub(r"\s+", " ", sql)) for kind, name, sql in rows}
