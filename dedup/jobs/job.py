"""A job, as programs read it: what the commands show, as rows and values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from dedup.document import Document
from dedup.store.export_columns import EXPORTED_FIELDS

if TYPE_CHECKING:
    from dedup.store import JobStore
    from dedup.store.search import Found, Search

Row = dict[str, Any]
"""A row of an export, by column."""


def open_job(place: str | os.PathLike[str]) -> Job:
    """Open a job to be read: a folder, or `postgresql://…/DATABASE#NAME`.

    A crawl may write into it meanwhile: each call reads what is there then.

    Raises:
        StateError: there is no job, or it cannot be read.
    """
    job = Job(place)
    job.stats()
    return job


class Job:
    """What a job has. All calls only read; none keeps the job open.

    >>> pages = open_job("crawls/demo").pages("url", "markdown")  # doctest: +SKIP
    >>> frame = pandas.DataFrame(pages)                            # doctest: +SKIP
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = place if isinstance(place, str) and "://" in place else Path(place)
        self._search: Search | None = None

    def __repr__(self) -> str:
        from dedup.store.postgresql import without_password

        return f"Job({without_password(str(self.place))!r})"

    def pages(self, *fields: str) -> Iterator[Row]:
        """The unique pages, as rows of the columns named; without names, those of an export.

        Raises:
            ValueError: a field is not known.
        """
        from dedup.export import page_rows

        names = _checked(fields)
        with self._open() as store:
            yield from page_rows(store, names)

    def duplicates(self) -> Iterator[Row]:
        """A row for each page that was dropped: its original, the stage, the resemblance."""
        from dedup.export import duplicate_rows

        with self._open() as store:
            yield from duplicate_rows(store)

    def page(self, url: str, *fields: str) -> Row | None:
        """The stored page of a URL, in any spelling, or the one it duplicates; None: there is none.

        Raises:
            ValueError: it is no http(s) URL, or a field is not known.
        """
        from dedup.export.rows import page_row

        names = _checked(fields)
        with self._open() as store:
            number = _page_number(store, url)
            return None if number is None else page_row(store, number, names)

    def why(self, url: str) -> list[Row]:
        """What became of a URL, and of the page that it leads to; see `dedup.explain.fate.Fate`.

        Raises:
            ValueError: it is no http(s) URL.
        """
        from dedup.explain.fate import follow

        with self._open() as store:
            return [asdict(fate) for fate in follow(store, url)]

    def changes(self, since: str | None = None) -> list[Row]:
        """What changed since a date, a time, or a refresh's number; None: what the last one found.

        Raises:
            ValueError: `since` is neither.
        """
        from dedup.changes import Changes, as_row, moment

        with self._open() as store, TemporaryDirectory(prefix="dedup-") as folder:
            found = Changes(store, moment(store, since), Path(folder))
            return [as_row(change) for change in found.rows()]

    def seen(self, text: str, *, title: str = "") -> Row | None:
        """The page of this text, or a near duplicate of it; None: the job has none."""
        from dedup.explain.seen import SeenPages
        from dedup.times import iso_time

        with self._open() as store:
            found = SeenPages(store).find(Document(id="", text=text, title=title))
        return None if found is None else {**found._asdict(), "fetched_at": iso_time(found[-1])}

    def stats(self) -> Row:
        """The counts, as `dedup stats --json` has them."""
        from dedup.store import summarise

        with self._open() as store:
            return summarise(store)

    def search(self, words: str, *, limit: int = 10) -> list[Found]:
        """The pages with all these words, the best first.

        The first search reads all texts into a temporary file, later ones what is new.

        Raises:
            ValueError: there are no words, or `limit` is not positive.
        """
        from dedup.store.search import Search

        if self._search is None:
            self._search = Search()
        with self._open() as store:
            return self._search.find(store, words, limit=limit)

    def _open(self) -> JobStore:
        from dedup.store import open_store

        return open_store(self.place, read_only=True)


def _checked(fields: Iterable[str]) -> tuple[str, ...]:
    from dedup.fields.registry import checked

    names = tuple(fields)
    return tuple(checked(names, of="fields")) if names else EXPORTED_FIELDS


def _page_number(store: JobStore, url: str) -> int | None:
    from dedup.explain.fate import follow

    fate = follow(store, url)[-1]
    if fate.outcome == "stored":
        return fate.number
    return fate.original if fate.original_job is None else None
