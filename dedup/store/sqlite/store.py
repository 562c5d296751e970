"""A job's store in one SQLite file."""

from pathlib import Path

from dedup.errors import StateError
from dedup.store.sql.store import SqlStore
from dedup.store.sqlite.database import Database


class SqliteStore(SqlStore):
    """The truth about a job in one file. See `schema` for the tables.

    Args:
        path: the SQLite file; created, with its folder, if missing (not with `read_only`).
        keep_bodies: store bodies as well as texts.
        group_units, group_seconds, is_durable: see `Database`.

    Raises:
        StateError: see `Database`.
    """

    database: Database

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        keep_bodies: bool = True,
        group_units: int = 100,
        group_seconds: float = 1.0,
        is_durable: bool = True,
    ) -> None:
        database = Database(
            path,
            read_only=read_only,
            group_units=group_units,
            group_seconds=group_seconds,
            is_durable=is_durable,
        )
        super().__init__(database, keep_bodies=keep_bodies)
        try:
            self.last_number = self._last_number()
            """The number of the last record; 0: there is none."""
        except StateError:
            self.close()
            raise

    @property
    def path(self) -> Path:
        return self.database.path

    @property
    def job(self) -> str:
        return str(self.path.parent)

    def _take_number(self) -> int:
        self.last_number += 1
        return self.last_number
