"""A store with signatures alone, to measure how fast an index is loaded from it."""

from collections.abc import Iterable
from pathlib import Path

from dedup.store.sqlite.database import Database


def write_signatures(
    path: Path, stage: str, batches: Iterable[Iterable[tuple[int, bytes]]]
) -> None:
    """Make a store at `path` with signatures of pages that are not in it.

    Args:
        path: the SQLite file.
        stage: of the signatures.
        batches: page numbers, ascending, with signatures; each batch is committed by itself.
    """
    database = Database(path)
    try:
        database.connection.execute("PRAGMA foreign_keys = OFF")  # there are no pages
        for batch in batches:
            with database.unit() as connection:
                rows = ((stage, number, value) for number, value in batch)
                connection.executemany("INSERT INTO signatures VALUES (?, ?, ?)", rows)
            database.commit()
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
