"""Ends those of the browser's processes that take too much memory.

V8's own limit bounds what scripts allocate as objects, not buffers, nor what the DOM takes.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

_SECONDS = 0.5
"""Between two looks: a script that takes a gigabyte a second exceeds the bound by half a
gigabyte."""

_PROCESSES = Path("/proc")


async def watch_memory(session: CDPSession, max_bytes: int, on_ended: Callable[[], object]) -> None:
    """Look at the browser's processes until it ends, or until this is cancelled.

    `on_ended` is called when one that shows a page has been ended.

    Without `/proc`, as on macOS, nothing is watched.
    """
    if not (_PROCESSES / "self/statm").exists():
        return
    with suppress(PlaywrightError):
        while True:
            await asyncio.sleep(_SECONDS)
            found = await session.send("SystemInfo.getProcessInfo")
            for process in found["processInfo"]:
                is_ended = end_if_larger(int(process["id"]), max_bytes)
                if is_ended and process["type"] == "renderer":
                    on_ended()


def end_if_larger(process: int, max_bytes: int) -> bool:
    """Kill a process of the browser if it has more resident memory than this; was it so?"""
    folder = _PROCESSES / str(process)
    with suppress(OSError, ValueError, IndexError):
        n_pages = int((folder / "statm").read_text().split()[1])
        is_browser = b"chrom" in (folder / "cmdline").read_bytes()
        if is_browser and n_pages * os.sysconf("SC_PAGE_SIZE") > max_bytes:
            os.kill(process, signal.SIGKILL)
            return True
    return False
