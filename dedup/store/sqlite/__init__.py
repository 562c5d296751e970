"""A job's store in one SQLite file."""

from dedup.store.sqlite.store import MAX_UNPACKED_BYTES, SqliteStore, is_body_kept

__all__ = ["MAX_UNPACKED_BYTES", "SqliteStore", "is_body_kept"]
