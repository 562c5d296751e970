"""When a process that shares its job with others writes: in turns, many pages in each.

One process writes at a time (see `dedup.store.interface.Workers`). Before it stores a page, it
compares it with everything that the others have stored. So writes wait for a turn: one call of some
milliseconds that judges and writes everything waiting, and commits; then the waiting coroutines
continue. Between turns, all processes fetch and read pages at the same time. A job of a single
process has no turns, and nothing waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from random import random
from typing import Any, Protocol, TypeVar, TypeVarTuple

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from dedup.errors import StateError
from dedup.scrapy.internals.reactor import call_later
from dedup.store.interface import Workers

T = TypeVar("T")
Values = TypeVarTuple("Values")

_GATHER_SECONDS = 0.03
"""What comes within this time, for each process of the job, shares a turn, and its commit: a turn
of one page costs as much as one of five."""

_MAX_GATHER_SECONDS = 0.3

_ITEMS_IN_A_TURN = 100
"""They take about a tenth of a second."""

_TRY_AGAIN_SECONDS = 0.01
_MAX_TRIES_SECONDS = 1.0
"""After this the process waits in the server's queue, which is served in order."""


class Group(Protocol):
    """What makes calls of one kind together: once for a turn what each would do for itself."""

    def prepare(self, asked: Sequence[Any]) -> None:
        """Do what needs no turn for calls with these arguments, so that the turn is short."""

    def together(self, asked: Sequence[Any]) -> AbstractContextManager[None]:
        """Is entered in the turn, before all the calls, in this order."""


class Turns:
    """The turns of a process.

    Args:
        workers: those that share the job.

    Attributes:
        n_processes: that share the job.
    """

    def __init__(self, workers: Workers) -> None:
        self.n_processes = 1
        self._workers = workers
        self._first: dict[object, Callable[[], object]] = {}
        """Functions whose results nothing awaits; they run before the calls."""
        self._calls: list[_Call] = []
        self._groups: dict[Group, _Together] = {}
        """Calls that are made together, after the others."""
        self._is_asked = False
        self._is_open = False
        self._is_closed = False
        self._tries_until = 0.0

    @property
    def items_at_once(self) -> int:
        """How many items are sent to the pipelines together."""
        return _ITEMS_IN_A_TURN if self.is_needed else 1

    @property
    def is_pending(self) -> bool:
        """Is there something to write that waits for a turn?"""
        return bool(self._first or self._calls or self._groups)

    @property
    def is_needed(self) -> bool:
        """Does writing have to wait? Not in a turn, and not where the job is this process's."""
        return self._workers.is_shared and not self._is_open and not self._is_closed

    async def run(self, function: Callable[[], T]) -> T:
        """Call a function in the next turn; return what it returned, once that is committed.

        Raises:
            StateError: the turn failed: nothing of it is stored.
        """
        if not self.is_needed:
            return function()
        done: Deferred[T] = Deferred()
        self._calls.append((function, done))
        self.ask()
        return await maybe_deferred_to_future(done)

    async def run_together(
        self, group: Group, arguments: tuple[*Values], function: Callable[[*Values], T]
    ) -> T:
        """As `run`, for a function of these arguments, together with others of the group.

        They are called after all those that are given to `run`.
        """
        if not self.is_needed:
            return function(*arguments)
        done: Deferred[T] = Deferred()
        together = self._groups.setdefault(group, _Together(group))
        together.asked.append(arguments)
        together.calls.append((partial(function, *arguments), done))
        self.ask()
        return await maybe_deferred_to_future(done)

    def call(self, key: object, function: Callable[[], object]) -> None:
        """Call a function now, or in the next turn; of functions with equal keys only the last."""
        if self.is_needed:
            self._first[key] = function
            self.ask()
        else:
            function()

    def ask(self) -> None:
        """Have a turn soon."""
        if not self._is_asked and not self._is_closed:
            self._is_asked = True
            self._tries_until = time.monotonic() + _MAX_TRIES_SECONDS
            seconds = min(_GATHER_SECONDS * self.n_processes, _MAX_GATHER_SECONDS)
            call_later(seconds, self._try)

    def close(self) -> None:
        """Write what waits; nothing waits any more."""
        if not self._is_closed:
            self._is_closed = True
            with suppress(StateError):  # the job notes it
                for resolve in self._write():
                    resolve()

    # --- Private ---------------------------------------------------------------------------------

    def _try(self) -> None:
        if self._is_closed:
            return
        try:
            for together in self._groups.values():
                together.prepare()
            waits = time.monotonic() > self._tries_until
            if not self._workers.try_begin(waits=waits):
                call_later(_TRY_AGAIN_SECONDS * (0.5 + random()), self._try)  # noqa: S311 -- so that two do not meet again
                return
            self._is_open = True
            results = self._write()
            self._workers.end()
        except StateError as error:  # the job notes it, and stops
            results = [partial(done.errback, error) for _, done in self._waiting]
            self._calls, self._groups = [], {}
        self._is_asked = self._is_open = False
        for resolve in results:
            resolve()

    def _write(self) -> list[Callable[[], None]]:
        """Write everything that waits; return calls that resolve the waiting coroutines."""
        first, self._first = self._first, {}
        for function in first.values():
            function()
        results = [_made(*call) for call in self._calls]
        for together in self._groups.values():
            results += together.made()
        self._calls, self._groups = [], {}
        return results

    @property
    def _waiting(self) -> list[_Call]:
        together = [call for each in self._groups.values() for call in each.calls]
        return [*self._calls, *together]


_Call = tuple[Callable[[], object], Deferred[Any]]
"""A function, and what awaits its result."""


class _Together:
    """Calls of a group, with their arguments."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self.asked: list[tuple[Any, ...]] = []
        self.calls: list[_Call] = []
        self._n_prepared = 0

    def prepare(self) -> None:
        """Prepare the calls that have come since it was last called."""
        new, self._n_prepared = self.asked[self._n_prepared :], len(self.asked)
        with suppress(Exception):  # the turn raises it again, for the call that it belongs to
            self._group.prepare(new)

    def made(self) -> list[Callable[[], None]]:
        """Make the calls; return what `_made` returns for each."""
        try:
            with self._group.together(self.asked):
                return [_made(*call) for call in self.calls]
        except StateError:  # of the whole turn
            raise
        except Exception as error:  # noqa: BLE001 -- it is raised where the results are awaited
            return [partial(done.errback, error) for _, done in self.calls]


def _made(function: Callable[[], object], done: Deferred[Any]) -> Callable[[], None]:
    try:
        return partial(done.callback, function())
    except Exception as error:  # noqa: BLE001 -- it is raised where the result is awaited
        return partial(done.errback, error)
