"""The counts of a job, each taken from the rows themselves."""

from collections.abc import Iterable
from typing import Any

from dedup.store.records import TOO_DEEP
from dedup.store.results import Count, HostCounts, Refreshed, UrlCounts, WorkerRow
from dedup.store.sql.queries import SqlQueries

_BY_HOST = """
SELECT host, sum(u), sum(d), sum(s), sum(w), sum(size_bytes) FROM (
    SELECT host, 1 AS u, 0 AS d, 0 AS s, 0 AS w, size_bytes FROM pages
    UNION ALL SELECT host, 0, 1, 0, 0, size_bytes FROM duplicates
    UNION ALL SELECT host, 0, 0, 1, 0, size_bytes FROM skipped WHERE is_fetched
    UNION ALL SELECT host, 0, 0, 0, 1, size_bytes FROM waiting
) AS every GROUP BY host ORDER BY count(*) DESC, host LIMIT ?
"""
_DUPLICATES = """
SELECT stage, count(*), coalesce(sum(size_bytes), 0) FROM duplicates GROUP BY stage ORDER BY 1
"""
_SKIPPED = """
SELECT reason, count(*), coalesce(sum(size_bytes), 0) FROM skipped WHERE is_fetched
GROUP BY reason ORDER BY 1
"""
_FAILED = "SELECT reason, count(*) FROM skipped WHERE NOT is_fetched GROUP BY reason ORDER BY 1"


class SqlStatsQueries(SqlQueries):
    """Counts by what became of pages and URLs; names in alphabetical order."""

    def unique(self) -> Count:
        return self._count("SELECT count(*), coalesce(sum(size_bytes), 0) FROM pages")

    def duplicates(self) -> dict[str, Count]:
        """By stage."""
        return self._counts(_DUPLICATES)

    def skipped(self) -> dict[str, Count]:
        """Responses that gave no page to compare, by reason."""
        return self._counts(_SKIPPED)

    def failed(self) -> dict[str, int]:
        """URLs without a response, by reason."""
        return self._pairs(_FAILED)

    def waiting(self) -> Count:
        """Pages that wait until enough is known of their host."""
        return self._count("SELECT count(*), coalesce(sum(size_bytes), 0) FROM waiting")

    def kept_apart(self) -> int:
        """Pages that were kept for what they say beside a text that resembles another's."""
        count: int = self._value("SELECT count(*) FROM apart")
        return count

    def urls(self) -> UrlCounts:
        too_deep = self._value(f"SELECT count(*) FROM urls WHERE state = {TOO_DEEP}")  # noqa: S608 -- a constant
        return UrlCounts(
            seen=self._value("SELECT count(*) FROM urls") - too_deep,
            not_linked=self._value("SELECT count(*) FROM urls WHERE depth = 0"),
            queued=self._value("SELECT count(*) FROM urls WHERE state = 0"),
            aliases=self._value("SELECT count(*) FROM aliases"),
            too_deep=too_deep,
        )

    def counters(self) -> dict[str, int]:
        """What is counted and leaves no row of its own, by name."""
        return self._pairs("SELECT name, value FROM counters")

    def hosts(self, limit: int) -> list[HostCounts]:
        """The hosts with most pages, these first."""
        return list(self._each(HostCounts._make, _BY_HOST, (limit,)))

    def refreshed(self) -> Refreshed | None:
        """What the last refresh found; None: there was none."""
        row = self._first(tuple, "SELECT value FROM meta WHERE name = 'refresh'")
        if row is None:
            return None
        query = "SELECT outcome, count(*) FROM visits WHERE refresh = ? GROUP BY outcome"
        return Refreshed(int(row[0]), self._pairs(query, (int(row[0]),)))

    def fetched(self) -> int:
        """Records for which a response arrived."""
        count: int = self._value(
            "SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)"
            " + (SELECT count(*) FROM skipped WHERE is_fetched) + (SELECT count(*) FROM waiting)"
        )
        return count

    def pages(self) -> int:
        """Pages that are stored, duplicates, or wait for more to be known of their site."""
        count: int = self._value(
            "SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)"
            " + (SELECT count(*) FROM waiting)"
        )
        return count

    def workers(self) -> list[WorkerRow]:
        """The processes that share the job now, in the order in which they joined."""
        return []

    def _count(self, query: str) -> Count:
        return self._first(_as_count, query) or Count(0, 0)

    def _counts(self, query: str) -> dict[str, Count]:
        return {name: Count(n, int(size)) for name, n, size in self._each(tuple, query)}


def _as_count(row: Iterable[Any]) -> Count:
    number, size_bytes = row
    return Count(number, int(size_bytes))
