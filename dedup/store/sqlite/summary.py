"""A job's counts, read from its store.

Each is counted from the rows themselves, so the counts reconcile by construction and are the same
after any number of restarts: fetched = unique + duplicates by stage + skipped by reason + waiting.
"""

from collections.abc import Iterable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from dedup.store.sqlite.errors import reporting

_TOP_HOSTS = 1000

_BY_HOST = """
SELECT host, sum(u), sum(d), sum(s), sum(w), sum(size_bytes) FROM (
    SELECT host, 1 AS u, 0 AS d, 0 AS s, 0 AS w, size_bytes FROM pages
    UNION ALL SELECT host, 0, 1, 0, 0, size_bytes FROM duplicates
    UNION ALL SELECT host, 0, 0, 1, 0, size_bytes FROM skipped WHERE is_fetched
    UNION ALL SELECT host, 0, 0, 0, 1, size_bytes FROM waiting
) GROUP BY host ORDER BY count(*) DESC, host LIMIT ?
"""


def summarise(connection: Connection) -> dict[str, Any]:
    """The part of `stats.json` that the store knows, from `pages` to `hosts` (plain JSON values).

    `hosts` lists the 1,000 hosts with most pages.

    Raises:
        StateError: the store is damaged.
    """
    with reporting(Path(connection.execute("PRAGMA database_list").fetchone()[2])):
        return _summarise(connection)


def _summarise(connection: Connection) -> dict[str, Any]:
    unique, unique_bytes = _one(connection, "SELECT count(*), total(size_bytes) FROM pages")
    duplicates = _groups(
        connection, "SELECT stage, count(*), total(size_bytes) FROM duplicates GROUP BY stage"
    )
    skipped = _groups(
        connection,
        "SELECT reason, count(*), total(size_bytes) FROM skipped WHERE is_fetched GROUP BY reason",
    )
    failed = _groups(
        connection, "SELECT reason, count(*), 0 FROM skipped WHERE NOT is_fetched GROUP BY reason"
    )
    waiting = _one(connection, "SELECT count(*), total(size_bytes) FROM waiting")
    seen = _one(connection, "SELECT count(*) FROM urls")[0]
    found_by_links = seen - _one(connection, "SELECT count(*) FROM urls WHERE depth = 0")[0]
    counters = dict(connection.execute("SELECT name, value FROM counters"))
    return {
        "pages": _parts(unique, duplicates, skipped, waiting, column=0),
        "bytes": _parts(unique_bytes, duplicates, skipped, waiting, column=1),
        "failed": {reason: count for reason, (count, _) in failed.items()},
        "urls": {
            "seen": seen,
            "queued": _one(connection, "SELECT count(*) FROM urls WHERE state = 0")[0],
            "filtered": max(counters.get("links", 0) - found_by_links, 0),
            "nofollow": counters.get("nofollow", 0),
            "aliases": _one(connection, "SELECT count(*) FROM aliases")[0],
        },
        "refresh": _refresh(connection),
        "hosts": [
            {"host": host, "unique": u, "duplicates": d, "skipped": s, "waiting": w, "bytes": b}
            for host, u, d, s, w, b in connection.execute(_BY_HOST, (_TOP_HOSTS,))
        ],
    }


def _refresh(connection: Connection) -> dict[str, int]:
    """What the last refresh found; empty where there was none."""
    number = connection.execute("SELECT value FROM meta WHERE name = 'refresh'").fetchone()
    if number is None:
        return {}
    query = "SELECT outcome, count(*) FROM visits WHERE refresh = ? GROUP BY outcome"
    return {"number": int(number[0]), **dict(connection.execute(query, (int(number[0]),)))}


def _one(connection: Connection, query: str) -> list[int]:
    return [int(value) for value in connection.execute(query).fetchone()]


def _groups(connection: Connection, query: str) -> dict[str, tuple[int, int]]:
    rows: Iterable[tuple[str, int, float]] = connection.execute(query + " ORDER BY 1")
    return {name: (count, int(size)) for name, count, size in rows}


def _parts(
    unique: int,
    duplicates: dict[str, tuple[int, int]],
    skipped: dict[str, tuple[int, int]],
    waiting: list[int],
    *,
    column: int,
) -> dict[str, Any]:
    by_stage = {stage: values[column] for stage, values in duplicates.items()}
    by_reason = {reason: values[column] for reason, values in skipped.items()}
    return {
        "fetched": unique + sum(by_stage.values()) + sum(by_reason.values()) + waiting[column],
        "unique": unique,
        "duplicates": by_stage,
        "skipped": by_reason,
        "waiting": waiting[column],
    }
