"""What sites told of pages when these were visited last, and how often it was true."""

from collections.abc import Iterable

from dedup.revisits import Trust
from dedup.store.sql.database import Queries

_COUNTS = tuple(Trust._fields)

_ADDED = ", ".join(f"{name} = lastmods.{name} + excluded.{name}" for name in _COUNTS)
_NOTE = (
    "INSERT INTO lastmods VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 -- constants
    f" ON CONFLICT (url) DO UPDATE SET value = excluded.value, {_ADDED}"
)
_ALL_COUNTS = f"SELECT url, {', '.join(_COUNTS)} FROM lastmods"  # noqa: S608 -- constants


OF_INDEX = "text "
"""What the value of a page begins with that a search index has."""

FORGOTTEN = ("", OF_INDEX)
_FORGET = (
    "UPDATE lastmods SET value ="  # noqa: S608 -- constants
    f" CASE WHEN substr(value, 1, {len(OF_INDEX)}) = '{OF_INDEX}' THEN '{OF_INDEX}' ELSE '' END"
)


def is_of_index(value: str) -> bool:
    """Is it what a search index says, and no `lastmod`?"""
    return value.startswith(OF_INDEX)


class Lastmods(Queries):
    """The `lastmod` of pages, or what search indexes say, each as it was at the last visit."""

    def known(self) -> dict[str, str]:
        """The values by URL."""
        return dict(self._database.all("SELECT url, value FROM lastmods"))

    def counts(self) -> dict[str, Trust]:
        """How often it was told of each page, by its URL, that it had changed or not."""
        return {url: Trust(*counts) for url, *counts in self._database.all(_ALL_COUNTS)}

    def add(self, values: Iterable[tuple[str, str]]) -> None:
        """Record values that are told for the first time, or once more since `forget`."""
        rows = [(url, value, 0, 0, 0, 0) for url, value in values]
        self._database.write_many(_NOTE, rows)

    def drop(self, urls: Iterable[str]) -> None:
        """Delete the values and counts of pages of which another kind of value is told now."""
        self._database.write_many("DELETE FROM lastmods WHERE url = ?", [(url,) for url in urls])

    def forget(self) -> None:
        """Forget the values, as all pages are visited without asking for new ones."""
        self._database.write(_FORGET)

    def note(self, url: str, value: str, *, is_named: bool, has_changed: bool) -> None:
        """Record the value of a page that was visited, and whether it told the truth."""
        counts = [0] * len(_COUNTS)
        counts[2 * (not has_changed) + (not is_named)] = 1
        self._database.write(_NOTE, (url, value, *counts), weight=1)
