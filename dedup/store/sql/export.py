"""Queries of exports."""

from collections.abc import Iterator, Sequence
from typing import Any

from dedup.store.exchange import split_body
from dedup.store.export_columns import DUPLICATE_FIELDS, STORED_FIELDS
from dedup.store.query_results import DuplicateRow
from dedup.store.records import EARLIER, REDUCED, is_reduced
from dedup.store.selection import EVERYTHING, Selection
from dedup.store.sql.copies import Copies
from dedup.store.sql.database import Database, Queries
from dedup.store.sql.retention import TURNS

_ROWS_AT_ONCE = 1 << 10

_DUPLICATES = """
SELECT r.number, r.original, r.name, r.url, p.name, p.url, r.stage, r.distance, r.resemblance,
    r.fetched_at, NULL FROM duplicates AS r JOIN pages AS p ON p.number = r.original
"""
_EARLIER = """
SELECT r.number, r.original, r.name, r.url, r.original_name, r.original_url, r.stage, r.distance,
    r.resemblance, r.fetched_at, r.job FROM earlier AS r
"""


_VERSIONS = """
SELECT r.number, v.text, v.body FROM versions AS v JOIN pages AS r ON r.number = v.page
JOIN (SELECT page, max(fetched_at) AS latest FROM versions WHERE fetched_at <= ? GROUP BY page)
    AS last ON last.page = v.page AND last.latest = v.fetched_at
"""
_GONE = f"""
WITH last AS (
    SELECT url, outcome, seen_at FROM visits AS v WHERE outcome IN {TURNS} AND outcome <> 'back'
    AND NOT EXISTS
        (SELECT 1 FROM visits AS later WHERE later.url = v.url AND later.refresh > v.refresh)
)
SELECT r.number, last.seen_at FROM last JOIN pages AS r ON r.url = last.url
WHERE last.outcome <> 'moved' AND NOT EXISTS (
    SELECT 1 FROM duplicates AS d WHERE d.original = r.number AND d.url IS NOT NULL
    AND d.url NOT IN (SELECT url FROM last)
)
"""  # noqa: S608 -- constants


class ExportQueries(Queries):
    """Stored and dropped pages, all or a selection, in ascending order of their numbers.

    Attributes:
        copies: groups of copies on several hosts.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.copies = Copies(database)

    def pages(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The unique pages without their bodies, as stored."""
        for _, row in self.numbered_pages(selection):
            del row["source"]
            yield row

    def numbered_pages(
        self, selection: Selection = EVERYTHING
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """The same, each with its number, and with the source of its text."""
        columns = ", ".join(name for name in STORED_FIELDS if name != "id")
        query = f"SELECT number, source, name, {columns} FROM pages AS r"  # noqa: S608 -- our own names
        for number, source, *values in self._by_number(query, "pages", selection):
            row = dict(zip(STORED_FIELDS, values, strict=True))
            text = self._database.text(number, row["text"])
            yield number, {**row, "id": row["id"] or number, "text": text, "source": source}

    def declared(self, selection: Selection = EVERYTHING) -> Iterator[tuple[int, str | None, str]]:
        """The numbers and URLs of the unique pages, and what each declares of its use."""
        query = (
            "SELECT r.number, r.url, coalesce(d.value, '') FROM pages AS r"
            " LEFT JOIN preferences AS d ON d.page = r.number"
        )
        return self._by_number(query, "pages", selection)

    def texts(self, hosts: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
        """Host and text of each unique page of a host; of these hosts, if any are named."""
        query = "SELECT r.number, r.host, r.text FROM pages AS r"
        for number, host, packed in self._by_number(query, "pages", Selection(hosts=tuple(hosts))):
            if host:
                yield host, self._database.text(number, packed)

    def page_numbers(self, selection: Selection = EVERYTHING) -> Iterator[int]:
        """The numbers of the unique pages, ascending."""
        rows = self._by_number("SELECT r.number FROM pages AS r", "pages", selection)
        return (number for (number,) in rows)

    def reduced(self, number: int) -> bytes | None:
        """What was kept in place of a page's body; None: nothing.

        Raises:
            KeyError: there is no page of that number.
        """
        (found,) = self._database.record("SELECT body FROM pages WHERE number = ?", number)
        if not is_reduced(found):
            return None
        return self._database.unpacked(number, found[len(REDUCED) :], "body")

    def page_urls(self) -> dict[int, str | None]:
        """The unique pages' URLs by number."""
        return dict(self._database.each("SELECT number, url FROM pages"))

    def gone_pages(self) -> dict[int, float]:
        """The pages that were gone when they were last visited, as are all of their duplicates.

        With the time of that visit.
        """
        return dict(self._database.each(_GONE))

    def versions(
        self, time: float, selection: Selection = EVERYTHING
    ) -> Iterator[tuple[int, str, bytes | None, bytes | None]]:
        """What pages were at a time, of those that have changed since.

        The selection is of the pages as they are.

        Returns:
            Their numbers, texts, bodies, and what was kept in place of bodies.
        """
        condition, parameters = self._where(selection, "pages")
        query = f"{_VERSIONS} WHERE {condition} AND r.fetched_at > ?"
        for number, packed, kept in self._database.each(query, [time, *parameters, time]):
            text = self._database.text(number, packed, errors="surrogatepass")
            if kept is None:
                yield number, text, None, None
            elif is_reduced(kept):
                reduced = self._database.unpacked(number, kept[len(REDUCED) :], "body")
                yield number, text, None, reduced
            else:
                packed = split_body(kept)[1]
                yield number, text, self._database.unpacked(number, packed, "body"), None

    def duplicates(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The record of each dropped page, as exported; last those of earlier crawls."""
        for query, table in ((_DUPLICATES, "duplicates"), (_EARLIER, "earlier")):
            for number, original, *values in self._by_number(query, table, selection):
                row = dict(zip(DUPLICATE_FIELDS, values, strict=True))
                name = row["duplicate_of"] or original
                yield {**row, "id": row["id"] or number, "duplicate_of": name}

    def duplicate_rows(self, selection: Selection = EVERYTHING) -> Iterator[DuplicateRow]:
        """The dropped pages by number, ascending."""
        columns = ", ".join(f"r.{name}" for name in DuplicateRow._fields)
        query = f"SELECT {columns} FROM duplicates AS r"  # noqa: S608 -- our own names
        return map(DuplicateRow._make, self._by_number(query, "duplicates", selection))

    def count(self, table: str, selection: Selection = EVERYTHING) -> int:
        """Rows of `pages`, `duplicates` or `earlier`, the duplicates of pages of earlier crawls."""
        if table not in ("pages", "duplicates", "earlier"):
            raise ValueError(f"table must be 'pages', 'duplicates' or 'earlier', got {table!r}")
        condition, parameters = self._where(selection, table)
        query = f"SELECT count(*) FROM {table} AS r WHERE {condition}"  # noqa: S608 -- our own names
        return int(self._database.value(query, parameters))

    def _by_number(self, query: str, table: str, selection: Selection) -> Iterator[Any]:
        """The selected rows `r` of a query, by ascending numbers, which come first in each.

        They are read in parts, so that a long export does not hold one snapshot.
        """
        condition, parameters = self._where(selection, table)
        end = f"{condition} AND r.number > ? ORDER BY r.number LIMIT {_ROWS_AT_ONCE}"
        last = -1
        while rows := self._database.all(f"{query} WHERE {end}", [*parameters, last]):
            yield from rows
            last = rows[-1][0]

    def _where(self, selection: Selection, table: str) -> tuple[str, list[object]]:
        """The condition on the rows `r` of one of these tables, and its parameters."""
        parts: list[tuple[str, list[object]]] = []
        if table == "earlier":  # a refresh may have deleted the record
            parts.append(("r.number IN (SELECT number FROM skipped WHERE reason = ?)", [EARLIER]))
        if selection.hosts:
            parts.append((f"r.host IN ({_marks(selection.hosts)})", [*selection.hosts]))
        if selection.stages:
            found = f"stage IN ({_marks(selection.stages)})"
            if table == "pages":
                found = f"number IN (SELECT original FROM duplicates WHERE {found})"  # noqa: S608 -- only marks
            parts.append((f"r.{found}", [*selection.stages]))
        if selection.since is not None:
            parts.append(("r.fetched_at >= ?", [selection.since]))
        if selection.url is not None:
            parts.append(self._database.matching(table, selection.url))
        if selection.without and table != "earlier":
            column = "r.number" if table == "pages" else "r.original"
            parts.append(self._database.outside(column, selection.without))
        condition = " AND ".join(text for text, _ in parts) or "TRUE"
        return condition, [value for _, values in parts for value in values]


def _marks(values: tuple[str, ...]) -> str:
    return ",".join("?" * len(values))
