"""Writing CSV and TSV: UTF-8, lines as RFC 4180 has them."""

import codecs
import csv
from collections.abc import Callable, Iterable
from io import TextIOWrapper

from dedup.collection.rows import Row, TableRow, Values, as_text
from dedup.collection.writing import Output
from dedup.collection.writing.bytes_as_text import BytesAsText
from dedup.collection.writing.spool import RowSpool
from dedup.document import Document
from dedup.files import create_binary
from dedup.terminal.plain import guarded

_ERRORS = "dedup.as_it_came"

_PLAIN = (int, type(None))
"""Types that `csv` itself writes so."""


class CsvWriter:
    """Rows of CSV have one header; of other rows all columns are collected first.

    Cells that came from CSV are unchanged. Other cells that a spreadsheet would take for formulas
    get an apostrophe. Values other than texts are written as JSON; null is an empty cell.
    """

    def __init__(self, output: Output, *, delimiter: str = ",") -> None:
        file = create_binary(output.path)
        self._file = TextIOWrapper(file, encoding="utf-8", errors=_ERRORS, newline="")
        self._writer = csv.writer(self._file, delimiter=delimiter, lineterminator="\r\n")
        self._texts = BytesAsText(output)
        self._folder = output.path.parent
        self._absent = output.names
        self._names: list[str] | None = None
        self._spool: RowSpool | None = None
        if output.columns is not None:
            self._begin(output.columns)

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        values = self._texts.values(row, document, marks)
        if self._names is None and self._spool is None:
            if isinstance(row, TableRow):
                self._begin(values)
            else:
                self._spool = RowSpool(self._folder)
        if self._spool is not None:
            self._spool.append(values)
            return
        if list(values) != self._names:
            raise ValueError(
                f"{row.place}: CSV rows must have the same columns, got {list(values)}"
                f" after {self._names}; write JSON Lines, or one collection at a time"
            )
        self._write(values.values(), str if row.place else guarded)  # our own have no place

    def finish(self) -> None:
        self._texts.tell()
        if self._spool is None:
            if self._names is None and self._absent:
                self._writer.writerow(self._absent)
            return
        names = list(self._spool.names)
        self._writer.writerow([guarded(name) for name in names])
        for rows in self._spool:
            for row in rows:
                self._write([row.get(name) for name in names], guarded)

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()
        self._file.close()

    def _write(self, cells: Iterable[object], of_text: Callable[[str], object]) -> None:
        self._writer.writerow(
            [
                of_text(cell)
                if isinstance(cell, str)
                else (cell if type(cell) in _PLAIN else as_text(cell))
                for cell in cells
            ]
        )

    def _begin(self, columns: Values) -> None:
        self._names = list(columns)
        self._writer.writerow(self._names)


def _as_it_came(error: UnicodeError) -> tuple[bytes, int]:
    """Encode half of a surrogate pair: the byte that was no UTF-8, or else a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    code = ord(error.object[error.start])
    return bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else b"?", error.start + 1


codecs.register_error(_ERRORS, _as_it_came)
