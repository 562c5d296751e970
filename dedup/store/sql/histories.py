"""What the visits of each page have found, for the choice of those that are visited first."""

import heapq
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from math import inf
from typing import Any

from dedup.revisits import Interval, PageHistory, PageText
from dedup.store.sql.changes import ChangeQueries
from dedup.store.sql.database import Queries
from dedup.store.sql.retention import ANSWERS, SUMMED_UP, WHOLE

_MAX_TEXTS = 100_000
"""Of the pages that were found first: their number bounds how long a refresh takes to begin."""

_INTERVALS = f"""
WITH answers AS (
    SELECT url, refresh, seen_at, CASE WHEN outcome IN ('changed', 'back') THEN 1 ELSE 0 END AS new,
        lag(seen_at) OVER (PARTITION BY url ORDER BY refresh) AS before
    FROM visits WHERE refresh > {{summed_up}} AND outcome IN {ANSWERS}
), firsts AS (
    SELECT page, min(fetched_at) AS fetched_at FROM versions GROUP BY page
), known AS (
    SELECT r.number, r.url, length(r.text) AS size, r.fetched_at AS now_at,
        coalesce(s.first_at, f.fetched_at, r.fetched_at) AS first_at,
        s.n_changed, s.changed_seconds, s.answered_at, s.asked_at, s.outcome
    FROM pages AS r LEFT JOIN firsts AS f ON f.page = r.number
    LEFT JOIN visited AS s ON s.url = r.url WHERE r.url IS NOT NULL
), intervals AS (
    SELECT k.number, k.url, a.refresh, a.seen_at, a.new,
        a.seen_at - coalesce(a.before, k.answered_at, k.first_at) AS seconds
    FROM known AS k JOIN answers AS a ON a.url = k.url
)
"""  # noqa: S608 -- constants
_HISTORIES = """
, found AS (
    SELECT number, sum(new) AS n_changed, max(seen_at) AS answered_at,
        sum(new * seconds) AS changed, max(refresh) AS answered
    FROM intervals GROUP BY number
), asked AS (
    SELECT url, max(seen_at) AS at, max(CASE WHEN outcome = 'missing' THEN refresh END) AS missing
    FROM visits WHERE refresh > {summed_up} GROUP BY url
), pages_known AS (
    SELECT k.number, k.url, k.size, k.now_at, k.first_at,
        coalesce(k.n_changed, 0) + coalesce(f.n_changed, 0) AS n_changed,
        coalesce(k.changed_seconds, 0) + coalesce(f.changed, 0) AS changed,
        coalesce(f.answered_at, k.answered_at, k.first_at) - k.first_at AS seen,
        coalesce(a.at, k.asked_at, k.now_at) AS at,
        coalesce(a.missing > coalesce(f.answered, 0),
            f.answered IS NULL AND k.outcome = 'missing', {false}) AS due
    FROM known AS k
    LEFT JOIN found AS f ON f.number = k.number
    LEFT JOIN asked AS a ON a.url = k.url
)
SELECT url, n_changed, changed, seen, at, first_at, size, due, {false} FROM pages_known
UNION ALL
SELECT d.url, k.n_changed, k.changed, k.seen, coalesce(a.at, s.asked_at, d.fetched_at),
    d.fetched_at, k.size, k.first_at < k.now_at AND k.now_at > d.fetched_at, {true}
FROM duplicates AS d JOIN pages_known AS k ON k.number = d.original
LEFT JOIN asked AS a ON a.url = d.url
LEFT JOIN visited AS s ON s.url = d.url WHERE d.url IS NOT NULL
"""
_BEGAN = "SELECT refresh, seen_at FROM visits WHERE url = ''"

_VISITS = f"""
SELECT v.url, v.refresh, CASE WHEN v.outcome IN ('changed', 'back') THEN 1 ELSE 0 END, v.seen_at
FROM visits AS v JOIN pages AS r ON r.url = v.url
WHERE v.refresh > ? AND v.outcome IN {ANSWERS}
ORDER BY v.refresh
"""  # noqa: S608 -- constants
_TEXTS = """
SELECT number, fetched_at, url, text FROM pages WHERE url IS NOT NULL ORDER BY number LIMIT ?
"""
_OLD_TEXTS = """
SELECT v.page, v.fetched_at, r.url, v.text FROM versions AS v JOIN pages AS r ON r.number = v.page
LEFT JOIN (SELECT page, max(fetched_at) AS at FROM versions WHERE fetched_at <= ? GROUP BY page)
    AS then_current ON then_current.page = v.page
WHERE r.url IS NOT NULL AND r.fetched_at > ? AND v.fetched_at >= coalesce(then_current.at, 0)
ORDER BY v.page, v.fetched_at
"""


class HistoryQueries(Queries):
    """The histories of a job's pages."""

    def began(self) -> list[float]:
        """When the first crawl began, and each refresh by its number; forgotten ones with it."""
        started = float(self._database.meta("started") or 0)
        found = dict(self._database.all(_BEGAN))
        numbers = range(1, max(found, default=0) + 1)
        return [started, *(float(found.get(number, started)) for number in numbers)]

    def histories(self) -> Iterator[PageHistory]:
        """Of each page and duplicate. A duplicate changes as often as its original."""
        away = ChangeQueries(self._database).away(inf)
        for url, n_changed, *times, is_due, is_duplicate in self._each(_HISTORIES):
            changed, seen, asked_at, first_at, size = (max(0.0, float(each)) for each in times)
            yield PageHistory(
                *(url, int(n_changed), changed, seen, asked_at, first_at),
                is_due=bool(is_due),
                is_duplicate=bool(is_duplicate),
                away_at=away[url].seen_at if url in away else None,
                size=size,
            )

    def visits(self) -> Iterator[tuple[str, int, bool, float]]:
        """The answers of stored pages by refresh: URL, number of the refresh, has it changed, when?

        Those of which the rows are kept.
        """
        for url, refresh, has_changed, at in self._database.each(_VISITS, (self._summed_up(),)):
            yield url, int(refresh), bool(has_changed), float(at)

    def texts(self) -> Iterator[PageText]:
        """The texts of pages since the refreshes whose visits are kept, as `PageText` has them."""
        since = self.began()[-WHOLE:][0]
        rows = heapq.merge(
            self._database.each(_TEXTS, (_MAX_TEXTS,)),
            self._database.each(_OLD_TEXTS, (since, since)),
            key=lambda row: (row[0], row[1]),
        )
        for row, after in pairwise(chain(islice(rows, _MAX_TEXTS), [None])):
            number, at, url, text = row
            until = after[1] if after is not None and after[0] == number else inf
            yield PageText(url, float(at), float(until), self._database.text(number, text))

    def intervals(self) -> Iterator[Interval]:
        """What lies between the visits of pages, of the visits whose rows are kept."""
        for url, seconds, is_changed in self._each("SELECT url, seconds, new FROM intervals"):
            yield Interval(url, max(0.0, float(seconds)), bool(is_changed))

    def _each(self, query: str) -> Iterator[Any]:
        values = {"summed_up": self._summed_up(), "false": "(1 = 0)", "true": "(1 = 1)"}
        return self._database.each((_INTERVALS + query).format(**values))

    def _summed_up(self) -> int:
        return int(self._database.meta(SUMMED_UP) or 0)
