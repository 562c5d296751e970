"""Errors of SQLite as one clear error.

Damage is found when SQLite reads it, on opening the store or later.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from dedup.errors import StateError

_DISK = "the store cannot be read or written", "Check the disk, its space and the permissions"
_IN_USE = "the store is in use by another program", "Wait for it to end, then try again"
_DAMAGE = "the store is damaged", "Restore it from a copy, or move it and crawl again"
_PROBLEMS = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_CANTOPEN: _DISK,
    sqlite3.SQLITE_FULL: _DISK,
    sqlite3.SQLITE_IOERR: _DISK,
    sqlite3.SQLITE_PERM: _DISK,
    sqlite3.SQLITE_READONLY: _DISK,
}


@contextlib.contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Raise `StateError` for errors of SQLite with the file at `path` or its disk."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.DataError):
        raise  # errors of the caller
    except sqlite3.DatabaseError as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF  # without the extension
        problem, remedy = _PROBLEMS.get(code, _DAMAGE)
        raise StateError(path, f"{problem} ({error})", remedy) from error
