"""Notices the end of Playwright's driver: calls that it has not answered by then wait for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SECONDS = 0.5
"""Between two looks."""

_PROCESSES = Path("/proc")


def drivers() -> set[int]:
    """The processes of drivers that this process has started; none without `/proc`."""
    found = set()
    for listed in _PROCESSES.glob(f"{os.getpid()}/task/*/children"):
        with suppress(OSError):  # a thread has ended
            found |= {int(each) for each in listed.read_text().split() if _is_driver(each)}
    return found


async def wait_for_end(processes: Iterable[int]) -> None:
    """Return when one of the processes has ended; never, if there are none."""
    folders = [_PROCESSES / str(process) for process in processes]
    while all(folder.exists() for folder in folders):
        await asyncio.sleep(_SECONDS)


def _is_driver(process: str) -> bool:
    with suppress(OSError):
        return b"run-driver" in (_PROCESSES / process / "cmdline").read_bytes()
    return False
