"""Queries of `dedup why`: where a URL is on record."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dedup.errors import DamageError
from dedup.store.query_results import (
    AliasRecord,
    ApartPage,
    FoundRecord,
    Outcome,
    SkippedRecord,
)
from dedup.store.records import EARLIER
from dedup.store.sql.database import Queries

IsSameUrl = Callable[[str], bool]

_RECORDS = """
SELECT 'stored' AS outcome, number FROM pages WHERE {condition}
UNION ALL SELECT 'duplicate', number FROM duplicates WHERE {condition}
UNION ALL SELECT 'skipped', number FROM skipped WHERE {condition}
UNION ALL SELECT 'waiting', place FROM waiting WHERE {condition}
ORDER BY number DESC LIMIT 1
"""
_URLS = """
SELECT 'stored', number, url FROM pages WHERE url IS NOT NULL
UNION ALL SELECT 'duplicate', number, url FROM duplicates WHERE url IS NOT NULL
UNION ALL SELECT 'skipped', number, url FROM skipped
UNION ALL SELECT 'waiting', place, url FROM waiting WHERE url IS NOT NULL
"""
_URLS_AFTER = """
SELECT number, url FROM pages WHERE number > ? AND url IS NOT NULL
UNION ALL SELECT number, url FROM duplicates WHERE number > ? AND url IS NOT NULL
UNION ALL SELECT number, url FROM earlier WHERE number > ? AND url IS NOT NULL
ORDER BY number
"""
_APART = """
SELECT a.page, p.url, a.original, o.url, a.lines FROM apart AS a
JOIN pages AS p ON p.number = a.page JOIN pages AS o ON o.number = a.original
"""
_DUPLICATE = """
SELECT d.url, d.title, d.fetched_at, d.original, coalesce(p.url, p.name), d.stage, d.distance,
    d.resemblance FROM duplicates AS d JOIN pages AS p ON p.number = d.original WHERE d.number = ?
"""
_SKIPPED = "SELECT url, seen_at, reason, detail, is_fetched FROM skipped WHERE number = ?"
_EARLIER = f"""
SELECT r.title, r.original, coalesce(r.original_url, r.original_name), r.original_fetched_at, r.job,
    r.stage, r.distance, r.resemblance FROM earlier AS r
JOIN skipped AS s ON s.number = r.number AND s.reason = '{EARLIER}' WHERE r.number = ?
"""  # noqa: S608 -- a constant
_EARLIER_DETAILS = (
    *("title", "original", "original_url", "original_seen_at", "original_job"),
    *("stage", "distance", "resemblance"),
)

_PAGE = ("url", "title", "seen_at")
_MATCH = ("original", "original_url", "stage", "distance", "resemblance")
_DETAILS: Mapping[Outcome, tuple[tuple[str, ...], str]] = {
    "stored": (_PAGE, "SELECT url, title, fetched_at FROM pages WHERE number = ?"),
    "waiting": (_PAGE, "SELECT url, title, fetched_at FROM waiting WHERE place = ?"),
    "duplicate": ((*_PAGE, *_MATCH), _DUPLICATE),
    "skipped": (SkippedRecord._fields, _SKIPPED),
}
"""By outcome: the names of a record's details, and the query for them."""


class ExplainQueries(Queries):
    """Records by URL and by number.

    Raises:
        KeyError: from a method that takes a number: there is no such record.
    """

    def find(self, urls: Sequence[str]) -> FoundRecord | None:
        """The latest record of one of these URLs, exactly as recorded."""
        condition = f"url IN ({', '.join('?' * len(urls))})"
        return self._found(_RECORDS.format(condition=condition), [*urls] * 4)

    def find_named(self, name: str) -> FoundRecord | None:
        """The last record with this id. Rows of a collection may have no URL."""
        query = (
            "SELECT 'stored' AS outcome, number FROM pages WHERE name = ?"
            " UNION ALL SELECT 'duplicate', number FROM duplicates WHERE name = ?"
            " ORDER BY number DESC LIMIT 1"
        )
        return self._found(query, (name, name))

    def find_any(self, is_same: IsSameUrl) -> FoundRecord | None:
        """The latest record of a URL for which `is_same` is true. Looks at every record."""
        every = self._database.each(_URLS)
        found = [(number, outcome) for outcome, number, url in every if is_same(url)]
        return FoundRecord(*reversed(max(found))) if found else None

    def urls(self, *, after: int) -> Iterator[tuple[int, str]]:
        """Number and URL of the pages that were fetched: stored, dropped, or in an earlier crawl.

        Args:
            after: only those with a greater number.
        """
        return self._database.each(_URLS_AFTER, (after,) * 3)

    def pages_of_aliases(self, urls: Sequence[str]) -> list[str]:
        """The URLs of pages to which one of these URLs leads, exactly as recorded."""
        query = f"SELECT page_url FROM aliases WHERE url IN ({', '.join('?' * len(urls))})"  # noqa: S608 -- marks
        return [url for (url,) in self._database.all(query, urls)]

    def details(self, outcome: Outcome, number: int) -> dict[str, Any]:
        """The details of a record, by the names of `Fate`."""
        names, query = _DETAILS[outcome]
        found = dict(zip(names, self._database.record(query, number), strict=True))
        if outcome == "skipped":
            found["is_fetched"] = bool(found["is_fetched"])
            if (earlier := self._database.first(_EARLIER, (number,))) is not None:
                found |= zip(_EARLIER_DETAILS, earlier, strict=True)
        if outcome == "stored":
            counts = "SELECT stage, count(*) FROM duplicates WHERE original = ? GROUP BY stage"
            found["duplicates"] = self._database.pairs(counts, (number,))
            found["apart"] = self.apart(number)
        return found

    def apart(self, number: int) -> ApartPage | None:
        """Why a page was kept although its text resembles another's; None: it does not."""
        row = self._database.first(f"{_APART} WHERE a.page = ?", (number,))
        return None if row is None else self._apart_page(row)

    def all_apart(self) -> Iterator[ApartPage]:
        """The pages that were kept for content outside their texts, by number."""
        return map(self._apart_page, self._database.each(f"{_APART} ORDER BY a.page"))

    def alias(self, url: str, is_same: IsSameUrl) -> AliasRecord | None:
        """The alias record of `url`, or of a URL for which `is_same` is true."""
        query = "SELECT url, page_url, kind FROM aliases ORDER BY kind DESC"
        every = map(AliasRecord._make, self._database.each(query))
        return next((each for each in every if each.url == url or is_same(each.url)), None)

    def known_urls(self) -> Iterator[str]:
        """All seen URLs, and those of the stored pages."""
        query = "SELECT url FROM urls UNION ALL SELECT url FROM pages WHERE url IS NOT NULL"
        return (url for (url,) in self._database.each(query))

    def _found(self, query: str, parameters: Sequence[object]) -> FoundRecord | None:
        row = self._database.first(query, parameters)
        return None if row is None else FoundRecord._make(row)

    def _apart_page(self, row: Iterable[Any]) -> ApartPage:
        number, url, original, original_url, lines = row
        try:
            told = tuple(map(str, json.loads(lines)))
        except (TypeError, ValueError) as error:
            problem = f"the recorded difference of page {number} is damaged ({error})"
            raise DamageError(self._database.location, problem) from error
        return ApartPage(number, url, original, original_url, told)
