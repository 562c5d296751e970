"""Copies a job from SQLite into PostgreSQL."""

from typing import Any

import psycopg
from psycopg import sql

from dedup.errors import StateError
from dedup.store.postgresql.connection import clean
from dedup.store.postgresql.errors import reporting
from dedup.store.postgresql.opening import create, job_exists, reach
from dedup.store.postgresql.place import Place
from dedup.store.sqlite import SqliteStore

_TABLES = (
    *("meta", "counters", "urls", "pages", "sites", "encodings", "waiting", "early"),
    *("versions", "visits", "duplicates", "skipped", "aliases", "signatures", "apart"),
    *("preferences", "host_preferences", "earlier", "claims", "lastmods"),
    *("visited", "visit_counts", "rendering", "inputs", "input_checks"),
)
_NUMBERED = {"urls": "id", "waiting": "place"}
"""The tables with generated numbers, and their columns."""

_NUMBER_ON = "SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 0) + 1) FROM {}"


def copy_job(source: SqliteStore, place: Place) -> dict[str, int]:
    """Copy a complete job in one transaction; return the number of rows of each table.

    Raises:
        StateError: a schema of this name exists, or one of the stores cannot be used. Nothing is
            written.
    """
    with reach(place) as connection, reporting(place):
        if job_exists(connection, place):
            raise StateError(
                str(place), "a job or schema with this name already exists", "Choose another name"
            )
        with connection.transaction():
            create(connection, place)
            counts = {table: _copy_table(source, connection, table) for table in _TABLES}
            last = source.decisions.count()
            connection.execute("UPDATE job SET last_number = %s", [last])
            for table, column in _NUMBERED.items():
                names = sql.Identifier(column), sql.Identifier(table)
                connection.execute(sql.SQL(_NUMBER_ON).format(table, column, *names))
    return counts


def _copy_table(source: SqliteStore, connection: psycopg.Connection[Any], table: str) -> int:
    """Copy the columns that both stores have."""
    query = sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(table))
    theirs = {column.name for column in connection.execute(query).description or ()}
    cursor = source.database.connection.execute(f"SELECT * FROM {table}")  # noqa: S608 -- one of ours
    names = [column[0] for column in cursor.description if column[0] in theirs]
    target = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    n_rows = 0
    with connection.cursor().copy(target) as copy:
        columns = ", ".join(names)
        for row in source.database.each(f"SELECT {columns} FROM {table}"):  # noqa: S608 -- ours
            copy.write_row([clean(value) for value in row])
            n_rows += 1
    return n_rows
