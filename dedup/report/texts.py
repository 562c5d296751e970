"""Texts of a job's store, read through a connection."""

from __future__ import annotations

from pathlib import Path
from sqlite3 import Connection

import zstandard

from dedup.errors import StateError


def stored_text(connection: Connection, compressed: bytes) -> str:
    """A text of the job's store.

    Raises:
        StateError: it is damaged.
    """
    try:
        return zstandard.decompress(compressed).decode(errors="replace")
    except (zstandard.ZstdError, TypeError, MemoryError) as error:  # as in SqliteStore
        path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        raise StateError(
            path,
            f"a page's text is damaged ({error})",
            "Restore the store from a copy, or move it away and crawl again",
        ) from error
