"""A job's store in PostgreSQL, and how it differs from SQLite's."""

from collections.abc import Sequence
from typing import Unpack

from dedup.store.interface import Workers
from dedup.store.postgresql.database import Database
from dedup.store.postgresql.place import Place
from dedup.store.postgresql.workers import PostgresqlWorkers
from dedup.store.query_results import WorkerRow
from dedup.store.sql.database import Options
from dedup.store.sql.stats import StatsQueries
from dedup.store.sql.store import JobStore
from dedup.store.sql.url_table import UrlTable

_WORKERS = """
SELECT name, (SELECT count(*) FROM hosts WHERE worker = workers.id), pages,
    extract(epoch FROM started_at)::double precision, extract(epoch FROM seen_at)::double precision,
    (SELECT last_value FROM changes) - change
FROM workers ORDER BY id
"""


class PostgresqlStore(JobStore):
    """A job's store in a schema with its name. See `schema` for the tables.

    Args:
        place: database and name.
        must_exist: do not create a new job; implied by `read_only`.
        lease_seconds: a process that gives no sign of life for this long counts as dead.
        keep_bodies: store bodies as well as texts.
        options: see `Options`.

    In URLs, ids and titles, question marks replace zero characters and lone surrogates.

    Raises:
        StateError: see `Database`.
    """

    database: Database

    def __init__(
        self,
        place: Place,
        *,
        must_exist: bool = False,
        lease_seconds: float = 60.0,
        keep_bodies: bool = True,
        **options: Unpack[Options],
    ) -> None:
        database = Database(place, must_exist=must_exist, **options)
        is_shared = options.get("is_shared", False)
        try:
            workers = PostgresqlWorkers(database, lease_seconds) if is_shared else Workers()
        except BaseException:
            database.close()
            raise
        super().__init__(database, workers, keep_bodies=keep_bodies)
        self.urls = PostgresqlUrlTable(database)
        self.stats = PostgresqlStatsQueries(database)

    def close(self) -> None:
        """Commit, return the hosts of this process to others, and close."""
        try:
            self.workers.leave({})
        finally:
            super().close()

    @property
    def job(self) -> str:
        return self.location


class PostgresqlUrlTable(UrlTable):
    def _among(self, keys: Sequence[bytes], condition: str) -> set[bytes]:
        query = f"SELECT key FROM urls WHERE key = ANY(?) AND {condition}"  # noqa: S608 -- a constant
        return {key for (key,) in self._database.all(query, (list(keys),))}


class PostgresqlStatsQueries(StatsQueries):
    def workers(self) -> list[WorkerRow]:
        return list(map(WorkerRow._make, self._database.each(_WORKERS)))
