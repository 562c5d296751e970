"""Which processes of this machine are alive."""

import os
from pathlib import Path


def started(pid: int) -> str:
    """When a process was started, by the system's count; "": it is dead, or the system has none.

    With the id it names a process: the system gives ids of dead processes to new ones.
    """
    try:
        # After the name, which may hold anything, and its bracket: the state and 19 more fields.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def is_alive(pid: int, start: str) -> bool:
    """Is this process alive, which `started` at that time?"""
    if start:
        return started(pid) == start
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # as a stranger's store may have it
        return False
    except OSError:  # another user's
        return True
    return True
