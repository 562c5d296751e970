"""A job's store in one SQLite file."""

from pathlib import Path
from typing import Unpack

from dedup.errors import StateError
from dedup.store.interface import Workers
from dedup.store.sql.database import Options
from dedup.store.sql.store import JobStore
from dedup.store.sqlite.database import Database


class SqliteStore(JobStore):
    """A job's store in one file. See `schema` for the tables.

    Args:
        path: the SQLite file. It is created with its folder if missing, but not with `read_only`.
        keep_bodies: store bodies as well as texts.
        options: see `Options`.

    Raises:
        StateError: see `Database`.
    """

    database: Database

    def __init__(self, path: Path, *, keep_bodies: bool = True, **options: Unpack[Options]) -> None:
        database = Database(path, **options)
        super().__init__(database, Workers(), job=str(path.parent), keep_bodies=keep_bodies)
        self.path = path
        try:
            self.database.last_number = self.decisions.count()
        except StateError:
            self.close()
            raise
