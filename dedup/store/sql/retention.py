"""Sums up what old visits of pages found, so that a job that is refreshed for years stays small.

The rows of the last `WHOLE` refreshes are kept. Of those before, `visited` has for each page what
the choice of pages needs, `visit_counts` how many pages had each outcome; only rows remain that
tell when a page went, moved and came back. These, the counts, and versions of pages are deleted
when they are older than the history is kept, except what was current at its beginning.
"""

import time
from contextlib import suppress

from dedup.store.sql.database import Connection, Queries
from dedup.times import iso_time

WHOLE = 64
"""Freshness is measured over them, and a budget learns from them which folders change (see
`dedup.revisits.plan`). If each visits 10,000 pages, they take 50 MB."""

GONE = "'gone', 'gone: noindex', 'gone: not_html'"
TURNS = f"({GONE}, 'moved', 'back')"
ANSWERS = f"({GONE}, 'moved', 'back', 'unchanged', 'changed', 'template')"

SUMMED_UP = "visits summed up"
"""The name in `meta` of the last refresh whose rows are summed up."""

_KEPT_SINCE = "history kept since"

_COUNT = """
INSERT INTO visit_counts
SELECT v.refresh, coalesce(r.host, ''), v.outcome, count(*)
FROM visits AS v LEFT JOIN pages AS r ON r.url = v.url
WHERE v.refresh = ? AND v.url <> '' GROUP BY v.refresh, coalesce(r.host, ''), v.outcome
"""
_BEGAN = """
INSERT INTO visits SELECT refresh, '', 'began', min(seen_at) FROM visits WHERE refresh = ?
GROUP BY refresh ON CONFLICT DO NOTHING
"""
_REPEATED = f"""
SELECT v.refresh, v.url FROM visits AS v JOIN visited AS s ON s.url = v.url
WHERE v.refresh = ? AND v.outcome IN {TURNS} AND v.outcome = s.outcome
"""  # noqa: S608 -- constants
_FIRSTS = """
SELECT r.url, min(coalesce(v.fetched_at, r.fetched_at)) AS at
FROM pages AS r LEFT JOIN versions AS v ON v.page = r.number WHERE r.url IS NOT NULL GROUP BY r.url
"""
_SUM_UP = f"""
INSERT INTO visited
SELECT v.url, CASE WHEN substr(v.outcome, 1, 6) <> 'failed' THEN v.outcome END, v.seen_at,
    CASE WHEN v.outcome IN {ANSWERS} THEN v.seen_at END,
    CASE WHEN v.outcome IN ('changed', 'back') THEN 1 ELSE 0 END,
    CASE WHEN v.outcome IN ('changed', 'back')
        THEN v.seen_at - coalesce(s.answered_at, s.first_at, f.at, v.seen_at) ELSE 0 END, NULL
FROM visits AS v LEFT JOIN visited AS s ON s.url = v.url LEFT JOIN ({_FIRSTS}) AS f ON f.url = v.url
WHERE v.refresh = ? AND v.url <> ''
ON CONFLICT (url) DO UPDATE SET outcome = coalesce(excluded.outcome, visited.outcome),
    asked_at = excluded.asked_at,
    answered_at = coalesce(excluded.answered_at, visited.answered_at),
    n_changed = visited.n_changed + excluded.n_changed,
    changed_seconds = visited.changed_seconds + excluded.changed_seconds
"""  # noqa: S608 -- constants
_FORGET = f"DELETE FROM visits WHERE refresh = ? AND url <> '' AND outcome NOT IN {TURNS}"  # noqa: S608 -- constants

_OLD_VERSIONS = """
SELECT v.page, v.fetched_at FROM versions AS v JOIN (
    SELECT page, max(fetched_at) AS at FROM (
        SELECT page, fetched_at FROM versions UNION ALL SELECT number, fetched_at FROM pages
    ) AS every WHERE fetched_at <= :since GROUP BY page
) AS then_current ON then_current.page = v.page AND v.fetched_at < then_current.at
"""
_KEEP_FIRSTS = f"""
INSERT INTO visited (url, n_changed, changed_seconds, first_at)
SELECT r.url, 0, 0, min(v.fetched_at) FROM versions AS v JOIN pages AS r ON r.number = v.page
WHERE r.url IS NOT NULL AND (v.page, v.fetched_at) IN ({_OLD_VERSIONS}) GROUP BY r.url
ON CONFLICT (url) DO UPDATE SET first_at = coalesce(visited.first_at, excluded.first_at)
"""  # noqa: S608 -- constants
_DROP_VERSIONS = f"DELETE FROM versions WHERE (page, fetched_at) IN ({_OLD_VERSIONS})"  # noqa: S608 -- constants
_DROP_TURNS = f"""
DELETE FROM visits WHERE outcome IN {TURNS} AND refresh <= :last AND seen_at <= :since
AND (outcome = 'back' OR (url, refresh) NOT IN (
    SELECT url, max(refresh) FROM visits
    WHERE outcome IN {TURNS} AND refresh <= :last AND seen_at <= :since GROUP BY url))
"""  # noqa: S608 -- constants
_LAST_BEFORE = "SELECT max(refresh) FROM visits WHERE url = '' AND seen_at <= ?"


class Retention(Queries):
    """What is kept of old visits."""

    def summed_up(self) -> int:
        """The number of the last refresh whose rows are summed up; 0: none is."""
        return int(self._database.meta(SUMMED_UP) or 0)

    def sum_up(self, history_days: float) -> None:
        """At the end of a refresh, sum up rows of old ones, and delete what is older than the days.

        0 days: delete nothing of what pages were.
        """
        last = int(self._database.meta("refresh") or 0) - WHOLE
        with self._database.unit(weight=0) as connection:
            first = self.summed_up() + 1
            for refresh in range(first, last + 1):
                self._sum_up_one(connection, refresh)
            if last >= first:
                self._database.set_meta(SUMMED_UP, str(last))
            if history_days:
                self._drop(connection, time.time() - 86_400 * history_days)

    def check(self, since: float) -> None:
        """Check that what has changed since a time can be told.

        Raises:
            ValueError: it cannot, because what pages were then is deleted.
        """
        kept, started = 0.0, 0.0
        with suppress(ValueError):
            kept = float(self._database.meta(_KEPT_SINCE) or 0)
            started = float(self._database.meta("started") or 0)
        if started <= since < kept:
            raise ValueError(
                f"the job's history is kept since {iso_time(kept)}, got {iso_time(since)};"
                " DEDUP_HISTORY_DAYS says for how long"
            )

    def _sum_up_one(self, connection: Connection, refresh: int) -> None:
        repeated = connection.execute(_REPEATED, (refresh,)).fetchall()
        for query in (_COUNT, _BEGAN, _SUM_UP, _FORGET):
            connection.execute(query, (refresh,))
        connection.executemany("DELETE FROM visits WHERE refresh = ? AND url = ?", repeated)

    def _drop(self, connection: Connection, since: float) -> None:
        values = {"since": since, "last": self.summed_up()}
        self._database.set_meta(_KEPT_SINCE, repr(since))
        for query in (_KEEP_FIRSTS, _DROP_VERSIONS, _DROP_TURNS):
            connection.execute(query, values)
        # `Changes` looks for copies since the refresh before the one that it begins with.
        before = (self._database.value(_LAST_BEFORE, (since,)) or 0) - 2
        before = min(before, self.summed_up())
        connection.execute("DELETE FROM visit_counts WHERE refresh <= ?", (before,))
        connection.execute("DELETE FROM visits WHERE url = '' AND refresh <= ?", (before,))
