"""A job's store in PostgreSQL, and what it does in another way than SQLite's."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.store.postgresql.database import Database
from dedup.store.postgresql.place import Place
from dedup.store.postgresql.workers import PostgresqlWorkers, worker_rows
from dedup.store.records import TOO_DEEP
from dedup.store.results import WorkerRow
from dedup.store.sql.refresh import Refreshes
from dedup.store.sql.report import SqlReportQueries
from dedup.store.sql.store import SqlStore
from dedup.store.sql.url_table import UrlTable


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
        self.refreshes = PostgresqlRefreshes(database, self._replace_page)
        self.report = PostgresqlReportQueries(database, self.unpacked)
        self.workers: PostgresqlWorkers | None = None
        if is_shared:
            try:
                self.workers = PostgresqlWorkers(database, lease_seconds)
                self.refreshes.note_hosts = self.workers.note_hosts
            except BaseException:
                database.close()
                raise

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        """Of a job that others work on: what was there when this process joined.

        What comes later it is told by `Workers.on_signatures`.
        """
        if self.workers is None:
            return super().signatures(stage, after=after)
        query = (
            "SELECT page, value FROM signatures WHERE stage = ? AND page > ? AND changed <= ?"
            " ORDER BY page"
        )
        return self._signatures(query, (stage, after, self.workers.change))

    def worker_rows(self) -> list[WorkerRow]:
        return worker_rows(self.database)

    def close(self) -> None:
        """Commit, let others have what this process worked on, and close."""
        try:
            if self.workers is not None:
                self.workers.leave({})
        finally:
            self.workers = None
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
    note_hosts: Callable[[], None] | None = None
    """Called when URLs have been queued, where others share the job."""

    def begin(self) -> int:
        with self._database.unit():
            number = super().begin()
            if self.note_hosts is not None:
                self.note_hosts()
        return number

    _slot = "split_part(found.host, ':', 1)"
    _revisit = """convert_to('{"revisit": ' || found.number || '}', 'UTF8')"""


class PostgresqlReportQueries(SqlReportQueries):
    def _floor(self, expression: str) -> str:
        return f"floor({expression})::bigint"
