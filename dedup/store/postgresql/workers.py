"""The processes that share a job, and which hosts each of them fetches from.

All this is written under the lock of `job`, like everything else, so a host is given away and its
owner excluded in one step. A worker counts as alive until another declares it dead and deletes its
row. Then it can no longer write. It is dead after a lease without a sign of life, or after a few
seconds if its connection is gone. After a failure of the server that time starts again, so that all
workers can return.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import psycopg

from dedup.errors import StateError
from dedup.store.interface import TakeSignatures, Workers
from dedup.store.lock import process_name
from dedup.store.postgresql.database import Database
from dedup.store.postgresql.opening import LOCKS
from dedup.store.records import QUEUED, NewUrl, QueuedUrl, storable
from dedup.store.sql.database import Connection
from dedup.store.sql.url_table import TAKE_UP, UrlTable

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
_NOTE = """
INSERT INTO hosts (slot) {slots}
ON CONFLICT (slot) DO UPDATE SET has_work = true WHERE NOT hosts.has_work
"""
_NOTE_HOSTS = _NOTE.format(slots="SELECT unnest(?::text[])")
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
_TAKE = """
UPDATE hosts SET worker = ? WHERE slot IN (
    SELECT slot FROM hosts WHERE worker IS NULL AND has_work AND free_at <= clock_timestamp()
    ORDER BY free_at, slot LIMIT ?
) RETURNING slot
"""
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
_NOTE_WAITING = _NOTE.format(slots=f"SELECT DISTINCT {_WAITING_SLOT} FROM waiting")  # noqa: S608 -- a constant
_QUEUED = f"EXISTS (SELECT 1 FROM urls WHERE urls.slot = hosts.slot AND urls.state = {QUEUED})"  # noqa: S608 -- a constant
_QUEUED_HOSTS = f"SELECT slot FROM hosts WHERE worker = ? AND {_QUEUED}"  # noqa: S608 -- a constant
_WORK = f"{_QUEUED} OR EXISTS (SELECT 1 FROM waiting WHERE {_WAITING_SLOT} = hosts.slot)"  # noqa: S608 -- constants
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


class PostgresqlWorkers(Workers):
    """The processes of a shared job. Created when a process joins, which has no hosts yet."""

    is_shared = True

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._call: TakeSignatures | None = None
        self._has_left = False
        self._connected_at = 0.0
        """When the process reconnected, or the server's clock was set forward, by that clock; 0:
        never. It counts as a sign of life of all others."""
        self._ahead: float | None = None
        """The server's clock minus this machine's monotonic one, at the last sign of life."""
        with database.unit() as connection:
            # The owner of the lock sees all values drawn from the sequence.
            database.change = int(connection.execute(_LAST_CHANGE).fetchone()[0])
            self._id = connection.execute(
                "INSERT INTO workers (name, change) VALUES (?, ?) RETURNING id",
                (process_name(), database.change),
            ).fetchone()[0]
        self.note_hosts()
        database.commit()
        database.after_begin.append(self._catch_up)
        database.before_commit.append(self._note_own_changes)
        database.connection.after_reconnect.append(self._join_again)
        database.connection.max_lock_seconds = lease_seconds
        database.connection.after_lock_wait = self._end_stuck

    def note_hosts(self) -> None:
        """Add all hosts that have work: a process that works alone does not record them."""
        with self._database.unit(weight=0) as connection:
            connection.execute(_NOTE_HOSTS, (UrlTable(self._database).slots(),))
            connection.execute(_NOTE_WAITING)

    # --- Turns -----------------------------------------------------------------------------------

    def try_begin(self, *, waits: bool) -> bool:
        return self._database.begin_turn(waits=waits)

    def end(self) -> None:
        self._database.end_turn()

    def on_signatures(self, call: TakeSignatures) -> None:
        self._call = call

    def before_commit(self, call: Callable[[], object]) -> None:
        self._database.before_commit.insert(0, call)

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

    def free_hosts(self, pauses: Mapping[str, float]) -> None:
        with self._database.unit(weight=0) as connection:
            self._set_pauses(connection, pauses, freed=f"worker = NULL, has_work = {_WORK},")

    def queued_hosts(self) -> list[str]:
        return [slot for (slot,) in self._database.all(_QUEUED_HOSTS, (self._id,))]

    def fair_share(self) -> int:
        query = "SELECT (SELECT count(*) FROM hosts WHERE has_work), (SELECT count(*) FROM workers)"
        hosts, workers = self._database.first(query)
        return max(1, -(-int(hosts) // max(int(workers), 1)))

    def has_queued(self) -> bool:
        query = f"SELECT EXISTS (SELECT 1 FROM urls WHERE state = {QUEUED})"  # noqa: S608 -- a constant
        return bool(self._database.value(query))

    def has_waiting(self) -> bool:
        return bool(self._database.value("SELECT EXISTS (SELECT 1 FROM waiting)"))

    def leave(self, pauses: Mapping[str, float]) -> None:
        if self._has_left or not self._database.is_usable:
            return
        self._has_left = True
        others = f"UPDATE hosts SET worker = NULL, has_work = {_WORK} WHERE worker = ?"  # noqa: S608 -- constants
        with self._database.unit() as connection:
            self.free_hosts(pauses)
            connection.execute(others, (self._id,))
            connection.execute("DELETE FROM workers WHERE id = ?", (self._id,))
        self._database.commit()

    # --- Private ---------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Check that this worker may still write, and load what others have added."""
        connection = self._database.connection
        if connection.execute("SELECT 1 FROM workers WHERE id = ?", (self._id,)).fetchone() is None:
            raise self._shut_out()
        if self._call is None:
            return
        query = (
            "SELECT stage, page, value, changed FROM signatures WHERE changed > ?"
            " ORDER BY stage, page"
        )
        rows = connection.execute(query, (self._database.change,)).fetchall()
        self._database.change = max([self._database.change, *(row[3] for row in rows)])
        for stage, of_stage in groupby(rows, itemgetter(0)):
            _, numbers, values, _ = zip(*of_stage, strict=True)
            self._call(stage, np.array(numbers, np.int64), values)

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

    def _shut_out(self) -> StateError:
        return StateError(
            self._database.location,
            "this worker gave no sign of life, and others have taken its hosts",
            "Rerun the same command to rejoin",
        )

    def _note_own_changes(self) -> None:
        """Existing changes were read when the transaction began, or are from this process."""
        if self._call is not None:
            self._database.connection.send_later()  # they draw from the sequence
            self._database.change = int(self._database.value(_LAST_CHANGE))


_LAST_CHANGE = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM changes"
