"""A job's counts, read from its store.

The rows themselves are counted, so the counts always add up, after any number of restarts:
fetched = unique + duplicates by stage + skipped by reason + waiting.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from dedup.errors import DamageError
from dedup.preferences.declarations import from_json
from dedup.preferences.uses import labels
from dedup.revisits import freshness
from dedup.store.sql.store import JobStore

_TOP_HOSTS = 1000
_TOP_TEMPLATES = 20


_TOP_PREFERENCES = 100
_MAX_LABELS = 10_000
"""A site can make up a declaration for each of its pages."""


def summarise(store: JobStore) -> dict[str, Any]:
    """The part of `stats.json` that comes from the store, `pages` to `hosts`, as JSON values.

    `hosts` has the 1,000 hosts with the most pages, `preferences` the 100 declarations of the most
    pages, and those of the most hosts.

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
        "needs_rendering": stats.needs_rendering(),
        "rendering": _rendering(store),
        "failed": stats.failed(),
        "urls": stats.urls(),
        "refresh": stats.refreshed(),
        "freshness": _freshness(store),
        "preferences": _preferences(store),
        "hosts": stats.hosts(_TOP_HOSTS),
    }


def _rendering(store: JobStore) -> dict[str, Any]:
    """How pages were read, if some were rendered.

    spared: pages that the last refresh knew to be the same without a browser
    """
    found = store.learned.rendering.summary(_TOP_TEMPLATES)
    if found and (refresh := store.refreshes.current()):
        found["spared"] = store.learned.inputs.count_spared(refresh)
    return found


def _freshness(store: JobStore) -> dict[str, float | None]:
    """How fresh the stored pages are that their sites still have; empty: no refresh has begun."""
    if not store.refreshes.current():
        return {}
    histories, now = store.refreshes.histories, time.time()
    away = store.refreshes.changes.away(now)
    pages = (page for page in histories.histories() if page.url not in away)
    return freshness(pages, histories.intervals(), now)._asdict()


def _preferences(store: JobStore) -> dict[str, dict[str, int]]:
    """How many pages, and how many hosts, have each declaration of the use of pages."""
    found = store.learned.preferences
    hosts = ((value, 1) for *_, value in found.each_host())
    try:
        return {"pages": _counted(found.count_pages()), "hosts": _counted(hosts)}
    except ValueError as error:
        problem = f"what pages and hosts declare of their use is damaged ({error})"
        raise DamageError(store.location, problem) from error


def _counted(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for value, number in found:
        for label in set(labels(from_json(value))):
            if label in counts or len(counts) < _MAX_LABELS:
                counts[label] += number
    top = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return dict(top[:_TOP_PREFERENCES])
