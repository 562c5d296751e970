"""The visits of a job and their latest changes, for its report."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dedup.changes import Change, Changes
from dedup.store import JobStore

_LISTED = 50
_VISITS = 100


def visits(store: JobStore) -> dict[str, Any]:
    """The last refreshes, and what the last one has changed; empty: there was none."""
    refreshes = store.refreshes.changes.refreshes()
    if not refreshes:
        return {}
    with TemporaryDirectory(prefix="dedup-") as folder:
        found = Changes(store, None, Path(folder))
        rows = list(islice(found.rows(), _LISTED + 1))
        listed = [{**each._asdict(), "history": _earlier(found, each)} for each in rows[:_LISTED]]
    return {
        "refreshes": [each._asdict() for each in refreshes[-_VISITS:]],
        "changes": listed,
        "has_more": len(rows) > _LISTED,
    }


def _earlier(found: Changes, change: Change) -> list[dict[str, Any]]:
    """What earlier visits found of a page; of a host, nothing."""
    return [each._asdict() for each in found.history(change.url) if each.seen_at < change.seen_at]
