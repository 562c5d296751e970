"""What a report shows of a job, read from its store: all its queries are here.

Counts are exact. Lists are bounded, so that a report of millions of pages still opens at once;
`listed` tells how much of the whole is in them.
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import zstandard

from dedup.report.differences import Part, differences
from dedup.report.patterns import MAX_RECORDS, duplicate_patterns
from dedup.store.database import reporting
from dedup.store.summary import summarise

MAX_DUPLICATES = 50_000
"""Duplicates in the list, those of lowest resemblance: 1.5 MB of the file."""

MAX_COMPARED = 600
"""Pairs of texts whose differences are marked: half a second to a few."""

MAX_EXCERPTS = 2_000
"""Groups, the largest, whose original is shown by its beginning."""

MAX_HOSTS = 12
TIME_STEPS = 120
_EXCERPT_LENGTH = 400
_RESEMBLANCE_STEPS = 50

_TIMES = """
SELECT fetched_at AS at, 1 AS is_unique, 0 AS is_duplicate FROM pages
UNION ALL SELECT fetched_at, 0, 1 FROM duplicates
UNION ALL SELECT seen_at, 0, 0 FROM skipped WHERE is_fetched
"""
_LISTED = """
SELECT d.number, d.original, d.url, d.host, d.title, d.stage, d.distance, d.resemblance
FROM duplicates AS d ORDER BY coalesce(d.resemblance, 1), d.number LIMIT ?
"""


def report_data(connection: Connection) -> dict[str, Any]:
    """Everything that the page is made of, as plain JSON values.

    Texts, titles and URLs in it are the crawled pages' own.

    Raises:
        StateError: the store is damaged.
    """
    with reporting(Path(connection.execute("PRAGMA database_list").fetchone()[2])):
        return {
            "summary": summarise(connection),
            "meta": dict(connection.execute("SELECT name, value FROM meta")),
            "times": _times(connection),
            "resemblances": _resemblances(connection),
            "distances": _distances(connection),
            "lowest_resemblance": _value(connection, "SELECT min(resemblance) FROM duplicates"),
            "group_sizes": _group_sizes(connection),
            "patterns": [asdict(pattern) for pattern in duplicate_patterns(connection)],
            "pattern_records": MAX_RECORDS,
            "groups": _groups(connection),
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


def _groups(connection: Connection) -> dict[str, Any]:
    """Originals with their duplicates; what rows hold is named in `originals` and `duplicates`."""
    rows = connection.execute(_LISTED, (MAX_DUPLICATES,)).fetchall()
    compared = dict(_compared(connection, _worth_comparing(rows)))
    by_original = sorted(rows, key=lambda row: row[1])  # of each the least alike first
    groups = [
        (original, list(members))
        for original, members in groupby(by_original, key=lambda row: row[1])
    ]
    groups.sort(key=lambda group: -len(group[1]))
    totals = dict(connection.execute("SELECT original, count(*) FROM duplicates GROUP BY original"))
    hosts, stages = _Names(), _Names()
    return {
        "originals": [
            [
                *_original(connection, hosts, original, is_shown=place < MAX_EXCERPTS),
                len(members),
                totals[original],
            ]
            for place, (original, members) in enumerate(groups)
        ],
        "duplicates": [
            [url, hosts[host], title, stages[stage], distance, resemblance, compared.get(number)]
            for _, members in groups
            for number, _, url, host, title, stage, distance, resemblance in members
        ],
        "hosts": list(hosts),
        "stages": list(stages),
        "listed": len(rows),
        "compared": len(compared),
    }


class _Names(dict[str, int]):
    """Numbers names in the order in which they are met."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _original(
    connection: Connection, hosts: _Names, number: int, *, is_shown: bool
) -> tuple[str | None, int, str, str, str]:
    url, host, title, language = connection.execute(
        "SELECT url, host, title, language FROM pages WHERE number = ?", (number,)
    ).fetchone()
    excerpt = _text(connection, number, "pages")[:_EXCERPT_LENGTH] if is_shown else ""
    return url or f"#{number}", hosts[host], title, language, excerpt


def _worth_comparing(rows: list[Any]) -> list[tuple[int, int]]:
    """(duplicate, original): half the pairs of lowest resemblance, half evenly from the others.

    Equal bodies need no comparing.
    """
    pairs = [(row[0], row[1]) for row in rows if row[5] != "body"]
    lowest, rest = pairs[: MAX_COMPARED // 2], pairs[MAX_COMPARED // 2 :]
    step = max(1, -(-len(rest) // (MAX_COMPARED - MAX_COMPARED // 2)))
    return lowest + rest[::step]


def _compared(
    connection: Connection, pairs: list[tuple[int, int]]
) -> Iterator[tuple[int, list[Part]]]:
    for duplicate, original in pairs:
        first = _text(connection, original, "pages")
        second = _text(connection, duplicate, "duplicates")
        yield duplicate, differences(first, second)


def _text(connection: Connection, number: int, table: str) -> str:
    query = f"SELECT text FROM {table} WHERE number = ?"  # noqa: S608 -- one of two words
    (compressed,) = connection.execute(query, (number,)).fetchone()
    return zstandard.decompress(compressed).decode(errors="replace")
