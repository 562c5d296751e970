"""A job's counts, read from its store.

Each is counted from the rows themselves, so the counts reconcile by construction and are the same
after any number of restarts: fetched = unique + duplicates by stage + skipped by reason + waiting.
"""

from collections.abc import Mapping
from typing import Any

from dedup.store.results import Count
from dedup.store.sql.store import JobStore

_TOP_HOSTS = 1000


def summarise(store: JobStore) -> dict[str, Any]:
    """The part of `stats.json` that the store knows, from `pages` to `hosts` (plain JSON values).

    `hosts` lists the 1,000 hosts with most pages.

    Raises:
        StateError: the store is damaged.
    """
    stats = store.stats
    counts = stats.unique(), stats.duplicates(), stats.skipped(), stats.waiting()
    urls, counters, refreshed = stats.urls(), stats.counters(), stats.refreshed()
    return {
        "pages": _parts(*counts, column=0),
        "bytes": _parts(*counts, column=1),
        "kept_apart": stats.kept_apart(),
        "failed": stats.failed(),
        "urls": {
            "seen": urls.seen,
            "queued": urls.queued,
            "filtered": max(counters.get("links", 0) - (urls.seen - urls.not_linked), 0),
            "too_deep": urls.too_deep,
            "nofollow": counters.get("nofollow", 0),
            "aliases": urls.aliases,
        },
        "refresh": {} if refreshed is None else {"number": refreshed.number, **refreshed.outcomes},
        "hosts": [
            {
                "host": each.host,
                "unique": each.unique,
                "duplicates": each.duplicates,
                "skipped": each.skipped,
                "waiting": each.waiting,
                "bytes": each.size_bytes,
            }
            for each in stats.hosts(_TOP_HOSTS)
        ],
    }


def _parts(
    unique: Count,
    duplicates: Mapping[str, Count],
    skipped: Mapping[str, Count],
    waiting: Count,
    *,
    column: int,
) -> dict[str, Any]:
    """Pages (column 0), or bytes (column 1), by what became of them."""
    by_stage = {stage: count[column] for stage, count in duplicates.items()}
    by_reason = {reason: count[column] for reason, count in skipped.items()}
    found = [unique[column], *by_stage.values(), *by_reason.values(), waiting[column]]
    return {
        "fetched": sum(found),
        "unique": unique[column],
        "duplicates": by_stage,
        "skipped": by_reason,
        "waiting": waiting[column],
    }
