"""A job's counts, read from its store.

The rows themselves are counted, so the counts always add up, after any number of restarts:
fetched = unique + duplicates by stage + skipped by reason + waiting.
"""

from typing import Any

from dedup.store.sql.store import JobStore

_TOP_HOSTS = 1000


def summarise(store: JobStore) -> dict[str, Any]:
    """The part of `stats.json` that comes from the store, `pages` to `hosts`, as JSON values.

    `hosts` has the 1,000 hosts with the most pages.

    Raises:
        StateError: the store is damaged.
    """
    stats = store.stats
    unique, waiting = stats.unique(), stats.waiting()
    duplicates, skipped = stats.duplicates(), stats.skipped()

    def parts(column: int) -> dict[str, Any]:
        """Pages (column 0) or bytes (column 1) by outcome."""
        counts = [unique, *duplicates.values(), *skipped.values(), waiting]
        return {
            "fetched": sum(count[column] for count in counts),
            "unique": unique[column],
            "duplicates": {stage: count[column] for stage, count in duplicates.items()},
            "skipped": {reason: count[column] for reason, count in skipped.items()},
            "waiting": waiting[column],
        }

    return {
        "pages": parts(0),
        "bytes": parts(1),
        "kept_apart": stats.kept_apart(),
        "failed": stats.failed(),
        "urls": stats.urls(),
        "refresh": stats.refreshed(),
        "hosts": stats.hosts(_TOP_HOSTS),
    }
