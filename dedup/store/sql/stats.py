"""The counts of a job, each taken from the rows themselves."""

from dedup.store.records import TOO_DEEP
from dedup.store.results import Count, HostCounts, Refreshed, UrlCounts, WorkerRow
from dedup.store.sql.database import Queries

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
_FETCHED_BY_HOST = """
SELECT host, count(*) FROM (
    SELECT host FROM pages UNION ALL SELECT host FROM duplicates
    UNION ALL SELECT host FROM skipped WHERE is_fetched UNION ALL SELECT host FROM waiting
) AS every GROUP BY host
"""
_FAILED = "SELECT reason, count(*) FROM skipped WHERE NOT is_fetched GROUP BY reason ORDER BY 1"


class StatsQueries(Queries):
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
        return self._database.pairs(_FAILED)

    def waiting(self) -> Count:
        """Pages that wait until enough is known of their host."""
        return self._count("SELECT count(*), coalesce(sum(size_bytes), 0) FROM waiting")

    def kept_apart(self) -> int:
        """Pages that were kept for what they say beside a text that resembles another's."""
        count: int = self._database.value("SELECT count(*) FROM apart")
        return count

    def urls(self) -> UrlCounts:
        too_deep = self._database.value(f"SELECT count(*) FROM urls WHERE state = {TOO_DEEP}")  # noqa: S608 -- a constant
        return UrlCounts(
            seen=self._database.value("SELECT count(*) FROM urls") - too_deep,
            not_linked=self._database.value("SELECT count(*) FROM urls WHERE depth = 0"),
            queued=self._database.value("SELECT count(*) FROM urls WHERE state = 0"),
            aliases=self._database.value("SELECT count(*) FROM aliases"),
            too_deep=too_deep,
        )

    def counters(self) -> dict[str, int]:
        """What is counted and leaves no row of its own, by name."""
        return self._database.pairs("SELECT name, value FROM counters")

    def hosts(self, limit: int) -> list[HostCounts]:
        """The hosts with most pages, these first."""
        return list(map(HostCounts._make, self._database.all(_BY_HOST, (limit,))))

    def refreshed(self) -> Refreshed | None:
        """What the last refresh found; None: there was none."""
        number = self._database.meta("refresh")
        if number is None:
            return None
        query = "SELECT outcome, count(*) FROM visits WHERE refresh = ? GROUP BY outcome"
        return Refreshed(int(number), self._database.pairs(query, (int(number),)))

    def fetched(self) -> int:
        """Records for which a response arrived."""
        count: int = self._database.value(
            "SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)"
            " + (SELECT count(*) FROM skipped WHERE is_fetched) + (SELECT count(*) FROM waiting)"
        )
        return count

    def pages(self) -> int:
        """Pages that are stored, duplicates, or wait for more to be known of their site."""
        count: int = self._database.value(
            "SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)"
            " + (SELECT count(*) FROM waiting)"
        )
        return count

    def workers(self) -> list[WorkerRow]:
        """The processes that share the job now, in the order in which they joined."""
        return []

    def fetched_by_host(self) -> dict[str, int]:
        """Records for which a response arrived, and pages that wait, by host."""
        return self._database.pairs(_FETCHED_BY_HOST)

    def has_page_of(self, host: str) -> bool:
        """Is there a stored page of a host?"""
        query = "SELECT 1 FROM pages WHERE host = ? LIMIT 1"
        return self._database.first(query, (host,)) is not None

    def latest_urls(self, limit: int) -> tuple[list[str], list[str]]:
        """The URLs of the pages stored last, and of the duplicates dropped last."""
        pages, duplicates = (
            f"SELECT url FROM {table} WHERE url IS NOT NULL ORDER BY number DESC LIMIT ?"  # noqa: S608 -- our own names
            for table in ("pages", "duplicates")
        )
        return (
            [url for (url,) in self._database.all(pages, (limit,))],
            [url for (url,) in self._database.all(duplicates, (limit,))],
        )

    def _count(self, query: str) -> Count:
        number, size_bytes = self._database.first(query)
        return Count(number, int(size_bytes))

    def _counts(self, query: str) -> dict[str, Count]:
        return {name: Count(n, int(size)) for name, n, size in self._database.all(query)}
