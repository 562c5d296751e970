"""What a report shows of a job: exact counts, and lists that are bounded (see `listing`)."""

from dataclasses import asdict
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from dedup.report.left_out import site_templates
from dedup.report.listing import listed_groups
from dedup.report.names import aliases, other_names
from dedup.report.patterns import MAX_RECORDS, duplicate_patterns, together
from dedup.store.sqlite.errors import reporting
from dedup.store.sqlite.summary import summarise

TIME_STEPS = 120
_RESEMBLANCE_STEPS = 50

_TIMES = """
SELECT fetched_at AS at, 1 AS is_unique, 0 AS is_duplicate FROM pages
UNION ALL SELECT fetched_at, 0, 1 FROM duplicates
UNION ALL SELECT seen_at, 0, 0 FROM skipped WHERE is_fetched
UNION ALL SELECT fetched_at, 0, 0 FROM waiting
"""

_SOURCES = "SELECT source, count(*) FROM pages GROUP BY source ORDER BY source"


def report_data(connection: Connection) -> dict[str, Any]:
    """Everything that the page is made of, as plain JSON values.

    Texts, titles and URLs in it are the crawled pages' own.

    Raises:
        StateError: the store is damaged.
    """
    patterns = duplicate_patterns(connection)
    joint = together(connection, patterns)
    with reporting(Path(connection.execute("PRAGMA database_list").fetchone()[2])):
        templates = site_templates(connection)
        places = {(each["host"], each["number"]): place for place, each in enumerate(templates)}
        return {
            "summary": summarise(connection),
            "names": asdict(other_names(connection)),
            "aliases": asdict(aliases(connection)),
            "templates": templates,
            "sources": dict(connection.execute(_SOURCES)),
            "meta": dict(connection.execute("SELECT name, value FROM meta")),
            "times": _times(connection),
            "resemblances": _resemblances(connection),
            "distances": _distances(connection),
            "lowest_resemblance": _value(connection, "SELECT min(resemblance) FROM duplicates"),
            "group_sizes": _group_sizes(connection),
            "patterns": [asdict(pattern) for pattern in patterns],
            "together": joint and asdict(joint),
            "pattern_records": MAX_RECORDS,
            "groups": listed_groups(connection, places),
        }


def _value(connection: Connection, query: str) -> Any:
    return connection.execute(query).fetchone()[0]


def _times(connection: Connection) -> dict[str, Any]:
    """Pages by equal steps of time; `start` in seconds since 1970, `step` in seconds."""
    start, end = connection.execute(f"SELECT min(at), max(at) FROM ({_TIMES})").fetchone()  # noqa: S608 -- our own text
    if start is None:
        return {"start": 0.0, "step": 1.0, "fetched": [], "unique": [], "duplicates": []}
    step = max((end - start) / TIME_STEPS, 0.1)
    fetched, unique, duplicates = ([0] * (int((end - start) / step) + 1) for _ in range(3))
    query = (
        "SELECT cast((at - ?) / ? AS INTEGER) AS place, count(*), sum(is_unique),"  # noqa: S608
        f" sum(is_duplicate) FROM ({_TIMES}) GROUP BY place"
    )
    for place, *counts in connection.execute(query, (start, step)):
        fetched[place], unique[place], duplicates[place] = counts
    return {
        "start": start,
        "step": step,
        "fetched": fetched,
        "unique": unique,
        "duplicates": duplicates,
    }


def _resemblances(connection: Connection) -> list[int]:
    """Duplicates by resemblance in steps of 0.02; the last place holds those of exactly 1."""
    counts = [0] * (_RESEMBLANCE_STEPS + 1)
    query = (
        "SELECT cast(resemblance * ? + 1e-9 AS INTEGER) AS place, count(*) FROM duplicates"
        " WHERE resemblance IS NOT NULL GROUP BY place"
    )
    for place, count in connection.execute(query, (_RESEMBLANCE_STEPS,)):
        counts[place] = count
    return counts


def _distances(connection: Connection) -> dict[int, int]:
    query = (
        "SELECT distance, count(*) FROM duplicates WHERE distance IS NOT NULL"
        " GROUP BY distance ORDER BY distance"
    )
    return dict(connection.execute(query))


def _group_sizes(connection: Connection) -> dict[int, int]:
    """How many pages have so many duplicates."""
    query = (
        "SELECT size, count(*) FROM (SELECT count(*) AS size FROM duplicates GROUP BY original)"
        " GROUP BY size ORDER BY size"
    )
    return dict(connection.execute(query))
