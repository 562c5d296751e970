"""`dedup crawl URL… --keep 1h`: one visit after the other, each in a process of its own.

A visit is this process's own command once more, so what it takes of memory ends with it, and it
reads its settings anew. This process itself waits, starts visits, and passes on signals.
"""

import ctypes
import logging
import os
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType

from dedup.cli.console import ERRORS

Write = Callable[[str], object]

_VARIABLE = "DEDUP_VISIT"
"""Tells a process that it is a visit."""

_UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
_STOPS = (signal.SIGINT, signal.SIGTERM)
_NOT_STARTED = 2
_DAY = 86_400.0

_JITTER = 0.1
"""Crawls that start together, when a machine boots, do not stay together."""

_LOG_BYTES = 5_000_000
"""Then the log begins anew; the one before is kept as FILE.1."""

_LINES_SECONDS = 5.0
"""How long the last lines of a visit are waited for: a process that it has left may hold them up.
"""

_PR_SET_PDEATHSIG = 1


def interval(given: str) -> float:
    """The seconds of `90s`, `30min`, `1h` or `1d`.

    Raises:
        ValueError: it is something else, less than a second, or more than a year.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h|d)", given, re.ASCII)
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 1 <= seconds <= 366 * _DAY:
        raise ValueError(f"--keep must be a time such as 90s, 30min, 1h or 1d, got {given!r}")
    return seconds


def is_visit() -> bool:
    """Was this process started by `keep`? Then it is asked to stop when that one ends."""
    if _VARIABLE not in os.environ:
        return False
    with suppress(OSError, AttributeError):  # on Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    return True


def keep(seconds: float, log: Path | None) -> int:
    """Visit until SIGINT or SIGTERM, which also stop a visit; return the exit status.

    SIGHUP begins the next visit at once, or right after the present one.

    Args:
        seconds: from the end of a visit to the next. Twice as long after the second visit in a row
            that failed, and so on, up to a day.
        log: takes what visits write, and stays below 10 MB; None: they write to standard error.

    Raises:
        OSError: the log cannot be written.
    """
    command = [sys.executable, *sys.orig_argv[1:]]
    n_failed, is_first = 0, True
    with _signals() as signals, _writing(log) as write:
        while True:
            visit = _Visit(command, None if log is None else write)
            status = visit.wait(signals)
            if visit.n_stops:
                if -status in _STOPS:  # it did not listen yet
                    return 0
                return status if status >= 0 else 1
            if is_first and status == _NOT_STARTED:
                return status
            is_first, n_failed = False, n_failed + 1 if status else 0
            pause = 0.0 if visit.is_next_due else pause_after(seconds, n_failed)
            write(f"keep: exit status {status}; the next visit begins in {pause:.0f} s")
            if not _wait(signals, pause):
                return 0


def pause_after(seconds: float, n_failed: int) -> float:
    """How long to wait after so many visits in a row that failed."""
    longest = max(seconds, _DAY)
    wanted = min(seconds * 2.0 ** min(max(n_failed - 1, 0), 30), longest)
    return wanted * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 -- no secret


class _Signals:
    """The signals that this process gets, one after the other; and when a visit has ended."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def next(self, seconds: float) -> int | None:
        """The next signal; None: there was none for so long."""
        ready, *_ = select.select([self._pipe], [], [], seconds)
        return os.read(self._pipe, 1)[0] if ready else None


@contextmanager
def _signals() -> Iterator[_Signals]:
    """Collect signals, in place of what they did before."""
    pipe, end = os.pipe()
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end, warn_on_full_buffer=False)
    handled = (*_STOPS, signal.SIGHUP, signal.SIGCHLD)
    before = [(number, signal.signal(number, _do_nothing)) for number in handled]
    try:
        yield _Signals(pipe)
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        os.close(pipe)
        os.close(end)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Signals are read from the pipe."""


def _wait(signals: _Signals, seconds: float) -> bool:
    """Wait for the next visit; False: there is to be none."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        number = signals.next(left)
        if number in _STOPS:
            return False
        if number == signal.SIGHUP:
            return True
    return True


class _Visit:
    """A visit under way.

    Args:
        write: takes the lines that it writes; None: it has the standard error of this process.

    Attributes:
        n_stops: how often it was asked to stop.
        is_next_due: is the next visit to begin at once?
    """

    def __init__(self, command: list[str], write: Write | None) -> None:
        self.n_stops, self.is_next_due = 0, False
        self._process = subprocess.Popen(  # noqa: S603 -- the command of this process
            command,
            env={**os.environ, _VARIABLE: "1"},
            process_group=0,  # the terminal sends Ctrl-C to this process alone
            stdout=None if write is None else subprocess.PIPE,
            stderr=None if write is None else subprocess.STDOUT,
        )
        self._lines = threading.Thread(target=self._follow, args=(write,), daemon=True)
        self._lines.start()

    def wait(self, signals: _Signals) -> int:
        """Pass on signals until it has ended; return its exit status, or minus its signal."""
        while self._process.poll() is None:
            number = signals.next(60)
            if number in _STOPS:
                self.n_stops += 1
                self._process.send_signal(number)
            self.is_next_due = self.is_next_due or number == signal.SIGHUP
        self._lines.join(_LINES_SECONDS)
        return self._process.returncode

    def _follow(self, write: Write | None) -> None:
        if self._process.stdout is None or write is None:
            return
        with self._process.stdout as lines:
            for line in lines:
                write(line.decode(errors="replace").rstrip("\n"))


@contextmanager
def _writing(log: Path | None) -> Iterator[Write]:
    """What writes a line, to the log or to standard error."""
    if log is None:
        yield lambda line: ERRORS.print(line, soft_wrap=True)
        return
    with closing(RotatingFileHandler(log, "a", _LOG_BYTES, 1, "utf-8")) as handler:
        yield lambda line: handler.handle(logging.makeLogRecord({"msg": line}))
