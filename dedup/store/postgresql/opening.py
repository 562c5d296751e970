"""Opening a job in PostgreSQL. It may be missing, or from another program or release."""

import contextlib
from itertools import count
from typing import Any

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader

from dedup.errors import StateError, in_use, wrong_version
from dedup.store.lock import process_name
from dedup.store.postgresql.errors import not_reached, reporting
from dedup.store.postgresql.place import Place
from dedup.store.postgresql.schema import ADDED_TABLES, SCHEMA, SCHEMA_VERSION

LOCKS = 0x44454455
"""The class of this program's advisory locks: "DEDU"."""

_SESSION = """
SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 2;
SET idle_in_transaction_session_timeout = '60s';
SET statement_timeout = 0;
SET client_min_messages = warning
"""
"""A worker that has vanished or hangs loses its locks. Waiting for a turn, or reading the index of
a large job, may take longer than the server's default limits."""


_ANSWER_SECONDS = 90.0
"""A connection without a response for this long is lost. Locks last 60 s at most, see above."""


class _Connection(psycopg.Connection[Any]):
    """Gives up without a response, for example if a network drops packets."""

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        return super().wait(gen, interval, _ANSWER_SECONDS if timeout is None else timeout)


class _NumberLoader(Loader):
    """Loads sums of integers as `int`, like SQLite, and other numbers as `float`."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "N" in text else int(text)


def connect(place: Place, *, read_only: bool, is_new: bool) -> psycopg.Connection[Any]:
    """Connect to a job. With `is_new`, create it if it does not exist.

    Raises:
        StateError: the server cannot be reached, or the job cannot be used. Nothing has changed.
    """
    connection = reach(place)
    with contextlib.ExitStack() as on_error:
        on_error.callback(connection.close)
        with reporting(place):
            if is_new and not job_exists(connection, place):
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", [LOCKS])
                    if not job_exists(connection, place):  # others may start at the same time
                        create(connection, place)
            _check(connection, place)
            _add_tables(connection, is_for_reading=read_only)
            if read_only:
                connection.execute("SET default_transaction_read_only = on")
        on_error.pop_all()
    return connection


def reach(place: Place) -> psycopg.Connection[Any]:
    """Connect to the database of a job, whether the job exists or not.

    Raises:
        StateError: the database cannot be reached.
    """
    try:
        connection = _Connection.connect(
            place.dsn,
            autocommit=True,
            application_name=f"dedup {process_name()}",
            connect_timeout=10,
            # Detects a lost server after half a minute.
            keepalives_idle=10,
            keepalives_interval=10,
            keepalives_count=2,
        )
    except psycopg.ProgrammingError:  # it quotes the address with its password
        raise StateError(
            str(place), "this is not a database address", "Check its form in docs/cluster.md"
        ) from None
    except psycopg.Error as error:
        raise not_reached(place, error) from None
    with reporting(place):
        connection.adapters.register_loader("numeric", _NumberLoader)
        connection.execute("SET client_encoding = 'UTF8'")
        connection.execute(_SESSION)
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(place.name)))
    return connection


def job_exists(connection: psycopg.Connection[Any], place: Place) -> bool:
    """Does a schema with the job's name exist?"""
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [place.name])
    return found.fetchone() is not None


def create(connection: psycopg.Connection[Any], place: Place) -> None:
    """Create the tables of a new job, in a transaction.

    Raises:
        StateError: the encoding of the database is not UTF-8.
    """
    row = connection.execute("SHOW server_encoding").fetchone()
    if row != ("UTF8",):
        raise StateError(
            str(place),
            f"the database is encoded in {row and row[0]}",
            "Create one in UTF8: createdb --encoding=UTF8 --template=template0 NAME",
        )
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.name)))
    connection.execute(SCHEMA)
    for name, definition in ADDED_TABLES.items():
        connection.execute(f"CREATE TABLE {name} {definition}".encode())


def _add_tables(connection: psycopg.Connection[Any], *, is_for_reading: bool) -> None:
    """Add the tables that an earlier job does not have; for a reader, empty ones of its own."""
    for name, definition in ADDED_TABLES.items():
        lacks = f"SELECT 1 WHERE to_regclass('{name}') IS NULL"
        if connection.execute(lacks.encode()).fetchone() is None:
            continue
        kind = "TEMP TABLE" if is_for_reading else "TABLE IF NOT EXISTS"
        with connection.transaction():
            if not is_for_reading:  # others may add it at the same time
                connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", [LOCKS])
            connection.execute(f"CREATE {kind} {name} {definition}".encode())


def _check(connection: psycopg.Connection[Any], place: Place) -> None:
    if not job_exists(connection, place):
        raise StateError(str(place), "job not found", "Check the name of the job")
    marked = (
        "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('job') AND attname = 'version'"
    )
    if connection.execute(marked).fetchone() is None:
        raise StateError(
            str(place),
            "expected a job, found another program's schema",
            "Choose another job name",
        )
    row = connection.execute("SELECT version FROM job").fetchone()
    if row != (SCHEMA_VERSION,):
        raise wrong_version(str(place), SCHEMA_VERSION, row and row[0])


def lock(connection: psycopg.Connection[Any], place: Place, *, is_shared: bool = False) -> None:
    """Lock the job for this process, or for those that share it, until its connection ends.

    Raises:
        StateError: the job is in use.
    """
    with reporting(place):
        key = [LOCKS, place.name]
        how = "_shared" if is_shared else ""
        query = f"SELECT pg_try_advisory_lock{how}(%s, hashtext(%s))"
        if connection.execute(query.encode(), key).fetchone() == (True,):
            return
        holder = connection.execute(
            "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND granted AND classid = %s"
            " AND objid = hashtext(%s)::oid AND pid <> pg_backend_pid() LIMIT 1",
            key,
        ).fetchone()
    name = str(holder[0]).removeprefix("dedup ") if holder else "unknown"
    raise in_use(str(place), name)


def set_aside(place: Place) -> Place:
    """Rename a job so that a new one can start; return its new place.

    Raises:
        StateError: the job is in use, or the server cannot be reached.
    """
    with connect(place, read_only=False, is_new=False) as connection, reporting(place):
        lock(connection, place)
        later = (Place(place.dsn, f"{place.name}-old-{number}") for number in count(1))
        target = next(each for each in later if not job_exists(connection, each))
        query = sql.SQL("ALTER SCHEMA {} RENAME TO {}")
        names = map(sql.Identifier, (place.name, target.name))
        connection.execute(query.format(*names))
    return target
