"""What pages and hosts declare of the use of pages, see `dedup.preferences`."""

import time
from collections.abc import Iterator

from dedup.store.sql.database import Queries

_NOTE = (
    "INSERT INTO preferences VALUES (?, ?) ON CONFLICT (page) DO UPDATE SET value = excluded.value"
)
_NOTE_HOST = (
    "INSERT INTO host_preferences VALUES (?, ?, ?, ?) ON CONFLICT (origin, source)"
    " DO UPDATE SET seen_at = excluded.seen_at, value = excluded.value"
)
_OF_PAGES = (
    "SELECT value, count(*) FROM preferences JOIN pages ON pages.number = preferences.page"
    " GROUP BY value"
)


class Preferences(Queries):
    """Declarations as JSON, as `dedup.preferences.declarations` writes it; "": none.

    A page is given by its number, a waiting one by minus its place.
    """

    def note(self, page: int, value: str | None) -> None:
        """Record what a page declares now; None: it is not known, and nothing changes."""
        if value:
            self._database.write(_NOTE, (page, value))
        elif value is not None:
            self.forget(page)

    def forget(self, page: int) -> None:
        self._database.write("DELETE FROM preferences WHERE page = ?", (page,))

    def of_page(self, page: int) -> str:
        value = self._database.value("SELECT value FROM preferences WHERE page = ?", (page,))
        return str(value or "")

    def note_host(self, origin: str, source: str, value: str) -> None:
        """Record what a file of a host declares now."""
        if value:
            self._database.write(_NOTE_HOST, (origin, source, time.time(), value), weight=1)
        elif self._database.first(
            "SELECT 1 FROM host_preferences WHERE origin = ? AND source = ?", (origin, source)
        ):
            self._database.write(
                "DELETE FROM host_preferences WHERE origin = ? AND source = ?",
                (origin, source),
                weight=1,
            )

    def of_host(self, origin: str) -> list[str]:
        """What the files of a host declare, each."""
        query = "SELECT value FROM host_preferences WHERE origin = ? ORDER BY source"
        return [value for (value,) in self._database.all(query, (origin,))]

    def count_pages(self) -> Iterator[tuple[str, int]]:
        """The declarations of stored pages, and how many pages have each."""
        yield from self._database.each(_OF_PAGES)

    def each_host(self) -> Iterator[tuple[str, str, float, str]]:
        """Origin, file, time of the last fetch, and declarations."""
        query = "SELECT origin, source, seen_at, value FROM host_preferences"
        yield from self._database.each(f"{query} ORDER BY origin, source")
