"""Queries of the report."""

from collections.abc import Iterator
from typing import Any

from dedup.store.query_results import (
    ListedDuplicate,
    ReportedPage,
    SkippedRecord,
)
from dedup.store.records import HAS_REDUCED, REDUCED
from dedup.store.sql.database import Queries

_TIMES = """
SELECT fetched_at AS at, 1 AS is_unique, 0 AS is_duplicate FROM pages
UNION ALL SELECT fetched_at, 0, 1 FROM duplicates
UNION ALL SELECT seen_at, 0, 0 FROM skipped WHERE is_fetched
UNION ALL SELECT fetched_at, 0, 0 FROM waiting
"""
_ACTIVE = f"""
SELECT is_unique, is_duplicate, sum(CASE WHEN gap > ? THEN 0 ELSE gap END)
    OVER (ORDER BY at ROWS UNBOUNDED PRECEDING) AS seconds
FROM (SELECT *, at - coalesce(lag(at) OVER (ORDER BY at), at) AS gap FROM ({_TIMES}) AS every)
    AS spaced
"""  # noqa: S608 -- the text above
_ACTIVE_SECONDS = f"SELECT max(seconds) FROM ({_ACTIVE}) AS active"  # noqa: S608 -- the text above
_BY_TIME = f"""
SELECT {{floor}} AS place, count(*), sum(is_unique), sum(is_duplicate)
FROM ({_ACTIVE}) AS active GROUP BY place
"""  # noqa: S608 -- the text above
_BY_STAGE = """
SELECT stage, count(*), coalesce(sum(size_bytes), 0), count(DISTINCT original), min(resemblance),
    avg(resemblance), max(distance) FROM duplicates GROUP BY stage ORDER BY count(*) DESC, stage
"""
_STAGE_COLUMNS = (
    *("name", "duplicates", "bytes", "originals"),
    *("resemblance_least", "resemblance_mean", "distance_greatest"),
)
_BY_RESEMBLANCE = """
SELECT {floor} AS place, count(*) FROM duplicates
WHERE resemblance IS NOT NULL GROUP BY place
"""
_BY_DISTANCE = """
SELECT distance, count(*) FROM duplicates WHERE distance IS NOT NULL
GROUP BY distance ORDER BY distance
"""
_GROUP_SIZES = """
SELECT size, count(*) FROM (SELECT count(*) AS size FROM duplicates GROUP BY original) AS every
GROUP BY size ORDER BY size
"""
_BY_SITE = """
SELECT host, count(*) FROM (
    SELECT host FROM pages WHERE site_version IS NOT NULL
    UNION ALL SELECT host FROM duplicates WHERE site_version IS NOT NULL
) AS every GROUP BY host
"""
_URL_PAIRS = """
SELECT d.url, p.url, d.size_bytes FROM duplicates AS d JOIN pages AS p ON p.number = d.original
WHERE d.number <= ? AND d.url IS NOT NULL AND p.url IS NOT NULL ORDER BY d.number
"""
_FETCHED_URLS = """
SELECT url, content FROM (
    SELECT number, url, number AS content FROM pages WHERE number <= ? AND url IS NOT NULL
    UNION ALL SELECT number, url, original FROM duplicates
    WHERE number <= ? AND original <= ? AND url IS NOT NULL
) AS every ORDER BY number
"""
_LISTED = """
SELECT d.number, original, d.url, d.host, d.title, stage, distance, resemblance, d.site_version,
    coalesce(d.own_title, d.title), d.heading, coalesce(p.own_title, p.title), p.heading
FROM duplicates AS d JOIN pages AS p ON p.number = d.original
ORDER BY coalesce(resemblance, 1), d.number LIMIT ?
"""
_TEXTS = """
SELECT p.number, p.text, coalesce(d.text, p.text) FROM duplicates AS d
JOIN pages AS p ON p.number = d.original WHERE d.number = ?
"""
_NEAR_NAMES = """
SELECT d.host = p.host AND d.host != '', coalesce(d.own_title, d.title), d.heading,
    coalesce(p.own_title, p.title), p.heading
FROM duplicates AS d JOIN pages AS p ON p.number = d.original
WHERE d.stage NOT IN ('body', 'text') ORDER BY d.number LIMIT ?
"""
_PAGE = """
SELECT url, host, title, coalesce(own_title, title), heading, language, site_version, text
FROM pages WHERE number = ?
"""


class ReportQueries(Queries):
    """Counts, and rows in the order and number that a report shows."""

    # --- Counts ----------------------------------------------------------------------------------

    def meta(self) -> dict[str, str]:
        """All named values of the job."""
        return self._database.pairs("SELECT name, value FROM meta")

    def sources(self) -> dict[str, int]:
        """The number of stored pages by the source of their text: see `Document.source`."""
        return self._database.pairs(
            "SELECT source, count(*) FROM pages GROUP BY source ORDER BY source"
        )

    def stages(self) -> list[dict[str, Any]]:
        """The duplicates by stage, the stage with the most first.

        `originals` counts their originals. Resemblances and distances are None for stages that do
        not compute them.
        """
        rows = self._database.all(_BY_STAGE)
        return [dict(zip(_STAGE_COLUMNS, row, strict=True)) for row in rows]

    def active_seconds(self, pause: float) -> float | None:
        """Seconds from first to last page, without longer pauses; None: no page was fetched."""
        (seconds,) = self._database.first(_ACTIVE_SECONDS, (pause,))
        return None if seconds is None else float(seconds)

    def times(self, step: float, pause: float) -> Iterator[tuple[int, int, int, int]]:
        """Pages by time, in steps of `step` seconds without longer pauses; no empty steps.

        Yields the number of the step, from 0, and its fetched, unique and duplicate pages.
        """
        query = _BY_TIME.format(floor=self._database.floor.format(expression="seconds / ?"))
        return self._database.each(query, (step, pause))

    def lowest_resemblance(self) -> float | None:
        """The lowest of all duplicates; None: none was computed."""
        lowest: float | None = self._database.value("SELECT min(resemblance) FROM duplicates")
        return lowest

    def resemblances(self, n_steps: int) -> dict[int, int]:
        """Duplicates by resemblance in steps of 1 / `n_steps`; the last is for exactly 1."""
        floor = self._database.floor.format(expression="resemblance * ? + 1e-9")
        return self._database.pairs(_BY_RESEMBLANCE.format(floor=floor), (n_steps,))

    def distances(self) -> dict[int, int]:
        """Duplicates by the distance of their fingerprints, in bits."""
        return self._database.pairs(_BY_DISTANCE)

    def group_sizes(self) -> dict[int, int]:
        """The number of pages by how many duplicates they have."""
        return self._database.pairs(_GROUP_SIZES)

    def duplicates_by_original(self) -> dict[int, int]:
        """The number of duplicates of each page that has any."""
        return self._database.pairs("SELECT original, count(*) FROM duplicates GROUP BY original")

    def pages_by_site(self) -> dict[str, int]:
        """Stored and dropped pages that were read with knowledge of their host, by host."""
        return self._database.pairs(_BY_SITE)

    def sources_by_host(self) -> dict[str, dict[str, int]]:
        """The number of stored pages by host and source of the text."""
        found: dict[str, dict[str, int]] = {}
        query = "SELECT host, source, count(*) FROM pages GROUP BY host, source ORDER BY 1, 2"
        for host, source, count in self._database.each(query):
            found.setdefault(host, {})[source] = count
        return found

    def hosts_of_pages(self) -> Iterator[tuple[str, int]]:
        """Host and number of each stored page, by number."""
        return self._database.each("SELECT host, number FROM pages ORDER BY number")

    def has_rest(self) -> bool:
        """Does any page have rare shingles, so that the second look was possible?"""
        query = "SELECT number FROM pages WHERE rest IS NOT NULL LIMIT 1"
        return self._database.first(query) is not None

    def skipped(self) -> Iterator[SkippedRecord]:
        """The URLs that gave no page to compare, by number."""
        query = "SELECT url, seen_at, reason, detail, is_fetched FROM skipped ORDER BY number"
        return map(SkippedRecord._make, self._database.each(query))

    def stored_bodies(self) -> Iterator[tuple[str, int, int]]:
        """Host, number and body size of each page whose body is stored, by number."""
        query = "SELECT host, number, size_bytes FROM pages WHERE body IS NOT NULL ORDER BY number"
        if self._database.meta(HAS_REDUCED) is None:
            return self._database.each(query)
        # This reads the whole column, which is short where bodies are not kept.
        query = query.replace("body IS NOT NULL", "substr(body, 1, ?) <> ?")
        return self._database.each(query, (len(REDUCED), REDUCED))

    # --- URLs ------------------------------------------------------------------------------------

    def url_pairs(self, max_number: int) -> Iterator[tuple[str, str, int]]:
        """URL, original's URL and body size of each duplicate up to a number."""
        return self._database.each(_URL_PAIRS, (max_number,))

    def fetched_urls(self, max_number: int) -> Iterator[tuple[str, int]]:
        """URLs of pages up to a number, in order, each with the number of its stored content."""
        return self._database.each(_FETCHED_URLS, (max_number,) * 3)

    def last_page(self) -> int:
        """The greatest number of a stored page; 0: there is none."""
        return self._database.value("SELECT max(number) FROM pages") or 0

    # --- Groups of duplicates --------------------------------------------------------------------

    def listed_duplicates(self, limit: int) -> list[ListedDuplicate]:
        """The duplicates with the lowest resemblance, in that order; equal bodies come last."""
        return list(map(ListedDuplicate._make, self._database.all(_LISTED, (limit,))))

    def page(self, number: int, *, with_text: bool = True) -> ReportedPage:
        """A stored page.

        Raises:
            KeyError: there is no page of that number.
        """
        *fields, packed = self._database.record(_PAGE, number)
        text = self._database.text(number, packed) if with_text else ""
        return ReportedPage._make([*fields, text])

    def pair_texts(self, number: int) -> tuple[str, str]:
        """The texts of a duplicate's original and of the duplicate.

        Raises:
            KeyError: there is no duplicate of that number.
        """
        original, original_text, text = self._database.record(_TEXTS, number)
        return self._database.text(original, original_text), self._database.text(number, text)

    # --- Names -----------------------------------------------------------------------------------

    def near_names(self, limit: int) -> Iterator[tuple[bool, str, str, str, str]]:
        """The names of the earliest near duplicates and of their originals.

        Yields: are both on one host, title, heading, the original's title and heading.
        """
        return self._database.each(_NEAR_NAMES, (limit,))
