"""A job's store in PostgreSQL, and what it does in another way than SQLite's."""

from collections.abc import Sequence

from dedup.store.postgresql.database import Database
from dedup.store.postgresql.place import Place
from dedup.store.sql.refresh import Refreshes
from dedup.store.sql.report import SqlReportQueries
from dedup.store.sql.store import SqlStore
from dedup.store.sql.url_table import UrlTable


class PostgresqlStore(SqlStore):
    """The truth about a job in a schema of its name. See `schema` for the tables.

    Args:
        place: database and name.
        must_exist: do not make a new job; implied by `read_only`.
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
        keep_bodies: bool = True,
        group_units: int = 100,
        group_seconds: float = 1.0,
        is_durable: bool = True,
    ) -> None:
        database = Database(
            place,
            read_only=read_only,
            must_exist=must_exist,
            group_units=group_units,
            group_seconds=group_seconds,
            is_durable=is_durable,
        )
        super().__init__(database, keep_bodies=keep_bodies)
        self.urls = PostgresqlUrlTable(database)
        self.refreshes = PostgresqlRefreshes(database, self._replace_page)
        self.report = PostgresqlReportQueries(database, self.unpacked)

    @property
    def job(self) -> str:
        return self.location

    def _take_number(self) -> int:
        return self.database.take_number()


class PostgresqlUrlTable(UrlTable):
    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        query = "SELECT key FROM urls WHERE key = ANY(?)"
        with self._database.reporting():
            rows = self._database.connection.execute(query, (list(keys),))
            return {key for (key,) in rows}


class PostgresqlRefreshes(Refreshes):
    _slot = "split_part(found.host, ':', 1)"
    _revisit = """convert_to('{"revisit": ' || found.number || '}', 'UTF8')"""


class PostgresqlReportQueries(SqlReportQueries):
    def _floor(self, expression: str) -> str:
        return f"floor({expression})::bigint"
