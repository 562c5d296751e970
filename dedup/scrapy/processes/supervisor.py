"""Starts the processes of a job, stops them when asked, and replaces those that are killed."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from dedup.scrapy.processes.child import Child
from dedup.scrapy.processes.team import MAY_END

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1

_REPLACEMENTS = 3
"""For each process of the job: a fault that kills more is no accident."""

_KILL_SECONDS = 5.0
"""After a second Ctrl-C: processes end by themselves in less."""


class Supervisor:
    """The processes of a job.

    Args:
        size: how many there are.
        folder: of the job.
        lease_seconds: a process that gives no sign of life for this long is killed.
        look: called every tenth of a second.
        is_new: does the job begin now?

    Attributes:
        n_stops: how often the crawl was asked to stop.
        results: what the processes have told of their crawls.
        statuses: exit statuses of those that were not replaced.
    """

    def __init__(
        self,
        size: int,
        folder: str,
        lease_seconds: float,
        look: Callable[[], None],
        *,
        is_new: bool,
    ) -> None:
        self.n_stops = 0
        self.results: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self._size = size
        self._folder = folder
        self._lease_seconds = lease_seconds
        self._look = look
        self._is_new = is_new
        self._n_replaced = 0
        self._killed_at = 0.0
        self._running: list[Child] = []

    def run(self) -> None:
        """Start the processes, and wait until all have ended."""
        handled = signal.SIGINT, signal.SIGTERM
        before = [signal.signal(each, self._stop) for each in handled]
        try:
            for number in range(self._size):
                self._start(number + 1, is_new=self._is_new)
            while self._running:
                self._look()
                time.sleep(_LOOK_SECONDS)
                for child in list(self._running):
                    self._look_at(child)
        finally:
            for child in self._running:
                child.kill()
            for each, handler in zip(handled, before, strict=True):
                signal.signal(each, handler)

    # --- Private ---------------------------------------------------------------------------------

    def _start(self, number: int, *, is_new: bool) -> None:
        child = Child(number, self._size, self._folder, is_new=is_new)
        self._running.append(child)
        child.stop(self.n_stops)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- a signal handler's
        self.n_stops += 1
        self._killed_at = time.monotonic() if self.n_stops > 1 else 0.0
        for child in self._running:
            child.stop(self.n_stops)

    def _look_at(self, child: Child) -> None:
        if child.status is not None:
            self._running.remove(child)
            self._note_end(child, child.status)
            child.close()
        elif child.is_silent(self._lease_seconds):
            logger.warning(
                "process %d (pid %d) gave no sign of life for %g s and is killed",
                *(child.number, child.pid, self._lease_seconds),
            )
            child.kill()
        elif self._killed_at and time.monotonic() - self._killed_at > _KILL_SECONDS:
            child.kill()

    def _note_end(self, child: Child, status: int) -> None:
        if status < 0 and not self.n_stops and self._may_replace(child, -status):
            self._start(child.number, is_new=False)
            return
        self.statuses.append(status)
        self.results.append(child.result)
        if child.number == 1:
            for other in self._running:
                other.send(MAY_END)

    def _may_replace(self, child: Child, number: int) -> bool:
        """Count a process that a signal has ended; False: too many were."""
        said = f"process {child.number} (pid {child.pid}) was ended by signal {number}"
        if self._n_replaced >= _REPLACEMENTS * self._size:
            logger.error(
                "%s and is not replaced, as %d were before; rerun the same command to resume",
                *(said, self._n_replaced),
            )
            return False
        self._n_replaced += 1
        logger.warning("%s; another one goes on with its work", said)
        return True
