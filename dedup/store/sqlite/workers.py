"""The processes of one machine that share a job, and which hosts each of them fetches from.

The tables are in the job's file only while it is shared. Times are those of the machine's monotonic
clock, which all its processes have in common and nobody sets. A worker is dead once its process has
ended, or after a lease without a sign of life.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from os import getpid
from typing import Any

from dedup.store.lock import process_name
from dedup.store.records import QUEUED, NewUrl, QueuedUrl, storable
from dedup.store.sql.database import Connection
from dedup.store.sql.url_table import TAKE_UP, UrlTable
from dedup.store.sql.workers import SharedWorkers, noting, taking
from dedup.store.sqlite.database import Database
from dedup.store.sqlite.processes import is_alive, started

_LATE_SECONDS = 10.0
"""Who hangs in its turn for a lease is killed within this time, by the process that started it."""

_RETURNING = "RETURNING slot, rank, id, key, url, depth, request"
_QUEUE = f"""
INSERT INTO urls (key, state, rank, depth, slot, url, request) VALUES (?, {QUEUED}, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET {TAKE_UP} {_RETURNING}
"""  # noqa: S608 -- constants
_QUEUE_AGAIN = f"""
UPDATE urls SET state = {QUEUED}, rank = ?, slot = ?, request = ? WHERE key = ? {_RETURNING}
"""  # noqa: S608 -- constants
_NOTE_HOST = noting("VALUES (?)")
_NOTE_WAITING = noting("SELECT DISTINCT slot_of(host) FROM waiting WHERE true")
_TAKE = taking("?")
_LAST_CHANGE = "SELECT coalesce(max(change), 0) FROM changes"
_CHANGES = """
SELECT s.stage, s.page, s.value, c.change FROM (
    SELECT stage, page, max(change) AS change FROM changes WHERE change > ? GROUP BY stage, page
) AS c CROSS JOIN signatures AS s ON s.stage = c.stage AND s.page = c.page
ORDER BY s.stage, s.page
"""
_NOTE_CHANGES = """
CREATE TEMP TRIGGER note_changes AFTER INSERT ON main.signatures BEGIN
    INSERT INTO changes (stage, page) VALUES (new.stage, new.page);
END
"""
_JOIN = """
INSERT INTO workers (name, pid, process, started_at, seen_at, change) VALUES (?, ?, ?, ?, ?, ?)
RETURNING id
"""
_BEAT = "UPDATE workers SET seen_at = ?, pages = ?, pause = ?, change = ? WHERE id = ?"
_FREE_DEAD = """
UPDATE hosts SET worker = NULL, has_work = true, free_at = max(free_at, ?) WHERE worker = ?
"""
_FORGET_CHANGES = "DELETE FROM changes WHERE change <= (SELECT min(change) FROM workers)"


class SqliteWorkers(SharedWorkers):
    """The processes of a job in one file."""

    _database: Database

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        super().__init__(database, last_change=_LAST_CHANGE, waiting_slot="slot_of(waiting.host)")
        database.max_wait_seconds = lease_seconds + _LATE_SECONDS
        with database.reporting():
            database.connection.execute(_NOTE_CHANGES)

    def note_hosts(self) -> None:
        """Add all hosts that have work: a process that works alone does not record them."""
        slots = UrlTable(self._database).slots()
        with self._database.unit(weight=0) as connection:
            connection.executemany(_NOTE_HOST, [(slot,) for slot in slots])
            connection.execute(_NOTE_WAITING)

    def queue_many(self, urls: Sequence[NewUrl]) -> list[tuple[str, QueuedUrl]]:
        rows: list[Any] = []
        with self._database.unit(weight=0) as connection:
            for each in sorted(urls, key=lambda url: url.is_again):  # new ones first
                place = each.rank, storable(each.slot), each.request, each.key
                new = (each.key, each.rank, each.depth, place[1], storable(each.url), each.request)
                query, values = (_QUEUE_AGAIN, place) if each.is_again else (_QUEUE, new)
                rows += connection.execute(query, values).fetchall()
            slots = sorted({row[0] for row in rows})
            connection.executemany(_NOTE_HOST, [(slot,) for slot in slots])
        return [(slot, QueuedUrl(*row)) for slot, *row in rows]

    def beat(
        self, *, pages: int, pause: float = 0.0, paused: Mapping[str, float] | None = None
    ) -> int:
        now = time.monotonic()
        with self._database.unit(weight=0) as connection:
            connection.execute(_BEAT, (now, pages, pause, self._database.change, self._id))
            if paused:
                self._set_pauses(connection, paused)
            query = "SELECT id, pid, process, seen_at, pause FROM workers"
            workers = connection.execute(query).fetchall()
            for number, pid, process, seen_at, rest in workers:
                is_late = now - seen_at > self._lease_seconds
                if number != self._id and (is_late or not is_alive(pid, process)):
                    connection.execute(_FREE_DEAD, (now + rest, number))
                    connection.execute("DELETE FROM workers WHERE id = ?", (number,))
            connection.execute(_FORGET_CHANGES)
            return int(connection.execute("SELECT count(*) FROM workers").fetchone()[0])

    def take_hosts(self, at_most: int) -> list[str]:
        values = self._id, time.monotonic(), at_most
        with self._database.unit(weight=0) as connection:
            return [slot for (slot,) in connection.execute(_TAKE, values).fetchall()]

    # --- Private ---------------------------------------------------------------------------------

    def _join(self) -> int:
        now, pid = time.monotonic(), getpid()
        values = process_name(), pid, started(pid), now, now, self._database.change
        return int(self._database.connection.execute(_JOIN, values).fetchone()[0])

    def _changes(self, connection: Connection) -> Iterable[Any]:
        return connection.execute(_CHANGES, (self._database.change,)).fetchall()

    def _set_pauses(
        self, connection: Connection, pauses: Mapping[str, float], *, freed: str = ""
    ) -> None:
        now = time.monotonic()
        connection.executemany(
            f"UPDATE hosts SET {freed} free_at = ? WHERE slot = ? AND worker = ?",  # noqa: S608 -- our own SQL
            [(now + seconds, slot, self._id) for slot, seconds in pauses.items()],
        )
