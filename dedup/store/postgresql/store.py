"""A job's store in PostgreSQL, and what it does in another way than SQLite's."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.store.interface import Workers
from dedup.store.postgresql.database import Database
from dedup.store.postgresql.place import Place
from dedup.store.postgresql.workers import PostgresqlWorkers
from dedup.store.records import TOO_DEEP
from dedup.store.results import WorkerRow
from dedup.store.sql.refresh import Refreshes, Replace
from dedup.store.sql.report import SqlReportQueries
from dedup.store.sql.stats import SqlStatsQueries
from dedup.store.sql.store import SqlStore
from dedup.store.sql.url_table import UrlTable

_WORKERS = """
SELECT name, (SELECT count(*) FROM hosts WHERE worker = workers.id), pages,
    extract(epoch FROM started_at)::double precision, extract(epoch FROM seen_at)::double precision,
    (SELECT last_value FROM changes) - change
FROM workers ORDER BY id
"""


class PostgresqlStore(SqlStore):
    """The truth about a job in a schema of its name. See `schema` for the tables.

    Args:
        place: database and name.
        must_exist: do not make a new job; implied by `read_only`.
        is_shared: join those that work on the job, see `workers`; else work on it alone.
        lease_seconds: of those, who is not heard of for so long is taken for dead.
        keep_bodies: store bodies as well as texts.
        group_units, group_seconds, is_durable: see `Database`.

    In URLs, ids and titles, zeros and lone surrogates come back as question marks.

    Raises:
        StateError: see `Database`.
    """

    database: Database

    def __init__(
        self,
        place: Place,
        *,
        read_only: bool = False,
        must_exist: bool = False,
        is_shared: bool = False,
        lease_seconds: float = 60.0,
        keep_bodies: bool = True,
        group_units: int = 100,
        group_seconds: float = 1.0,
        is_durable: bool = True,
    ) -> None:
        database = Database(
            place,
            read_only=read_only,
            must_exist=must_exist,
            is_shared=is_shared,
            group_units=group_units,
            group_seconds=group_seconds,
            is_durable=is_durable,
        )
        super().__init__(database, keep_bodies=keep_bodies)
        self.urls = PostgresqlUrlTable(database)
        self.report = PostgresqlReportQueries(database, self.unpacked)
        self.stats = PostgresqlStatsQueries(database, self.unpacked)
        if is_shared:
            try:
                self.workers = PostgresqlWorkers(database, lease_seconds)
            except BaseException:
                database.close()
                raise
        self.refreshes = PostgresqlRefreshes(database, self._replace_page, self.workers)

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        """Of a job that others work on: what was there when this process joined.

        What comes later it is told by `Workers.on_signatures`.
        """
        query = (
            "SELECT page, value FROM signatures WHERE stage = ? AND page > ? AND changed <= ?"
            " ORDER BY page"
        )
        return self._signatures(query, (stage, after, self.database.change))

    def close(self) -> None:
        """Commit, let others have what this process worked on, and close."""
        try:
            self.workers.leave({})
        finally:
            super().close()

    @property
    def job(self) -> str:
        return self.location

    def _take_number(self) -> int:
        return self.database.take_number()


class PostgresqlUrlTable(UrlTable):
    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        query = f"SELECT key FROM urls WHERE key = ANY(?) AND state <> {TOO_DEEP}"  # noqa: S608 -- a constant
        with self._database.reporting():
            rows = self._database.connection.execute(query, (list(keys),))
            return {key for (key,) in rows}


class PostgresqlRefreshes(Refreshes):
    def __init__(self, database: Database, replace: Replace, workers: Workers) -> None:
        super().__init__(database, replace)
        self._workers = workers

    def begin(self) -> int:
        with self._database.unit():
            number = super().begin()
            self._workers.note_hosts()
        return number

    _slot = "split_part(found.host, ':', 1)"
    _revisit = """convert_to('{"revisit": ' || found.number || '}', 'UTF8')"""


class PostgresqlStatsQueries(SqlStatsQueries):
    def workers(self) -> list[WorkerRow]:
        return list(self._each(WorkerRow._make, _WORKERS))


class PostgresqlReportQueries(SqlReportQueries):
    def _floor(self, expression: str) -> str:
        return f"floor({expression})::bigint"
