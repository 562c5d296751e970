"""What a job has learned about its hosts, and the pages to learn from.

A page *waits* while nothing is known about its host: it has been fetched and has a place in the
order of arrival, but no number. A page that was stored before enough was known is *early*: it has a
number and is read again later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dedup.errors import DamageError
from dedup.sites.outline import Outline
from dedup.store.exchange import split_body
from dedup.store.records import (
    PAGE_FIELDS,
    Outlined,
    Page,
    compressed,
    storable_fields,
)
from dedup.store.sql.database import Database, Queries, inserting
from dedup.store.sql.inputs import InputsTable
from dedup.store.sql.preferences import Preferences
from dedup.store.sql.rendering import RenderingTable
from dedup.urls.parts import host_of

_FIELDS = tuple(name for name in PAGE_FIELDS if name not in ("own_title", "site_version"))
"""The fields of a page that are known before its site is."""

_INSERT_WAITING = (
    inserting("waiting", "host", *_FIELDS, "text", "outline", "body") + " RETURNING place"
)
_HOSTS_IN_MEMORY = 10_000


class HostKnowledge(Queries):
    """What is known about a job's hosts, and the waiting and early pages.

    Attributes:
        preferences: what pages and hosts declare of the use of pages.
        rendering: which pages were rendered, and why.
        inputs: what rendered pages were made from.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.preferences = Preferences(database)
        self.rendering = RenderingTable(database)
        self.inputs = InputsTable(database)
        self._encodings: dict[str, str | None] = {}
        self._n_early: dict[str, int] = {}

    # --- Sites -----------------------------------------------------------------------------------

    def site(self, host: str) -> bytes | None:
        """What is known about a host; None: nothing."""
        value = self._database.value("SELECT value FROM sites WHERE host = ?", [host])
        return None if value is None else bytes(value)

    def hosts(self) -> list[str]:
        """The hosts about which something is known, in alphabetical order."""
        return [host for (host,) in self._database.all("SELECT host FROM sites ORDER BY host")]

    def set_site(self, host: str, value: bytes) -> None:
        """Store what is known about a host."""
        self._database.write(
            "INSERT INTO sites VALUES (?, ?)"
            " ON CONFLICT (host) DO UPDATE SET value = excluded.value",
            (host, value),
        )

    def before_commit(self, call: Callable[[], object]) -> None:
        """Have `call` called before each commit, to store something with it."""
        self._database.before_commit.insert(0, call)

    def after_begin(self, call: Callable[[], object]) -> None:
        """In a shared job, have `call` called when this process may read what others stored."""
        self._database.after_begin.append(call)

    # --- Encodings -------------------------------------------------------------------------------

    def encoding(self, host: str) -> str | None:
        """The encoding of most pages of a host; None: none was added."""
        if host not in self._encodings:
            if len(self._encodings) >= _HOSTS_IN_MEMORY:
                self._encodings.clear()
            query = "SELECT encoding FROM encodings WHERE host = ? ORDER BY pages DESC, encoding"
            self._encodings[host] = self._database.value(query, [host])
        return self._encodings[host]

    def add_encoding(self, host: str, encoding: str) -> None:
        """Count the encoding of a page."""
        self._database.write(
            "INSERT INTO encodings VALUES (?, ?, 1)"
            " ON CONFLICT (host, encoding) DO UPDATE SET pages = encodings.pages + 1",
            (host, encoding),
        )
        self._encodings.pop(host, None)

    # --- Pages that wait -------------------------------------------------------------------------

    def add_waiting(self, page: Page, outline: Outline) -> int:
        """Add a waiting page; return its place in the order of arrival."""
        row = {
            **storable_fields(page),
            "host": host_of(page.url),
            "text": page.packed_text,
            "outline": _packed(outline),
            "body": page.body_column or compressed(b""),
        }
        with self._database.unit() as connection:
            place = int(connection.execute(_INSERT_WAITING, row).fetchone()[0])
            self.preferences.note(-place, page.preferences)
        return place

    def waiting(self, host: str) -> list[Outlined]:
        """The waiting pages of a host, in the order of arrival."""
        query = "SELECT place, title, url, outline FROM waiting WHERE host = ? ORDER BY place"
        return [self._outlined(*row) for row in self._database.all(query, [host])]

    def waiting_page(self, place: int) -> Page:
        """A waiting page, as read without knowledge of its site."""
        columns = ", ".join([*_FIELDS, "text", "body"])
        query = f"SELECT {columns} FROM waiting WHERE place = ?"  # noqa: S608 -- names above
        *values, text, column = self._database.first(query, [place])
        exchange, body = split_body(column)
        return Page(
            id="",
            text=self._database.unpacked(place, text, "text").decode(errors="surrogatepass"),
            body=self._database.unpacked(place, body, "body"),
            exchange=exchange,
            preferences=self.preferences.of_page(-place),
            **dict(zip(_FIELDS, values, strict=True)),
        )

    def drop_waiting(self, place: int) -> None:
        with self._database.unit(weight=0):
            self._database.write("DELETE FROM waiting WHERE place = ?", (place,))
            self.preferences.forget(-place)

    def count_waiting(self) -> dict[str, int]:
        """The number of waiting pages by host, in the order of their first pages."""
        query = "SELECT host, count(*) FROM waiting GROUP BY host ORDER BY min(place)"
        return self._database.pairs(query)

    # --- Early pages -----------------------------------------------------------------------------

    def add_early(self, number: int, host: str, outline: Outline, *, at_most: int) -> None:
        """Add an early page; only the last `at_most` of a host are kept."""
        count = self.count_early(host) + 1
        with self._database.unit(weight=0):
            row = number, host, _packed(outline)
            self._database.write("INSERT INTO early VALUES (?, ?, ?)", row)
            if count > at_most:
                self._database.write(
                    "DELETE FROM early WHERE host = ? AND page <= (SELECT page FROM early"
                    " WHERE host = ? ORDER BY page DESC LIMIT 1 OFFSET ?)",
                    (host, host, at_most),
                )
        self._n_early[host] = min(count, at_most)

    def early(self, host: str) -> list[Outlined]:
        """The early pages of a host, by number."""
        query = (
            "SELECT early.page, pages.title, pages.url, early.outline FROM early"
            " JOIN pages ON pages.number = early.page WHERE early.host = ? ORDER BY early.page"
        )
        return [self._outlined(*row) for row in self._database.all(query, [host])]

    def count_early(self, host: str) -> int:
        """How many early pages a host has."""
        if host not in self._n_early:
            if len(self._n_early) >= _HOSTS_IN_MEMORY:
                self._n_early.clear()
            query = "SELECT count(*) FROM early WHERE host = ?"
            self._n_early[host] = int(self._database.value(query, [host]))
        return self._n_early[host]

    def forget_counts(self) -> None:
        """Count anew: another process may have added pages."""
        self._n_early.clear()

    def replace_early(self, number: int, outline: Outline | None) -> None:
        """Keep another outline of an early page; None: it is none any more."""
        if outline is None:
            self.drop_early([number])
        else:
            query = "UPDATE early SET outline = ? WHERE page = ?"
            self._database.write(query, (_packed(outline), number), weight=0)

    def drop_early(self, numbers: Sequence[int]) -> None:
        self.forget_counts()
        with self._database.unit(weight=0) as connection:
            connection.executemany(
                "DELETE FROM early WHERE page = ?", [(each,) for each in numbers]
            )

    # --- Private ---------------------------------------------------------------------------------

    def _outlined(self, key: int, title: str, url: str | None, packed: bytes) -> Outlined:
        text = self._database.unpacked(key, packed, "outline").decode(errors="surrogatepass")
        try:
            return Outlined(key, title, url, Outline.from_json(text))
        except ValueError as error:
            raise DamageError(
                self._database.location, f"the outline of page {key} is damaged ({error})"
            ) from error


def _packed(outline: Outline) -> bytes:
    return compressed(outline.to_json().encode("utf-8", "surrogatepass"))
