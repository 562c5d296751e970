"""The only entry point to a job's store."""

import contextlib
import os
from pathlib import Path
from typing import Unpack

from dedup.errors import StateError
from dedup.extras import require_extra
from dedup.store.postgresql import is_address, parse_place
from dedup.store.sql.database import Options
from dedup.store.sql.store import JobStore
from dedup.store.sqlite import SqliteStore
from dedup.store.sqlite import opening as sqlite_opening

STORE_NAME = "crawl.sqlite"
"""The file name of the store in its job's folder."""


def store_path(path: str | os.PathLike[str]) -> Path:
    """The file of a store, given the job's folder or the file itself.

    An existing file, or a path that ends in `.sqlite`, is the file; any other path is the folder,
    whether it exists or not.
    """
    found = Path(path)
    is_file = found.is_file() or (found.suffix == ".sqlite" and not found.is_dir())
    return found if is_file else found / STORE_NAME


def job_place(text: str) -> str | Path:
    """A job as an argument of commands: its folder, or `postgresql://…/DATABASE#NAME`."""
    return text if is_address(text) else Path(text)


def job_file(job: str | Path, name: str) -> Path:
    """A file of a job: in its folder; for a job in a database, `JOB-name` where commands run."""
    if isinstance(job, Path):
        return store_path(job).parent / name
    return Path(f"{job.rpartition('#')[2]}-{name}")


def job_exists(path: str | os.PathLike[str]) -> bool:
    """Does the job exist, or a schema with its name?

    Raises:
        StateError: the server cannot be reached.
    """
    if not (isinstance(path, str) and is_address(path)):
        return store_path(path).exists()
    require_extra("psycopg", extra="postgresql", purpose="a job in PostgreSQL")
    from dedup.store.postgresql import opening

    place = parse_place(path)
    with opening.reach(place) as connection:
        return opening.job_exists(connection, place)


def check_values(path: str | os.PathLike[str]) -> None:
    """Check the values in a job's file. A database server checks its own.

    Raises:
        StateError: some values are invalid.
    """
    if (file := store_path(path)).is_file():
        with contextlib.closing(sqlite_opening.connect(file, read_only=True)) as connection:
            sqlite_opening.check_values(connection, file)


def rename_job(address: str) -> str:
    """Rename a job in PostgreSQL, so that a new one can start; return its new address.

    Raises:
        StateError: the job is in use, or the server cannot be reached.
    """
    from dedup.store.postgresql.opening import set_aside

    return str(set_aside(parse_place(address)))


def open_store(
    path: str | os.PathLike[str],
    *,
    must_exist: bool = False,
    lease_seconds: float = 60.0,
    keep_bodies: bool = True,
    **options: Unpack[Options],
) -> JobStore:
    """Open a job's store, or create it. Close it, or use it in a `with` statement.

    Args:
        path: the job's folder, the file of its store, or `postgresql://…/DATABASE#NAME`.
        must_exist: do not create a new one; implied by `read_only`.
        lease_seconds: a process that gives no sign of life for this long loses its hosts.
        keep_bodies: store the bodies of pages as well as their texts.
        options: see `Options`.

    Raises:
        StateError: the store is missing, damaged or in use, or cannot be read or created. It is
            unchanged.
        ValueError: the address of a database is malformed.
        ModuleNotFoundError: the job is in PostgreSQL, and the extra `postgresql` is not installed.
    """
    if isinstance(path, str) and is_address(path):
        require_extra("psycopg", extra="postgresql", purpose="a job in PostgreSQL")
        from dedup.store.postgresql.store import PostgresqlStore

        return PostgresqlStore(
            parse_place(path),
            must_exist=must_exist,
            lease_seconds=lease_seconds,
            keep_bodies=keep_bodies,
            **options,
        )
    file = store_path(path)
    if must_exist and not file.exists():
        raise StateError(file, "job not found", "Check the name of the job")
    return SqliteStore(file, lease_seconds=lease_seconds, keep_bodies=keep_bodies, **options)
