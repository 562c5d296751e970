"""The processes that share a job, and which hosts each of them fetches from.

All this is written under the lock of `job`, like everything else. A worker is dead after a lease
without a sign of life, or after a few seconds if its connection is gone. After a failure of the
server that time starts again, so that all workers can return.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from dedup.store.lock import process_name
from dedup.store.postgresql.database import Database
from dedup.store.postgresql.opening import LOCKS
from dedup.store.records import QUEUED, NewUrl, QueuedUrl, storable
from dedup.store.sql.database import Connection
from dedup.store.sql.url_table import TAKE_UP, UrlTable
from dedup.store.sql.workers import SharedWorkers, noting, taking

_GRACE_SECONDS = 3.0
"""How long a worker whose connection has ended may take to reconnect."""

_QUEUE = f"""
INSERT INTO urls (key, state, rank, depth, slot, url, request)
SELECT key, {QUEUED}, rank, depth, slot, url, request FROM unnest(
    ?::bytea[], ?::integer[], ?::integer[], ?::text[], ?::text[], ?::bytea[]
) WITH ORDINALITY AS found (key, rank, depth, slot, url, request, place) ORDER BY place
ON CONFLICT (key) DO UPDATE SET {TAKE_UP} RETURNING slot, rank, id, key, url, depth, request
"""  # noqa: S608 -- constants
_QUEUE_AGAIN = f"""
UPDATE urls SET state = {QUEUED}, rank = ?, slot = ?, request = ? WHERE key = ?
RETURNING slot, rank, id, key, url, depth, request
"""  # noqa: S608 -- a constant
_NOTE_HOSTS = noting("SELECT unnest(?::text[])")
_DECLARE_DEAD = """
WITH dead AS (
    DELETE FROM workers WHERE id <> ? AND (
        greatest(seen_at, pg_postmaster_start_time(), to_timestamp(?))
        < clock_timestamp() - interval '1 second' * CASE WHEN pid IN (
            SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND classid = ?::bigint::oid AND objid = hashtext(?)::oid
        ) THEN ? ELSE least(?, ?) END
    ) RETURNING id, pause
) UPDATE hosts SET worker = NULL, has_work = true,
    free_at = greatest(free_at, clock_timestamp() + dead.pause * interval '1 second')
FROM dead WHERE worker = dead.id
"""
_TAKE = taking("clock_timestamp()")
_HEARD_OF_NOW = "UPDATE workers SET seen_at = clock_timestamp() WHERE seen_at > clock_timestamp()"
_SET_BACK = """
WITH first AS (
    INSERT INTO meta VALUES ('clock set back', ?) ON CONFLICT (name) DO UPDATE
    SET value = excluded.value WHERE abs(excluded.value::float - meta.value::float) > 60 RETURNING 1
) UPDATE hosts SET free_at = free_at - ? * interval '1 second'
WHERE free_at > clock_timestamp() AND EXISTS (SELECT 1 FROM first)
"""
"""The first worker that notices that the clock was set back shortens the pauses of hosts."""

_MAX_DRIFT_SECONDS = 5.0
"""Allowed between two signs of life; beyond it, the server's clock was set."""
_WAITING_SLOT = "btrim(regexp_replace(waiting.host, ':[0-9]+$', ''), '[]')"
_NOTE_WAITING = noting(f"SELECT DISTINCT {_WAITING_SLOT} FROM waiting")  # noqa: S608 -- a constant
_LAST_CHANGE = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM changes"
_CHANGES = """
SELECT stage, page, value, changed FROM signatures WHERE changed > ? ORDER BY stage, page
"""
_END_STUCK = """
SELECT pg_terminate_backend(pid) FROM workers JOIN pg_stat_activity USING (pid)
WHERE pid <> pg_backend_pid()
AND seen_at < clock_timestamp() - %s * interval '1 second'
AND xact_start < clock_timestamp() - %s * interval '1 second'
"""
_PAUSE = """
UPDATE hosts SET {freed} free_at = clock_timestamp() + found.pause * interval '1 second'
FROM unnest(?::text[], ?::double precision[]) AS found (name, pause)
WHERE slot = found.name AND worker = ?
"""


class PostgresqlWorkers(SharedWorkers):
    """The processes of a job in PostgreSQL."""

    _database: Database

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._connected_at = 0.0
        """When the process reconnected, or the server's clock was set forward, by that clock; 0:
        never. It counts as a sign of life of all others."""
        self._ahead: float | None = None
        """The server's clock minus this machine's monotonic one, at the last sign of life."""
        super().__init__(database, last_change=_LAST_CHANGE, waiting_slot=_WAITING_SLOT)
        database.connection.after_reconnect.append(self._join_again)
        database.connection.max_lock_seconds = lease_seconds
        database.connection.after_lock_wait = self._end_stuck

    def note_hosts(self) -> None:
        """Add all hosts that have work: a process that works alone does not record them."""
        with self._database.unit(weight=0) as connection:
            connection.execute(_NOTE_HOSTS, (UrlTable(self._database).slots(),))
            connection.execute(_NOTE_WAITING)

    # --- URLs and hosts --------------------------------------------------------------------------

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        new = [each for each in urls if not each.is_again]
        with self._database.unit(weight=0) as connection:
            rows = []
            if new:
                found = (
                    (key, rank, depth, storable(slot), storable(url), request)
                    for key, url, depth, request, slot, rank, _ in new
                )
                columns = [list(column) for column in zip(*found, strict=True)]
                rows += connection.execute(_QUEUE, columns).fetchall()
            for each in urls:
                if each.is_again:
                    place = each.rank, storable(each.slot), each.request, each.key
                    rows += connection.execute(_QUEUE_AGAIN, place).fetchall()
            slots = sorted({row[0] for row in rows})
            if slots:
                connection.execute(_NOTE_HOSTS, (slots,))
        return [(slot, QueuedUrl(*row)) for slot, *row in rows]

    def beat(
        self, *, pages: int, pause: float = 0.0, paused: Mapping[str, float] | None = None
    ) -> int:
        with self._database.unit(weight=0) as connection:
            seen_at = connection.execute(
                "UPDATE workers SET seen_at = clock_timestamp(), pages = ?, pause = ?, change = ?"
                " WHERE id = ? RETURNING extract(epoch FROM seen_at)::double precision",
                (pages, pause, self._database.change, self._id),
            ).fetchone()[0]
            self._note_clock(connection, seen_at - time.monotonic())
            if paused:
                self._set_pauses(connection, paused)
            job = LOCKS, self._database.place.name
            seconds = self._lease_seconds, self._lease_seconds, _GRACE_SECONDS
            connection.execute(_DECLARE_DEAD, (self._id, self._connected_at, *job, *seconds))
            return int(connection.execute("SELECT count(*) FROM workers").fetchone()[0])

    def take_hosts(self, at_most: int) -> list[str]:
        with self._database.unit(weight=0) as connection:
            return [slot for (slot,) in connection.execute(_TAKE, (self._id, at_most)).fetchall()]

    # --- Private ---------------------------------------------------------------------------------

    def _join(self) -> int:
        query = "INSERT INTO workers (name, change) VALUES (?, ?) RETURNING id"
        values = process_name(), self._database.change
        return int(self._database.connection.execute(query, values).fetchone()[0])

    def _changes(self, connection: Connection) -> Iterable[Any]:
        return connection.execute(_CHANGES, (self._database.change,)).fetchall()

    def _set_pauses(
        self, connection: Connection, pauses: Mapping[str, float], *, freed: str = ""
    ) -> None:
        values = list(pauses), list(pauses.values()), self._id
        connection.execute(_PAUSE.format(freed=freed), values)

    def _note_clock(self, connection: Connection, ahead: float) -> None:
        """Detect changes of the server's clock since the last sign of life."""
        forward = 0.0 if self._ahead is None else ahead - self._ahead
        self._ahead = ahead
        if forward > _MAX_DRIFT_SECONDS:
            self._connected_at = ahead + time.monotonic()
        elif forward < -_MAX_DRIFT_SECONDS:
            connection.execute(_SET_BACK, (str(ahead + time.monotonic()), -forward))
        connection.execute(_HEARD_OF_NOW)

    def _join_again(self, raw: psycopg.Connection[Any]) -> None:
        """Continue as the same worker on another connection."""
        query = (
            "UPDATE workers SET pid = pg_backend_pid(), seen_at = clock_timestamp() WHERE id = %s"
            " RETURNING extract(epoch FROM seen_at)::double precision"
        )
        row = raw.execute(query, [self._id]).fetchone()
        if row is None:
            raise self._shut_out()
        self._connected_at = row[0]

    def _end_stuck(self, raw: psycopg.Connection[Any]) -> None:
        """End the connection of a worker that has not committed its turn within its lease.

        The server itself ends idle transactions, but one that stopped between two statements of a
        pipeline does not count as idle.
        """
        seconds = max(self._lease_seconds, 0.0)
        raw.execute(_END_STUCK, [seconds, seconds])

    def _note_own_changes(self) -> None:
        with self._database.reporting():
            self._database.connection.send_later()  # they make changes
        super()._note_own_changes()
