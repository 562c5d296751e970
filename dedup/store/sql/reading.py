"""Reading a job's pages by number, and their signatures."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document
from dedup.errors import DamageError
from dedup.sites.second_look import Rest
from dedup.store.exchange import split_body
from dedup.store.interface import Signatures
from dedup.store.records import (
    DROPPED_FIELDS,
    KEY_STAGE,
    PAGE_FIELDS,
    Page,
    is_reduced,
    key_in,
    with_kept,
)
from dedup.store.sql.database import Database

_SIGNATURES_PER_BATCH = 1 << 16
"""Four times as many take some 125 MB instead of 30 while they are indexed."""

_ROWS_AT_ONCE = 1 << 10
"""Rows read at a time. They fit into the processor's cache, which halves the time."""

_DOCUMENT = f"""
SELECT name, url, title, heading, own_title, source, value, text, rest FROM pages
LEFT JOIN signatures ON stage = '{KEY_STAGE}' AND page = number WHERE number = ?
"""  # noqa: S608 -- a constant


class PageReader:
    """Stored pages and dropped ones, with their signatures.

    Raises:
        StateError: from any method: the store is damaged.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def document(self, number: int) -> Document:
        name, *fields, key, packed, rest = self.database.record(_DOCUMENT, number)
        fields = [name or str(number), *fields, key_in(key)]
        return with_kept(fields, self._text(number, packed), self._rest(number, rest))

    def page(self, number: int) -> Page:
        """A stored page, with its body if that was kept.

        Raises:
            KeyError: there is no page of that number.
        """
        columns = "name", "text", "body", "rest", *PAGE_FIELDS
        name, text, body, rest, *fields = self._row("pages", columns, number)
        return Page(
            id=name or str(number),
            text=self._text(number, text),
            body=self._body(number, body),
            exchange=split_body(body)[0],
            key=self._key(number),
            rest=self._rest(number, rest),
            **dict(zip(PAGE_FIELDS, fields, strict=True)),
        )

    def dropped_page(self, number: int) -> Page:
        """A dropped page. Its body was not kept, unless it was the same as the original's.

        Raises:
            KeyError: there is no duplicate of that number.
        """
        columns = "name", "text", "original", *DROPPED_FIELDS
        name, text, original, *fields = self._row("duplicates", columns, number)
        copied = self.page(original) if text is None else None
        return Page(
            id=name or str(number),
            text=self._text(number, text) if copied is None else copied.text,
            body=None if copied is None else copied.body,
            key=self._key(original),  # duplicates have the same key
            **dict(zip(DROPPED_FIELDS, fields, strict=True)),
        )

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a page, without its text.

        Raises:
            KeyError: there is no page of that number.
        """
        name, url = self._row("pages", ("name", "url"), number)
        return name or str(number), url

    def body(self, number: int) -> bytes | None:
        """The body of a page; None: it was not kept.

        Raises:
            KeyError: there is no page of that number.
        """
        return self._body(number, *self._row("pages", ("body",), number))

    def signatures(self, stage: str, *, after: int = -1) -> Signatures:
        query = f"SELECT page, value FROM {self.database.signatures} WHERE stage = ? AND page > ?"  # noqa: S608 -- our own names
        found = self.database.each(f"{query} ORDER BY page", (stage, after))
        numbers: list[NDArray[np.int64]] = []
        values: list[bytes] = []
        while rows := list(islice(found, min(_ROWS_AT_ONCE, _SIGNATURES_PER_BATCH))):
            some_numbers, some_values = zip(*rows, strict=True)
            numbers.append(np.array(some_numbers, dtype=np.int64))
            values += some_values
            if len(values) >= _SIGNATURES_PER_BATCH:
                yield np.concatenate(numbers), values
                numbers, values = [], []
        if values:
            yield np.concatenate(numbers), values

    def _row(self, table: str, columns: Sequence[str], number: int) -> Any:
        query = f"SELECT {', '.join(columns)} FROM {table} WHERE number = ?"  # noqa: S608 -- our own names
        return self.database.record(query, number)

    def _key(self, number: int) -> str:
        query = "SELECT value FROM signatures WHERE stage = ? AND page = ?"
        return key_in(self.database.value(query, (KEY_STAGE, number)))

    def _text(self, number: int, compressed: bytes) -> str:
        return self.database.text(number, compressed, errors="surrogatepass")

    def _body(self, number: int, column: bytes | None) -> bytes | None:
        if column is None or is_reduced(column):
            return None
        return self.database.unpacked(number, split_body(column)[1], "body")

    def _rest(self, number: int, value: bytes | None) -> Rest | None:
        try:
            return None if value is None else Rest.from_bytes(value)
        except (ValueError, TypeError) as error:
            raise DamageError(
                self.database.location, f"the rare shingles of page {number} are damaged ({error})"
            ) from error
