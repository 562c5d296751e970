"""What one of the processes of a job knows of the others.

The process that started it tells it this in the environment, and later by bytes on its standard
input. When that is closed, the other process has ended, however it did, and this one ends, too.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

TEAM_VARIABLE = "DEDUP_TEAM"
MAY_END, STOP = b"e", b"s"
_KILLED = 130
_PR_SET_PDEATHSIG = 1

_SIGN = struct.Struct("d")
"""The start of the file of a process: when it last gave a sign of life, by the monotonic clock."""


@dataclass(slots=True)
class Team:
    """The processes of a job, in one of them.

    Args:
        number: of this process, from 1; 0: the one that starts the others, and crawls nothing.
        size: how many there are.
        folder: of the job.
        file: the descriptor of the file that tells the parent of this process.
        is_new: does the job begin now, and does this process replace no other?
    """

    number: int
    size: int
    folder: str
    file: int
    is_new: bool
    is_first: bool = field(init=False)
    """Does this process make the start requests?"""
    may_end: bool = field(init=False)
    """May this process end when nothing is queued? The first one may, and then the others."""
    _n_stops: int = field(default=0, init=False)
    _is_running: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.is_first = self.may_end = self.number == 1

    @property
    def environment(self) -> dict[str, str]:
        """The variable that tells a process of its team."""
        values = self.number, self.size, self.folder, self.file, self.is_new
        return {TEAM_VARIABLE: json.dumps(values)}

    def listen(self) -> None:
        """Listen to the parent from now on, in a thread."""
        with suppress(OSError, AttributeError):  # Linux ends this process even while it is stopped
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        threading.Thread(target=self._listen, daemon=True).start()

    def note_running(self) -> None:
        """Note that signals are handled from now on."""
        self._is_running = True
        for _ in range(self._n_stops):
            os.kill(os.getpid(), signal.SIGINT)

    def give_sign(self) -> None:
        """Tell the parent that this process is alive."""
        os.pwrite(self.file, _SIGN.pack(time.monotonic()), 0)

    def tell(self, result: dict[str, Any]) -> None:
        """Tell the parent what became of the crawl in this process."""
        os.pwrite(self.file, json.dumps(result, default=str).encode(), _SIGN.size)

    def _listen(self) -> None:
        while message := os.read(0, 1):
            if message == MAY_END:
                self.may_end = True
            elif message == STOP:
                self._stop()
        os.kill(os.getpid(), signal.SIGKILL)  # nobody is left to ask for an end in order

    def _stop(self) -> None:
        self._n_stops += 1
        if self._is_running:
            os.kill(os.getpid(), signal.SIGINT)
        elif self._n_stops > 1:
            os._exit(_KILLED)


def last_sign(file: int) -> float:
    """When a process last gave a sign of life; 0: it has not begun."""
    found = os.pread(file, _SIGN.size, 0)
    return float(_SIGN.unpack(found)[0]) if len(found) == _SIGN.size else 0.0


def told(file: int) -> dict[str, Any]:
    """What a process has told of its crawl; empty: nothing."""
    found = os.pread(file, os.fstat(file).st_size, _SIGN.size)
    return dict(json.loads(found)) if found else {}


@cache
def own_team() -> Team | None:
    """The team that this process was started for; None: it works alone."""
    found = os.environ.pop(TEAM_VARIABLE, None)
    return None if found is None else Team(*json.loads(found))
