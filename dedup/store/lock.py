"""One process writes to a job's store.

It holds a lock on the file `<name>.lock` beside the store as long as it runs. The lock belongs to
the process, so the file of a dead process does not block.
"""

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from dedup.errors import StateError, in_use
from dedup.files import check_plain

if TYPE_CHECKING:
    from filelock import BaseFileLock


def process_name() -> str:
    """The name of this process, shown to the users of a job."""
    return f"{socket.gethostname()}:{os.getpid()}"


_handed_over: dict[Path, "BaseFileLock"] = {}
"""Locks that this process holds, for who opens the store next, by the path of the store."""


def hand_over(path: Path, held: "BaseFileLock") -> None:
    """Let the next `lock` of this process for the store at `path` return a lock that is held."""
    _handed_over[path] = held


def lock(path: Path) -> "BaseFileLock":
    """Lock the store at `path` for this process, until it releases the lock or ends.

    Raises:
        StateError: another process has locked it, its folder cannot be written, or the lock file is
            a link.
    """
    if path in _handed_over:
        return _handed_over.pop(path)
    from filelock import FileLock, Timeout  # brings asyncio, which a run without a job lacks

    lock_path = path.with_name(path.name + ".lock")
    check_plain(lock_path)
    try:
        if not path.parent.exists():  # a job's folder is for its owner alone
            path.parent.parent.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
        holder = _holder(lock_path)
    except OSError as error:
        raise _not_writable(path.parent, error) from error
    held = FileLock(
        lock_path,
        mode=0o600,
        blocking=False,
        thread_local=False,
        fallback_to_soft=False,  # a soft lock outlives a killed process
    )
    try:
        held.acquire()
        lock_path.write_text(str(os.getpid()))
    except Timeout as error:
        raise in_use(path, f"pid {holder}") from error
    except PermissionError as error:
        raise _not_writable(path.parent, error) from error
    except OSError as error:  # no locks on this file system, or a full disk
        held.release()
        raise StateError(
            lock_path, f"the job cannot be locked ({error.strerror})", "Choose another folder"
        ) from error
    return held


def _not_writable(folder: Path, error: OSError) -> StateError:
    problem = f"the folder cannot be written ({error.strerror})"
    return StateError(folder, problem, "Choose another folder")


def _holder(lock_path: Path) -> str:
    """The process that has the lock, if any."""
    try:
        with lock_path.open("rb") as file:
            return file.read(20).decode("ascii", "replace").strip() or "unknown"
    except (FileNotFoundError, PermissionError):  # Windows lets no other process read it
        return "unknown"
