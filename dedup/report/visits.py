"""The visits of a job and their latest changes, for its report."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dedup.changes import Changes
from dedup.store import JobStore

_LISTED = 50
_VISITS = 100


def visits(store: JobStore) -> dict[str, Any]:
    """The last refreshes, and what the last one has changed; empty: there was none."""
    refreshes = store.refreshes.changes.refreshes()
    if not refreshes:
        return {}
    with TemporaryDirectory(prefix="dedup-") as folder:
        rows = list(islice(Changes(store, None, Path(folder)).rows(), _LISTED + 1))
    return {
        "refreshes": [each._asdict() for each in refreshes[-_VISITS:]],
        "changes": [each._asdict() for each in rows[:_LISTED]],
        "has_more": len(rows) > _LISTED,
    }
