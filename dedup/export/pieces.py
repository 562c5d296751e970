"""The pieces of a job's pages as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dedup.collection.columns import Columns
from dedup.collection.reading import read_rows
from dedup.collection.rows import Broken
from dedup.collection.sources import Source
from dedup.collection.writing.kinds import Kind
from dedup.document import Document
from dedup.export.rows import page_source, reduced_of
from dedup.fields.markup_writer import paragraph
from dedup.fields.page_source import PageSource
from dedup.pieces import Count, count_words, cut
from dedup.pieces.records import NOW, THEN, Record, rows_of, without_near
from dedup.pieces.runs import SortedRows
from dedup.store import JobStore
from dedup.store.selection import EVERYTHING, Selection

PIECES: Mapping[str, Kind] = {
    "id": "string",
    "text": "string",
    "headings": ["string"],
    "places": [{"url": "string", "number": "int32"}],
}
"""The columns, with their types in Parquet."""

CHANGES: Mapping[str, Kind] = {"change": "string", **PIECES}
"""The columns of what has changed."""


class PieceOptions(NamedTuple):
    """How pages are cut, and which pieces are written.

    Attributes:
        size: how long a piece may be.
        count: the length of a text.
        without_near: write only one of pieces that are near duplicates.
        since: only what has changed since a time, or since the export in a file.
        change: what is cut in place of a page, see `WithoutRepeated`.
    """

    size: int
    count: Count = count_words
    without_near: bool = False
    since: float | Source | None = None
    change: Callable[[PageSource], PageSource] | None = None


def piece_rows(
    store: JobStore,
    options: PieceOptions,
    folder: Path,
    selection: Selection = EVERYTHING,
    *,
    on_page: Callable[[], object] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Return the rows of pieces by ascending ids.

    Pages that were gone when they were last visited have no pieces.

    Args:
        store: of the job.
        options: see there.
        folder: of temporary files.
        selection: of the pages.
        on_page: is called for each page that has been cut.

    Raises:
        ValueError: the earlier export is something else.
    """
    with closing(SortedRows(folder)) as found, closing(SortedRows(folder)) as kept:
        cutting = _Cutting(store, options, found)
        for number in store.exports.page_numbers(selection):
            source = page_source(store, number)
            cutting.add_page(options.change(source) if options.change else source, number)
            on_page()
        if isinstance(options.since, Source):
            for name in _ids(options.since):
                found.add(tuple(Record(name, 0, "", 0, THEN)))
        elif options.since is not None:
            store.refreshes.retention.check(options.since)
            cutting.add_versions(options.since, selection)
        rows = found
        if options.without_near:
            without_near(map(Record._make, found), kept, folder)
            rows = kept
        yield from rows_of(map(Record._make, rows), with_changes=options.since is not None)


class _Cutting:
    """Cuts pages and writes records of their pieces."""

    def __init__(self, store: JobStore, options: PieceOptions, out: SortedRows) -> None:
        self._store, self._options, self._out = store, options, out
        self._gone: Mapping[int, float] = store.exports.gone_pages()

    def add_page(self, source: PageSource, number: int) -> None:
        since = self._options.since
        when = 0 if number in self._gone else NOW
        if isinstance(since, float) and source.page.fetched_at <= since:
            when |= self._then(number, since)
        if when:
            self._add(source, when)

    def add_versions(self, since: float, selection: Selection) -> None:
        """Add what pages were at a time, of those that have changed since."""
        for number, text, body, data in self._store.exports.versions(since, selection):
            if when := self._then(number, since):
                page = replace(self._store.page(number), text=text, body=body)
                self._add(PageSource(page, reduced_of(self._store, number, data)), when)

    def _then(self, number: int, since: float) -> int:
        return 0 if self._gone.get(number, since + 1) <= since else THEN

    def _add(self, source: PageSource, when: int) -> None:
        markup = source.markup
        if markup is None:
            markup = "".join(map(paragraph, source.text.splitlines()))
        pieces = cut(markup, self._options.size, self._options.count)
        for number, piece in enumerate(pieces, start=1):
            place = piece.id, 0, source.url, number, when
            self._out.add(tuple(Record(*place, piece.headings, piece.text)))


def _ids(source: Source) -> Iterator[str]:
    """The ids of an earlier export.

    Raises:
        ValueError: it is something else.
    """
    columns = Columns(text="id", html="id", required=frozenset(["id"]))
    for row in read_rows(source, columns):
        if isinstance(row, Broken):
            raise ValueError(f"{source.name}: {row.place} cannot be read: {row.reason}")
        values = row.values(Document("", ""))
        if "change" in values or not isinstance(values.get("id"), str):
            raise ValueError(
                f"--pieces-since must be a time or an export of all pieces, got {source.name!r},"
                f" where {row.place} has {'a change' if 'change' in values else 'no id'}"
            )
        yield values["id"]
