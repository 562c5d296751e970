"""When a process that shares its job with others writes: in turns, many pages in each.

One process writes at a time (see `dedup.store.interface.Workers`), and what it stores it has
compared with all that the others had stored before. So pages that are ready to be judged wait for a
turn; it lasts as long as there is something to write, some milliseconds. Meanwhile the others fetch
and read pages. A job of one process alone has no turns: nobody waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from random import random

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from dedup.errors import StateError
from dedup.scrapy.internals.reactor import call_later
from dedup.scrapy.job.outcome import Outcome
from dedup.store.interface import Workers

_GATHER_SECONDS = 0.03
"""Pages that come within this time share a turn, and its commit."""

_TRY_AGAIN_SECONDS = 0.02
_MAX_TRIES_SECONDS = 1.0
"""Then this process waits in the server's queue, where nobody is overlooked."""

_MAX_TURN_SECONDS = 0.25
_IDLE_ROUNDS = 6
"""Rounds of the event loop without anything to write that end a turn: an item takes some of them
from one pipeline to the next."""


class Turns:
    """The turns of a process.

    Args:
        record: records an outcome, in a turn.
        activity: grows whenever something is written.
    """

    def __init__(
        self,
        workers: Workers | None,
        record: Callable[[Outcome], object],
        activity: Callable[[], int],
    ) -> None:
        self._workers = workers
        self._record = record
        self._activity = activity
        self._waiting: list[Deferred[None]] = []
        self._outcomes: dict[tuple[str, str], Outcome] = {}
        self._calls: list[Callable[[], None]] = []
        self._is_asked = False
        self._is_open = False
        self._is_closed = False
        self._tries_until = 0.0
        self._ends_at = 0.0
        self._rounds = 0
        self._seen_activity = 0

    @property
    def is_pending(self) -> bool:
        """Is there something to record, or to judge, that waits for a turn?"""
        return bool(self._outcomes or self._waiting)

    @property
    def is_needed(self) -> bool:
        """Does writing have to wait? Not in a turn, and not where the job is this process's."""
        return self._workers is not None and not self._is_open and not self._is_closed

    async def wait(self) -> None:
        """Return once it is this process's turn."""
        if self.is_needed:
            turn: Deferred[None] = Deferred()
            self._waiting.append(turn)
            self.ask()
            await maybe_deferred_to_future(turn)

    def record(self, outcome: Outcome) -> None:
        """Record an outcome, now or in the next turn. Of a URL that comes twice, once."""
        if self.is_needed:
            self._outcomes[outcome.kind, outcome.url] = outcome
            self.ask()
        else:
            self._record(outcome)

    def call(self, function: Callable[[], None]) -> None:
        """Have a function called in the next turn."""
        self._calls.append(function)
        self.ask()

    def ask(self) -> None:
        """Have a turn soon."""
        if not self._is_asked and not self._is_open and not self._is_closed:
            self._is_asked = True
            self._tries_until = time.monotonic() + _MAX_TRIES_SECONDS
            call_later(_GATHER_SECONDS, self._try)

    def close(self) -> None:
        """Write what waits; nothing waits any more."""
        if self._workers is not None and not self._is_closed:
            self._is_closed = True
            with suppress(StateError):  # the job notes it
                self._write()

    # --- Private ---------------------------------------------------------------------------------

    def _try(self) -> None:
        if self._workers is None or self._is_closed:
            self._release()
            return
        try:
            waits = time.monotonic() > self._tries_until
            if not self._workers.try_begin(waits=waits):
                call_later(_TRY_AGAIN_SECONDS * (0.5 + random()), self._try)  # noqa: S311 -- so that two do not meet again
                return
            self._is_asked, self._is_open = False, True
            self._ends_at = time.monotonic() + _MAX_TURN_SECONDS
            self._rounds, self._seen_activity = 0, self._activity()
            self._write()
        except StateError:  # the job notes it, and stops; those that wait are told when they write
            self._is_asked = self._is_open = False
        self._release()
        if self._is_open:
            call_later(0, self._look)

    def _look(self) -> None:
        """End the turn where nothing has been written for some rounds."""
        if not self._is_open:
            return
        activity = self._activity()
        self._rounds = self._rounds + 1 if activity == self._seen_activity else 0
        self._seen_activity = activity
        if self._rounds < _IDLE_ROUNDS and time.monotonic() < self._ends_at:
            call_later(0, self._look)
            return
        self._is_open = False
        with suppress(StateError):
            if self._workers is not None and not self._is_closed:
                self._write()
                self._workers.end()

    def _write(self) -> None:
        outcomes, self._outcomes = self._outcomes, {}
        for outcome in outcomes.values():
            self._record(outcome)
        calls, self._calls = self._calls, []
        for call in calls:
            call()

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            turn.callback(None)
