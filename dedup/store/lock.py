"""One process writes to a job's store.

It holds a lock on the file `<name>.lock` beside the store for as long as it lives. The lock belongs
to the process, so one left behind by a dead process does not block.
"""

import os
import socket
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from dedup.errors import StateError, in_use
from dedup.files import check_plain


def process_name() -> str:
    """This process, for those who look at a job."""
    return f"{socket.gethostname()}:{os.getpid()}"


def lock(path: Path) -> BaseFileLock:
    """Lock the store at `path` for this process, until it releases it or ends.

    Raises:
        StateError: another process has it, its folder cannot be written, or its file is a link.
    """
    lock_path = path.with_name(path.name + ".lock")
    check_plain(lock_path)
    try:
        if not path.parent.exists():  # of a job: for its owner alone
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
        fallback_to_soft=False,  # which outlives a killed process
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
    """Who has the lock, if anyone."""
    try:
        with lock_path.open("rb") as file:
            return file.read(20).decode("ascii", "replace").strip() or "unknown"
    except (FileNotFoundError, PermissionError):  # Windows lets no other process read it
        return "unknown"
