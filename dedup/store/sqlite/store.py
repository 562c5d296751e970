"""A job's store in one SQLite file."""

import time
from pathlib import Path
from typing import Unpack

from dedup.store.interface import Workers
from dedup.store.query_results import WorkerRow
from dedup.store.sql.database import Options
from dedup.store.sql.decisions import LAST_NUMBER
from dedup.store.sql.stats import StatsQueries
from dedup.store.sql.store import JobStore
from dedup.store.sqlite.database import Database
from dedup.store.sqlite.opening import HAS_WORKERS
from dedup.store.sqlite.processes import is_alive
from dedup.store.sqlite.workers import SqliteWorkers

_WORKERS = """
SELECT CAST(pid AS INTEGER), CAST(process AS TEXT), CAST(name AS TEXT),
    (SELECT count(*) FROM hosts WHERE worker = workers.id), CAST(pages AS INTEGER),
    CAST(started_at AS REAL), CAST(seen_at AS REAL),
    (SELECT coalesce(max(change), workers.change) FROM changes) - change
FROM workers ORDER BY id
"""


class SqliteStore(JobStore):
    """A job's store in one file. See `schema` for the tables.

    Args:
        path: the SQLite file. It is created with its folder if missing, but not with `read_only`.
        lease_seconds: a process that gives no sign of life for this long counts as dead.
        keep_bodies: store bodies as well as texts.
        options: see `Options`.

    Raises:
        StateError: see `Database`.
    """

    database: Database

    def __init__(
        self,
        path: str | Path,
        *,
        lease_seconds: float = 60.0,
        keep_bodies: bool = True,
        **options: Unpack[Options],
    ) -> None:
        database = Database(Path(path), **options)
        is_shared = options.get("is_shared", False)
        try:
            database.last_number = int(database.value(LAST_NUMBER))
            workers = SqliteWorkers(database, lease_seconds) if is_shared else Workers()
        except BaseException:
            database.close()
            raise
        super().__init__(database, workers, keep_bodies=keep_bodies)
        self.stats = SqliteStatsQueries(database)

    def close(self) -> None:
        """Commit, return the hosts of this process to others, and close."""
        try:
            self.workers.leave({})
        finally:
            super().close()

    @property
    def path(self) -> Path:
        return self.database.path

    @property
    def job(self) -> str:
        return str(self.path.parent)


class SqliteStatsQueries(StatsQueries):
    def workers(self) -> list[WorkerRow]:
        if not self._database.first(HAS_WORKERS):
            return []
        ahead = time.time() - time.monotonic()
        return [
            WorkerRow(name, hosts, pages, started_at + ahead, seen_at + ahead, behind)
            for pid, process, name, hosts, pages, started_at, seen_at, behind in (
                self._database.all(_WORKERS)
            )
            if is_alive(pid, process)
        ]
