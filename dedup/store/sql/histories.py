"""What the visits of each page have found, for the choice of those that are visited first."""

from collections.abc import Iterator

from dedup.revisits import PageHistory
from dedup.store.sql.database import Queries

_HISTORIES = """
WITH answers AS (
    SELECT url, refresh, seen_at, CASE WHEN outcome IN ('changed', 'back') THEN 1 ELSE 0 END AS new,
        lag(seen_at) OVER (PARTITION BY url ORDER BY refresh) AS before
    FROM visits WHERE outcome IN ('unchanged', 'changed', 'template', 'back', 'gone', 'moved')
), firsts AS (
    SELECT page, min(fetched_at) AS fetched_at FROM versions GROUP BY page
), known AS (
    SELECT r.number, r.url, r.fetched_at AS now_at, f.page IS NOT NULL AS has_changed,
        coalesce(f.fetched_at, r.fetched_at) AS first_at
    FROM pages AS r LEFT JOIN firsts AS f ON f.page = r.number WHERE r.url IS NOT NULL
), found AS (
    SELECT k.number, sum(a.new) AS n_changed, max(a.seen_at) - max(k.first_at) AS seen,
        sum(a.new * (a.seen_at - coalesce(a.before, k.first_at))) AS changed,
        max(a.refresh) AS answered
    FROM known AS k JOIN answers AS a ON a.url = k.url GROUP BY k.number
), asked AS (
    SELECT url, max(seen_at) AS at, max(CASE WHEN outcome = 'missing' THEN refresh END) AS missing
    FROM visits GROUP BY url
), pages_known AS (
    SELECT k.number, k.url, k.now_at, k.first_at, k.has_changed,
        coalesce(f.n_changed, 0) AS n_changed,
        coalesce(f.changed, 0) AS changed, coalesce(f.seen, 0) AS seen,
        coalesce(a.at, k.now_at) AS at,
        coalesce(a.missing > coalesce(f.answered, 0), {false}) AS due
    FROM known AS k
    LEFT JOIN found AS f ON f.number = k.number
    LEFT JOIN asked AS a ON a.url = k.url
)
SELECT url, n_changed, changed, seen, at, first_at, due, {false} FROM pages_known
UNION ALL
SELECT d.url, k.n_changed, k.changed, k.seen, coalesce(a.at, d.fetched_at),
    d.fetched_at, k.has_changed AND k.now_at > d.fetched_at, {true}
FROM duplicates AS d JOIN pages_known AS k ON k.number = d.original
LEFT JOIN asked AS a ON a.url = d.url WHERE d.url IS NOT NULL
"""


_BEGAN = "SELECT seen_at FROM visits WHERE url = '' ORDER BY refresh"

_VISITS = """
SELECT v.url, v.refresh, CASE WHEN v.outcome IN ('changed', 'back') THEN 1 ELSE 0 END
FROM visits AS v JOIN pages AS r ON r.url = v.url
WHERE v.outcome IN ('unchanged', 'changed', 'template', 'back', 'gone', 'moved')
ORDER BY v.refresh
"""


class HistoryQueries(Queries):
    """The histories of a job's pages."""

    def began(self) -> list[float]:
        """When the first crawl began, and each refresh."""
        started = float(self._database.meta("started") or 0)
        return [started, *(float(each) for (each,) in self._database.all(_BEGAN))]

    def histories(self) -> Iterator[PageHistory]:
        """Of each page and duplicate. A duplicate changes as often as its original."""
        query = _HISTORIES.format(false="(1 = 0)", true="(1 = 1)")
        for url, n_changed, *times, is_due, is_duplicate in self._database.each(query):
            changed, seen, asked_at, first_at = (max(0.0, float(each)) for each in times)
            yield PageHistory(
                *(url, int(n_changed), changed, seen, asked_at, first_at),
                is_due=bool(is_due),
                is_duplicate=bool(is_duplicate),
            )

    def visits(self) -> Iterator[tuple[str, int, bool]]:
        """The answers of stored pages by refresh: URL, number of the refresh, has it changed?"""
        for url, refresh, has_changed in self._database.each(_VISITS):
            yield url, int(refresh), bool(has_changed)
