"""Evaluation sets, and the rows that hold a passage of one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xxhash import xxh3_128

from dedup.collection.account import FileAccount
from dedup.collection.columns import Columns
from dedup.collection.documents import Held, NoText, Read, read_given
from dedup.collection.reading import read_rows
from dedup.collection.rows import Broken
from dedup.collection.sites import learn_sites
from dedup.collection.sources import Source
from dedup.store import STORE_NAME
from dedup.store.sqlite import SqliteStore
from dedup.text.known_passages import KnownPassages

CONTAINS = "contains"
"""The stage of rows that hold a passage of an evaluation set."""

Named = tuple[Any, str | None, str]
"""The id, the URL and the text of a row."""


class Evaluation:
    """The rows of evaluation sets, in memory.

    Args:
        rows: of all sets.
        width: how many words make a passage.

    Attributes:
        digest: of what decides which rows hold a passage.
        passages: those of all rows.

    Raises:
        ValueError: there is no row.
    """

    def __init__(self, rows: Iterable[Named], width: int) -> None:
        self._labels: list[tuple[Any, str | None]] = []
        digest = xxh3_128(str(width).encode())

        def texts() -> Iterator[str]:
            for name, url, text in rows:
                self._labels.append((name, url))
                digest.update(f"{len(text)} {text}".encode(errors="surrogatepass"))
                yield text

        self.passages = KnownPassages(texts(), width)
        if not self._labels:
            raise ValueError("--contains must have a row with a text, or nothing is looked for")
        self.digest = digest.hexdigest()

    def label(self, number: int) -> tuple[Any, str | None]:
        """The id and the URL of a row."""
        return self._labels[number]

    def sorted_out(self, rows: Sequence[Read | NoText | str]) -> list[Read | Held | NoText | str]:
        """The same rows, those among them that hold a passage marked."""
        found: list[Read | Held | NoText | str] = list(rows)
        places = [place for place, each in enumerate(rows) if isinstance(each, Read)]
        texts = [each.document.text for each in rows if isinstance(each, Read)]
        for place, known in zip(places, self.passages.find(texts), strict=True):
            read = rows[place]
            if known is not None and isinstance(read, Read):
                found[place] = Held(read, known, *self._labels[known])
        return found


def rows_of_files(sources: Sequence[Source], columns: Columns) -> Iterator[Named]:
    """Read the rows of files.

    Raises:
        OSError, ValueError: a file cannot be read, or has no valid row.
    """
    columns = replace(columns, compare=(), others=(), required=frozenset())
    sites = learn_sites((row for each in sources for row in read_rows(each, columns)), columns)
    number = 0
    for source in sources:
        account = FileAccount(source, columns)
        for row in read_rows(source, columns):
            number += 1
            if isinstance(row, Broken):
                account.add_broken(row)
                continue
            try:
                found = read_given(row.given(), columns, sites, number)
            except (ValueError, RecursionError) as error:
                account.add_broken(Broken(row.place, str(error)))
            else:
                account.add(found.present, found.names)
                name = number if found.id is None else found.id
                yield name, found.document.url, found.document.text
        account.check()


def rows_of_job(folder: Path) -> Iterator[Named]:
    """Read the pages, or rows, that a job keeps.

    Raises:
        StateError: it cannot be read.
    """
    with SqliteStore(folder / STORE_NAME, read_only=True) as store:
        for number in store.exports.page_numbers():
            document = store.document(number)
            yield document.id, document.url, document.text
