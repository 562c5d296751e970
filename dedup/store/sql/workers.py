"""What the processes that share a job do alike in each database.

All is written while no other process writes, so a host is given away and its owner excluded in one
step. A worker counts as alive until another declares it dead and deletes its row. Then it can no
longer write.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from dedup.errors import StateError
from dedup.store.interface import TakeSignatures, Workers
from dedup.store.records import QUEUED
from dedup.store.sql.database import Connection, Database

_IS_QUEUED = f"EXISTS (SELECT 1 FROM urls WHERE urls.slot = hosts.slot AND urls.state = {QUEUED})"  # noqa: S608 -- a constant
_QUEUED_HOSTS = f"SELECT slot FROM hosts WHERE worker = ? AND {_IS_QUEUED}"  # noqa: S608 -- a constant
_FAIR_SHARE = "SELECT (SELECT count(*) FROM hosts WHERE has_work), (SELECT count(*) FROM workers)"


def noting(slots: str) -> str:
    """The query that notes that hosts have work, given the SQL of their slots."""
    return (
        f"INSERT INTO hosts (slot) {slots}"
        " ON CONFLICT (slot) DO UPDATE SET has_work = true WHERE NOT hosts.has_work"
    )


def taking(now: str) -> str:
    """The query that takes free hosts, given the SQL of the time."""
    return f"""
UPDATE hosts SET worker = ? WHERE slot IN (
    SELECT slot FROM hosts WHERE worker IS NULL AND has_work AND free_at <= {now}
    ORDER BY free_at, slot LIMIT ?
) RETURNING slot
"""  # noqa: S608 -- our own SQL


class SharedWorkers(Workers):
    """The processes of a shared job. Created when a process joins, which has no hosts yet.

    Args:
        last_change: the query of the last change of signatures.
        waiting_slot: the SQL of the slot of a row of `waiting`.
    """

    is_shared = True

    def __init__(self, database: Database, *, last_change: str, waiting_slot: str) -> None:
        self._database = database
        self._last_change = last_change
        self._work = (
            f"{_IS_QUEUED} OR EXISTS (SELECT 1 FROM waiting WHERE {waiting_slot} = hosts.slot)"  # noqa: S608 -- our own SQL
        )
        self._call: TakeSignatures | None = None
        self._has_left = False
        with database.unit():
            # Who writes sees all changes that were made before.
            database.change = int(database.value(last_change))
            self._id = self._join()
        self.note_hosts()
        database.commit()
        database.after_begin.append(self._catch_up)
        database.before_commit.append(self._note_own_changes)

    # --- Turns -----------------------------------------------------------------------------------

    def try_begin(self, *, waits: bool) -> bool:
        return self._database.begin_turn(waits=waits)

    def end(self) -> None:
        self._database.end_turn()

    def on_signatures(self, call: TakeSignatures) -> None:
        self._call = call

    def before_commit(self, call: Callable[[], object]) -> None:
        self._database.before_commit.insert(0, call)

    # --- Hosts -----------------------------------------------------------------------------------

    def free_hosts(self, pauses: Mapping[str, float]) -> None:
        with self._database.unit(weight=0) as connection:
            self._set_pauses(connection, pauses, freed=f"worker = NULL, has_work = {self._work},")

    def queued_hosts(self) -> list[str]:
        return [slot for (slot,) in self._database.all(_QUEUED_HOSTS, (self._id,))]

    def fair_share(self) -> int:
        hosts, workers = self._database.first(_FAIR_SHARE)
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
        others = f"UPDATE hosts SET worker = NULL, has_work = {self._work} WHERE worker = ?"  # noqa: S608 -- our own SQL
        with self._database.unit() as connection:
            self.free_hosts(pauses)
            connection.execute(others, (self._id,))
            connection.execute("DELETE FROM workers WHERE id = ?", (self._id,))
        self._database.commit()

    # --- Private ---------------------------------------------------------------------------------

    @abstractmethod
    def _join(self) -> int:
        """Add this process, in a unit; return its id."""

    @abstractmethod
    def _changes(self, connection: Connection) -> Iterable[Any]:
        """Stage, page, value and change of the signatures changed since, by stage and page."""

    @abstractmethod
    def _set_pauses(
        self, connection: Connection, pauses: Mapping[str, float], *, freed: str = ""
    ) -> None:
        """Set when hosts of this process are free, and what the SQL of `freed` says."""

    def _catch_up(self) -> None:
        """Check that this worker may still write, and load what others have added."""
        connection = self._database.connection
        if connection.execute("SELECT 1 FROM workers WHERE id = ?", (self._id,)).fetchone() is None:
            raise self._shut_out()
        if self._call is None:
            return
        rows = list(self._changes(connection))
        self._database.change = max([self._database.change, *(row[3] for row in rows)])
        for stage, of_stage in groupby(rows, itemgetter(0)):
            _, numbers, values, _ = zip(*of_stage, strict=True)
            self._call(stage, np.array(numbers, np.int64), values)

    def _shut_out(self) -> StateError:
        return StateError(
            self._database.location,
            "this worker gave no sign of life, and others have taken its hosts",
            "Rerun the same command to rejoin",
        )

    def _note_own_changes(self) -> None:
        """Existing changes were read when the transaction began, or are from this process."""
        if self._call is not None:
            self._database.change = int(self._database.value(self._last_change))
