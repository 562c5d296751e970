"""A job's store in one SQLite file."""

from dedup.store.sql.database import MAX_UNPACKED_BYTES
from dedup.store.sqlite.store import SqliteStore

__all__ = ["MAX_UNPACKED_BYTES", "SqliteStore"]
