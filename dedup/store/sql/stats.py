"""The counts of a job, from the rows themselves."""

from typing import Any

from dedup.store.query_results import Count, WorkerRow
from dedup.store.records import QUEUED, TOO_DEEP
from dedup.store.sql.database import Queries

_BY_HOST = """
SELECT host, sum(u), sum(d), sum(s), sum(w), sum(size_bytes) FROM (
    SELECT host, 1 AS u, 0 AS d, 0 AS s, 0 AS w, size_bytes FROM pages
    UNION ALL SELECT host, 0, 1, 0, 0, size_bytes FROM duplicates
    UNION ALL SELECT host, 0, 0, 1, 0, size_bytes FROM skipped WHERE is_fetched
    UNION ALL SELECT host, 0, 0, 0, 1, size_bytes FROM waiting
) AS every GROUP BY host ORDER BY count(*) DESC, host LIMIT ?
"""
_HOST_COLUMNS = ("host", "unique", "duplicates", "skipped", "waiting", "bytes")
_URLS = f"""
SELECT (SELECT count(*) FROM urls), (SELECT count(*) FROM urls WHERE state = {TOO_DEEP}),
    (SELECT count(*) FROM urls WHERE depth = 0), (SELECT count(*) FROM urls WHERE state = {QUEUED}),
    (SELECT count(*) FROM aliases)
"""  # noqa: S608 -- constants
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
_PAGES = """
SELECT (SELECT count(*) FROM pages) + (SELECT count(*) FROM duplicates)
    + (SELECT count(*) FROM waiting)
"""
_FAILED = "SELECT reason, count(*) FROM skipped WHERE NOT is_fetched GROUP BY reason ORDER BY 1"


class StatsQueries(Queries):
    """Counts of pages and URLs by outcome; names in alphabetical order."""

    def unique(self) -> Count:
        return self._count("SELECT count(*), coalesce(sum(size_bytes), 0) FROM pages")

    def duplicates(self) -> dict[str, Count]:
        """By stage."""
        return self._counts(_DUPLICATES)

    def skipped(self) -> dict[str, Count]:
        """Responses without a page to compare, by reason."""
        return self._counts(_SKIPPED)

    def failed(self) -> dict[str, int]:
        """URLs without a response, by reason."""
        return self._database.pairs(_FAILED)

    def waiting(self) -> Count:
        """Pages that wait until enough is known about their host."""
        return self._count("SELECT count(*), coalesce(sum(size_bytes), 0) FROM waiting")

    def kept_apart(self) -> int:
        """Pages kept for content outside a text that resembles another's."""
        return int(self._database.value("SELECT count(*) FROM apart"))

    def needs_rendering(self) -> int:
        """Stored pages whose text a browser has to make."""
        return int(
            self._database.value("SELECT count(*) FROM pages WHERE source IN ('shell', 'state')")
        )

    def urls(self) -> dict[str, int]:
        """URLs by outcome, as in `stats.json`. Those that are too deep do not count as seen."""
        known, too_deep, not_linked, queued, aliases = self._database.first(_URLS)
        counters = self._database.pairs("SELECT name, value FROM counters")
        seen = known - too_deep
        return {
            "seen": seen,
            "queued": queued,
            "filtered": max(counters.get("links", 0) - (seen - not_linked), 0),
            "too_deep": too_deep,
            "nofollow": counters.get("nofollow", 0),
            "aliases": aliases,
        }

    def hosts(self, limit: int) -> list[dict[str, Any]]:
        """The hosts with the most pages, in that order; `bytes` are of all their pages."""
        rows = self._database.all(_BY_HOST, (limit,))
        return [dict(zip(_HOST_COLUMNS, row, strict=True)) for row in rows]

    def refreshed(self) -> dict[str, int]:
        """The number of the last refresh, and its pages by outcome; empty: there was none."""
        number = self._database.meta("refresh")
        if number is None:
            return {}
        query = (
            "SELECT outcome, count(*) FROM visits WHERE refresh = ? AND outcome <> 'began'"
            " GROUP BY outcome ORDER BY outcome"
        )
        counts: dict[str, int] = {}
        for outcome, count in self._database.all(query, (int(number),)):
            kind = outcome.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + count
        return {"number": int(number), **counts}

    def fetched(self) -> int:
        """Records for which a response arrived."""
        skipped = "SELECT count(*) FROM skipped WHERE is_fetched"
        return self.pages() + int(self._database.value(skipped))

    def pages(self) -> int:
        """Pages that are stored, duplicates or waiting."""
        return int(self._database.value(_PAGES))

    def workers(self) -> list[WorkerRow]:
        """The processes that currently share the job, in the order of joining."""
        return []

    def fetched_by_host(self) -> dict[str, int]:
        """Records for which a response arrived, and waiting pages, by host."""
        return self._database.pairs(_FETCHED_BY_HOST)

    def has_page_of(self, host: str) -> bool:
        """Does a host have a stored page?"""
        query = "SELECT 1 FROM pages WHERE host = ? LIMIT 1"
        return self._database.first(query, (host,)) is not None

    def latest_urls(self, limit: int) -> tuple[list[str], list[str]]:
        """The URLs of the latest stored pages and of the latest duplicates."""
        query = "SELECT url FROM {} WHERE url IS NOT NULL ORDER BY number DESC LIMIT ?"
        pages, duplicates = (
            [url for (url,) in self._database.all(query.format(table), (limit,))]
            for table in ("pages", "duplicates")
        )
        return pages, duplicates

    def _count(self, query: str) -> Count:
        number, size_bytes = self._database.first(query)
        return Count(number, int(size_bytes))

    def _counts(self, query: str) -> dict[str, Count]:
        return {name: Count(n, int(size)) for name, n, size in self._database.all(query)}
