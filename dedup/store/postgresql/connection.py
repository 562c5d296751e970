"""A connection to a job in PostgreSQL, with a transaction that survives failures of the server.

If the server stops, fails over, or fills its disk, the process waits for it. Then it executes the
statements of the transaction again on a new connection. They have the same result, because the
writer holds the lock of `job`. Each commit leaves a mark there. It shows whether others have
written meanwhile, and whether a commit succeeded whose response was lost. Sequences are reset
first.
"""

import contextlib
import logging
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from secrets import token_hex
from types import FrameType
from typing import Any

import psycopg

from dedup.errors import StateError
from dedup.store.postgresql.errors import UnreachableError, as_state_error, is_passing
from dedup.store.postgresql.later import LaterWrites, Statement
from dedup.store.postgresql.place import Place
from dedup.store.sql.database import Parameters

logger = logging.getLogger(__name__)

_TRY_AGAIN_SECONDS = 1.0
_FIRST_TRY_SECONDS = 0.1
_GRACE_SECONDS = 3.0
"""How long the process whose transaction was cut off has to continue it, before others write."""

_SEQUENCES = ("urls_id_seq", "waiting_place_seq", "changes")
_READ_SEQUENCES = b"""
SELECT u.last_value, u.is_called, w.last_value, w.is_called, c.last_value, c.is_called
FROM urls_id_seq AS u, waiting_place_seq AS w, changes AS c
"""


class Cursor:
    """The rows of a query. It is executed again if the connection is lost before they are read."""

    def __init__(
        self,
        owner: "Connection",
        query: bytes,
        parameters: Any,
        *,
        is_many: bool = False,
        is_raw: bool = False,
    ) -> None:
        self._owner = owner
        self._query, self._parameters, self._is_many = query, parameters, is_many
        self._is_raw = is_raw
        """Are its parameters `$1`, `$2`…?"""
        self._rows: psycopg.Cursor[Any] | None = None

    def fetchone(self) -> Any:
        return self._read(lambda rows: rows.fetchone())

    def fetchall(self) -> list[Any]:
        found: list[Any] = self._read(lambda rows: rows.fetchall())
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())

    def execute(self, raw: psycopg.Connection[Any]) -> None:
        try:
            self._execute(raw)
        except (psycopg.DataError, UnicodeEncodeError) as error:
            if getattr(error, "sqlstate", None):  # an error of the server
                raise
            rows = self._parameters
            self._parameters = list(map(_cleaned, rows)) if self._is_many else _cleaned(rows)
            self._execute(raw)

    def _execute(self, raw: psycopg.Connection[Any]) -> None:
        self._rows = psycopg.RawCursor(raw) if self._is_raw else raw.cursor()
        if self._is_many:
            self._rows.executemany(self._query, self._parameters)
        else:
            self._rows.execute(self._query, self._parameters or None)

    def _read(self, read: Callable[[psycopg.Cursor[Any]], Any]) -> Any:
        while True:
            try:
                return None if self._rows is None else read(self._rows)
            except psycopg.Error as error:
                self._owner.recover(error, self)


class Connection:
    """Takes queries in the form of SQLite, with `?` or `:name` for parameters.

    Args:
        connect: creates another connection.
        waits: wait for a server that fails; else its error is raised.

    Attributes:
        raw: the current connection.
        after_reconnect: called with each new connection that replaces a lost one.
        max_lock_seconds: how long another process may lock the job.
        after_lock_wait: called when another process has locked it for longer, before the next try.
    """

    def __init__(
        self,
        place: Place,
        connect: Callable[[], psycopg.Connection[Any]],
        raw: psycopg.Connection[Any],
        *,
        waits: bool,
    ) -> None:
        self._place = place
        self._connect = connect
        self._waits = waits
        self.raw = raw
        self.after_reconnect: list[Callable[[psycopg.Connection[Any]], object]] = []
        self.max_lock_seconds = 0.0
        self.after_lock_wait: Callable[[psycopg.Connection[Any]], object] = lambda _: None
        self._pipeline = contextlib.ExitStack()
        self._done: list[Cursor] | None = None
        """The statements of the transaction; None: there is no transaction."""
        self._later = LaterWrites()
        self._unit_at: int | None = None
        """The first of the later writes that belongs to the current unit; None: there is none."""
        self._is_saved = False
        """Is there a savepoint before the current unit?"""
        self._mark = ""
        self._next_mark: str | None = None
        self._sequences: list[Any] = []

    @property
    def in_transaction(self) -> bool:
        return self._done is not None

    def execute(self, query: str, parameters: Parameters = (), /) -> Cursor:
        self._prepare(query)
        return self.execute_now(query, parameters)

    def execute_now(self, query: str, parameters: Parameters = ()) -> Cursor:
        """Execute a query to which later writes make no difference."""
        is_named = isinstance(parameters, Mapping)
        translated = translated_query(query, is_named) if parameters else query.encode()
        return self._executed(Cursor(self, translated, parameters))

    def executemany(self, query: str, parameters: Iterable[Parameters], /) -> Cursor:
        rows = list(parameters)
        if not rows:
            return Cursor(self, b"", (), is_many=True)
        self._prepare(query)
        translated = translated_query(query, isinstance(rows[0], Mapping))
        return self._executed(Cursor(self, translated, rows, is_many=True))

    def write_later(self, query: str, rows: Iterable[Parameters], *, is_sum: bool = False) -> None:
        """Execute a statement before the next one that names its table, or with the commit.

        See `LaterWrites.add`.
        """
        self._later.add(query, rows, is_sum=is_sum)

    def send_later(self) -> None:
        """Execute all later writes."""
        if self._unit_at is not None and len(self._later) > self._unit_at:
            self._save_unit()
        later, self._later = self._later, LaterWrites()
        if self._unit_at is not None:
            self._unit_at = 0
        for each in later.statements():
            self._send(each)

    # --- Units -----------------------------------------------------------------------------------

    def begin_unit(self) -> None:
        self._unit_at, self._is_saved = len(self._later), False

    def end_unit(self) -> None:
        if self._is_saved:
            self.execute_now("RELEASE unit")
        self._unit_at = None

    def undo_unit(self) -> None:
        self._later.cut(self._unit_at or 0)
        if self._is_saved:
            self.execute_now("ROLLBACK TO unit")
        self.end_unit()

    # --- Transactions ----------------------------------------------------------------------------

    def begin(self, how: str) -> int | None:
        """Begin a transaction and lock the job; return its last number.

        Args:
            how: `SKIP LOCKED`: return None instead of waiting if another process has locked it.
        """
        while True:
            try:
                row = self._begin(how)
            except psycopg.errors.LockNotAvailable:
                self.abort()
                with contextlib.suppress(psycopg.Error):  # the next try reports it
                    self.after_lock_wait(self.raw)
            except psycopg.Error as error:
                self.recover(error)
            else:
                break
        if row is None:
            self.abort()
            return None
        last_number, self._mark, *sequences = row
        self._sequences = sequences
        self._done, self._next_mark = [], None
        return int(last_number)

    def commit(self, last_number: int) -> None:
        """Commit, with the number of the last record."""
        self.send_later()
        self._next_mark = token_hex(8)
        query = "UPDATE job SET last_number = ?, mark = ?"
        self.execute(query, (last_number, self._next_mark))
        while self._done is not None:
            try:
                self.raw.execute("COMMIT")
                self._pipeline.close()
                self._done = None
            except psycopg.Error as error:
                self.recover(error)

    def abort(self) -> None:
        """Abort the transaction, and release the lock."""
        self._done, self._unit_at = None, None
        self._later = LaterWrites()
        with contextlib.suppress(psycopg.Error):
            self._pipeline.close()
        with contextlib.suppress(psycopg.Error):
            self.raw.rollback()

    def close(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._pipeline.close()
        self.raw.close()

    # --- A server that fails ---------------------------------------------------------------------

    def recover(self, error: psycopg.Error, reading: Cursor | None = None) -> None:
        """Wait for the server, and execute the statements of the transaction again.

        Args:
            error: the failure; raised again if waiting does not help.
            reading: its query is executed again, even outside a transaction.

        Raises:
            StateError: the transaction cannot continue, or a signal asks the process to stop.
        """
        if not (self._waits and is_passing(error, is_closed=self.raw.closed)):
            raise error
        try:
            self._recover(error, reading)
        except BaseException:
            self.abort()
            raise

    # --- Private ---------------------------------------------------------------------------------

    def _prepare(self, query: str) -> None:
        """Send what has to come before a query."""
        if not query.lstrip().startswith("SELECT"):
            self._save_unit()
        if self._later.touch(query):
            self.send_later()

    def _save_unit(self) -> None:
        """Set a savepoint before the first statement of a unit that is sent.

        Most units have none: their writes come later, and are undone by forgetting them.
        """
        if self._unit_at is None or self._is_saved:
            return
        own = self._later.cut(self._unit_at)
        self._unit_at = None
        self.send_later()
        self.execute_now("SAVEPOINT unit")
        self._later, self._unit_at, self._is_saved = own, 0, True

    def _send(self, statement: Statement) -> None:
        query, parameters, is_many = statement
        if is_many:
            translated = translated_query(query, isinstance(parameters[0], Mapping))
            self._executed(Cursor(self, translated, parameters, is_many=True))
        else:
            self._executed(Cursor(self, query.encode(), parameters, is_raw=True))

    def _recover(self, error: psycopg.Error, reading: Cursor | None) -> None:
        failure, began = as_state_error(self._place, error), time.monotonic()
        wait = _FIRST_TRY_SECONDS
        with _Signals() as signals:
            while True:
                self.close()
                signals.sleep(wait)
                if signals.is_asked_to_stop:
                    raise failure from error
                try:
                    self.raw = self._connect()
                    self._tell_of_reconnect()
                    if self._done is None:
                        signals.sleep(_GRACE_SECONDS)
                        self._tell_of_reconnect()  # so that others have not lost time to come back
                    self._execute_again(reading)
                    break
                except (UnreachableError, psycopg.errors.LockNotAvailable):
                    pass
                except psycopg.Error as again:
                    if not is_passing(again, is_closed=self.raw.closed):
                        raise
                if wait == _FIRST_TRY_SECONDS:
                    logger.warning("%s: %s; waiting for it", self._place, failure.problem)
                wait = _TRY_AGAIN_SECONDS
        logger.warning("%s: the crawl resumes after %.1f s", self._place, time.monotonic() - began)

    def _tell_of_reconnect(self) -> None:
        for call in self.after_reconnect:
            call(self.raw)

    def _execute_again(self, reading: Cursor | None) -> None:
        if self._done is None:
            if reading is not None:
                reading.execute(self.raw)
            return
        row = self._begin("")
        mark = None if row is None else row[1]
        if mark == self._next_mark:  # it had been committed
            self.abort()
            return
        if mark != self._mark:
            raise StateError(
                str(self._place),
                "the connection was lost and other workers have written since",
                "Rerun the same command to rejoin",
            )
        values = zip(_SEQUENCES, self._sequences[::2], self._sequences[1::2], strict=True)
        for sequence in values:  # name, last value, is it drawn?
            self.raw.execute("SELECT setval(%s, %s, %s)", sequence)
        for each in self._done:
            each.execute(self.raw)
        if reading is not None and reading not in self._done:
            reading.execute(self.raw)
        with self.raw.pipeline() as pipeline:
            pipeline.sync()  # errors of the queries themselves are raised here, without waiting

    def _begin(self, how: str) -> Any:
        self._pipeline.enter_context(self.raw.pipeline())
        self.raw.execute("BEGIN")
        if self.max_lock_seconds:
            milliseconds = max(1, round(1000 * self.max_lock_seconds))
            self.raw.execute(f"SET LOCAL lock_timeout = {milliseconds}".encode())
        lock = f"SELECT last_number, mark FROM job FOR UPDATE {how}"  # noqa: S608 -- two words at most
        row = self.raw.execute(lock.encode()).fetchone()
        if row is None:
            return None
        # A separate statement, which sees the values drawn before the lock was released.
        sequences = self.raw.execute(_READ_SEQUENCES).fetchone()
        return (*row, *(sequences or ()))

    def _executed(self, cursor: Cursor) -> Cursor:
        try:
            cursor.execute(self.raw)
        except psycopg.Error as error:
            self.recover(error, cursor)
        if self._done is not None:
            self._done.append(cursor)
        return cursor


class _Signals:
    """Handles SIGINT and SIGTERM while the process waits."""

    def __init__(self) -> None:
        self.is_asked_to_stop = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "_Signals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.is_asked_to_stop and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.is_asked_to_stop = True
        before = self._before.get(number)
        if callable(before) and before is not signal.default_int_handler:
            before(number, frame)


@lru_cache(maxsize=1_000)
def translated_query(query: str, is_named: bool) -> bytes:
    """The query in the form of psycopg."""
    query = query.replace("%", "%%")
    if is_named:
        return re.sub(r":(\w+)", r"%(\1)s", query).encode()
    return query.replace("?", "%s").encode()


def _cleaned(parameters: Parameters) -> Any:
    """The parameters with question marks for characters that PostgreSQL refuses, see `clean`."""
    if isinstance(parameters, Mapping):
        return {name: clean(value) for name, value in parameters.items()}
    return [clean(value) for value in parameters]


def clean(value: object) -> object:
    """The value with question marks for zero characters and lone surrogates."""
    if isinstance(value, list):
        return [clean(each) for each in value]
    if isinstance(value, str):
        return value.replace("\0", "?").encode("utf-8", "replace").decode()
    return value
