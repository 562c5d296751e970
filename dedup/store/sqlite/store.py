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
        super().__init__(Database(path, **options), Workers(), keep_bodies=keep_bodies)
        try:
            self.database.last_number = self.decisions.count()
        except StateError:
            self.close()
            raise

    @property
    def path(self) -> Path:
        return self.database.path

    @property
    def job(self) -> str:
        return str(self.path.parent)
