"""What rendered pages were made from, and which of them were found to be the same by that."""

from __future__ import annotations

from typing import NamedTuple

from dedup.rendering.inputs import Inputs, from_json, to_json
from dedup.rendering.record import TURNED_OVER
from dedup.store.records import Page, storable
from dedup.store.sql.database import Queries

_NOTE = """
INSERT INTO inputs VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (host, url) DO UPDATE
SET shell = excluded.shell, answers = excluded.answers, fetched_at = excluded.fetched_at, spared = 0
"""
_OF_PAGE = """
SELECT i.shell, i.answers FROM inputs AS i
JOIN pages AS p ON p.number = ? AND p.fetched_at = i.fetched_at WHERE i.host = ? AND i.url = ?
"""
_CONFIRM = """
UPDATE inputs SET fetched_at = (SELECT fetched_at FROM pages WHERE number = ?)
WHERE host = ? AND url = ? AND fetched_at = ?
"""
_COUNT = """
INSERT INTO input_checks VALUES (?, 1, ?) ON CONFLICT (host) DO UPDATE
SET pages = input_checks.pages + 1
"""
_REFUSE = """
INSERT INTO input_checks VALUES (?, 0, ?) ON CONFLICT (host) DO UPDATE
SET has_failed = excluded.has_failed
"""
_RENDER = f"""
UPDATE rendering SET why = '{TURNED_OVER}'
WHERE host = ? AND url IN (SELECT url FROM inputs WHERE host = ? AND spared = ?)
"""  # noqa: S608 -- a constant


class Checks(NamedTuple):
    """What is known of a host.

    Attributes:
        n_pages: its pages that seemed to be the same, in all refreshes.
        has_failed: was one of them, when it was rendered, another one?
    """

    n_pages: int = 0
    has_failed: bool = False


class InputsTable(Queries):
    """A row for each page that was rendered and can be told by what it was made from.

    A row holds only for the version of the page that it was noted with, and that is told by the
    time when it was fetched: so it does not matter which of both is written first.
    """

    def note(self, host: str, page: Page, inputs: Inputs | None) -> None:
        """Record what a page is made from that is going to be stored; None: it is not known."""
        answers = None if inputs is None else to_json(inputs.answers)
        url = storable(page.url or "")
        if inputs is None or answers is None:
            self._database.write("DELETE FROM inputs WHERE host = ? AND url = ?", (host, url))
            return
        row = (host, url, inputs.shell, storable(answers), page.fetched_at)
        self._database.write(_NOTE, row, weight=1)

    def confirm(self, number: int, host: str, page: Page) -> None:
        """Record that a page is the stored one: what was noted with it holds for that."""
        values = (number, host, storable(page.url or ""), page.fetched_at)
        self._database.write(_CONFIRM, values, weight=1)

    def of_page(self, number: int, host: str, url: str) -> Inputs | None:
        """What the stored version of a page was made from; None: it is not known."""
        return _inputs(self._database.first(_OF_PAGE, (number, host, url)))

    def before(self, host: str, url: str) -> Inputs | None:
        """What was noted last of a page, whether it was stored or not."""
        query = "SELECT shell, answers FROM inputs WHERE host = ? AND url = ?"
        return _inputs(self._database.first(query, (host, url)))

    # --- Pages that were not rendered for it -----------------------------------------------------

    def checks(self, host: str) -> Checks:
        """What is known of a host."""
        query = "SELECT pages, has_failed FROM input_checks WHERE host = ?"
        row = self._database.first(query, (host,))
        return Checks() if row is None else Checks(row[0], bool(row[1]))

    def count(self, host: str) -> None:
        """Count a page that seems to be the same."""
        self._database.write(_COUNT, (host, False), weight=1)

    def note_spared(self, host: str, url: str, refresh: int) -> None:
        """Record that a page counts as the same in a refresh, and was not rendered."""
        query = "UPDATE inputs SET spared = ? WHERE host = ? AND url = ?"
        self._database.write(query, (refresh, host, url), weight=1)

    def refuse(self, host: str, refresh: int) -> None:
        """Trust a host no more, and have its pages rendered that were not in this refresh."""
        with self._database.unit():
            self._database.write(_REFUSE, (host, True), weight=1)
            self._database.write(_RENDER, (host, host, refresh))

    def spared_in(self, host: str, url: str) -> int:
        """The refresh in which a page was told to be the same and not rendered; 0: none."""
        query = "SELECT spared FROM inputs WHERE host = ? AND url = ?"
        return int(self._database.value(query, (host, url)) or 0)

    def count_spared(self, refresh: int) -> int:
        """The number of pages that were not rendered in a refresh, but are the same."""
        query = "SELECT count(*) FROM inputs WHERE spared = ? AND spared > 0"
        return int(self._database.value(query, (refresh,)) or 0)


def _inputs(row: tuple[str, str] | None) -> Inputs | None:
    """What a row tells; None: there is none, or it is damaged."""
    answers = None if row is None else from_json(row[1])
    return None if row is None or answers is None else Inputs(row[0], answers)
