"""A process of a job, as the one that started it sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import Any

from dedup.scrapy.processes.team import STOP, Team, last_sign, told


class Child:
    """Runs this process's own command once more, as process `number` of `size`.

    Args:
        folder: of the job.
        is_new: see `Team`.

    Attributes:
        number: of the process.
        pid: its id.
    """

    def __init__(self, number: int, size: int, folder: str, *, is_new: bool) -> None:
        self.number = number
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- `close` closes it
        team = Team(number, size, folder, self._file.fileno(), is_new)
        self._process = subprocess.Popen(  # noqa: S603 -- the command of this process
            [sys.executable, *sys.orig_argv[1:]],
            env={**os.environ, **team.environment},
            stdin=subprocess.PIPE,
            pass_fds=[self._file.fileno()],
            process_group=0,  # the terminal sends Ctrl-C to the parent alone
        )
        self.pid = self._process.pid
        self._n_stops = 0

    @property
    def status(self) -> int | None:
        """The exit status; minus the signal that ended it; None: it is running."""
        return self._process.poll()

    @property
    def result(self) -> dict[str, Any]:
        """What it has told of its crawl."""
        return told(self._file.fileno())

    def is_silent(self, seconds: float) -> bool:
        """Has it given no sign of life for so long?"""
        sign = last_sign(self._file.fileno())
        return sign > 0 and time.monotonic() - sign > seconds

    def send(self, message: bytes) -> None:
        """Tell it something; one that has ended hears nothing."""
        assert self._process.stdin is not None  # noqa: S101 -- for the type checker
        with suppress(BrokenPipeError):
            self._process.stdin.write(message)
            self._process.stdin.flush()

    def stop(self, n_times: int) -> None:
        """Tell it that it has been asked to stop so often."""
        while self._n_stops < n_times:
            self._n_stops += 1
            self.send(STOP)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Let go of a process that has ended."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        self._file.close()
