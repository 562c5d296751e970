"""Copies on several hosts, and what they say of where their text is from, see `dedup.groups`."""

from collections.abc import Iterator

from dedup.store.query_results import CopyRow
from dedup.store.records import Claims, storable
from dedup.store.sql.database import Queries

_AT_ONCE = 1 << 10

_NOTE = "INSERT INTO claims VALUES (?, ?, ?, ?)"
_GROUPS = """
SELECT d.original, count(*) + 1 FROM duplicates AS d JOIN pages AS p ON p.number = d.original
WHERE d.original > ? AND p.host != '' GROUP BY d.original
HAVING max(CASE WHEN d.host NOT IN (p.host, '') THEN 1 ELSE 0 END) = 1
ORDER BY d.original LIMIT ?
"""
_KEPT = "SELECT url, host, fetched_at, size_bytes, source FROM pages WHERE number = ?"
_COPIES = """
SELECT d.url, d.host, d.fetched_at, d.size_bytes, d.source,
    c.number, c.published, c.canonical_url, c.sources
FROM duplicates AS d LEFT JOIN claims AS c ON c.number = d.number
WHERE d.original = ? AND d.url IS NOT NULL AND d.host != ''
ORDER BY CASE WHEN d.host = ? THEN 1 ELSE 0 END, d.number LIMIT ?
"""


class Copies(Queries):
    """Groups of a stored page and its copies, some of them on another host."""

    def note(self, number: int, claims: Claims) -> None:
        """Record what a dropped page says of where it is from."""
        values = (claims.published, claims.canonical_url)
        sources = "\n".join(claims.sources)
        self._database.write(_NOTE, (number, *map(storable, values), storable(sources)))

    def groups(self) -> Iterator[tuple[int, int]]:
        """The stored page and the number of pages of each group, ascending."""
        last = -1
        while rows := self._database.all(_GROUPS, (last, _AT_ONCE)):
            yield from rows
            last = rows[-1][0]

    def of(self, original: int, at_most: int) -> Iterator[CopyRow]:
        """The stored page, and copies of it: those on other hosts first."""
        kept = self._database.record(_KEPT, original)
        yield CopyRow._make([*kept, None])
        for *row, number, published, url, sources in self._database.all(
            _COPIES, (original, kept[1], at_most)
        ):
            claims = None
            if number is not None:
                claims = Claims(published, url, tuple(sources.split("\n")) if sources else ())
            yield CopyRow._make([*row, claims])
