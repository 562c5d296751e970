"""Reading CSV and TSV: with a header; where a quote is not closed, the next line is a row."""

import csv
import io
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, TextIO

from dedup.collection.columns import Columns
from dedup.collection.rows import MAX_ROW_BYTES, Broken, Row, TableRow
from dedup.collection.sources import Source
from dedup.files import bytes_read

_SHOWN_CHARACTERS = 1_000
_LINES_UNTOLD = 64
_FIELD_LIMIT = "field limit"
_UTF16 = ("\udcff\udcfe", "\udcfe\udcff")
_DELIMITERS = {",": "','", ";": "';'", "\t": "'\\t'", "|": "'|'"}
_UNEXPECTED_END = "unexpected end of data"
"""Stand in what `csv` says of a cell that is too long, and of one that does not end."""


def read_delimited(
    source: Source, file: BinaryIO, columns: Columns, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    """Read the rows of a table; cells are quoted as in RFC 4180, in TSV too.

    Raises:
        ValueError: it has no header, or lacks columns.
    """
    csv.field_size_limit(MAX_ROW_BYTES)
    delimiter = columns.delimiter or ("\t" if source.format == "tsv" else ",")
    with io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        lines = _Lines(text)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        header = _header(source, rows)
        if header:
            _check_header(source, header, columns)
            columns.check(header, source.name)
        last = 0
        while True:
            place = f"line {lines.number + 1}"
            lines.begin_row()
            try:
                row = next(rows)
            except StopIteration:
                break
            except csv.Error as error:
                yield lines.broken_row(place, error)
                continue
            if lines.number >= last + _LINES_UNTOLD:
                last = lines.number
                at(bytes_read(file))
            if len(row) == len(header):
                yield TableRow(place, dict(zip(header, row, strict=True)), columns.names)
            elif row:
                shown = delimiter.join(row)[:_SHOWN_CHARACTERS]
                yield Broken(place, f"expected {len(header)} fields, found {len(row)}", shown)
        at(bytes_read(file))


class _Lines:
    """The lines of a file, which can be read again from behind a quote opened by mistake.

    Attributes:
        number: of the lines that were read.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.number = 0
        self._again: deque[str] = deque()
        self.begin_row()

    def begin_row(self) -> None:
        """Between rows no quote is open: a mark inside an unquoted cell is not a quote."""
        self._row: list[str] = []
        self._size = 0
        self._is_open = False
        self._opened = self._opened_before = 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._readline()
        if not line:
            self._opened_before = self._opened
            raise StopIteration
        self.number += 1
        self._row.append(line)
        self._size += len(line)
        if self._size > MAX_ROW_BYTES:
            raise csv.Error(_FIELD_LIMIT)
        self._opened_before = self._opened
        if '"' in line:
            count = line.replace('""', "").count('"')  # two are one mark in a cell
            self._is_open ^= count % 2 == 1
            if self._is_open and count:
                self._opened = len(self._row)
        return line

    def broken_row(self, place: str, error: csv.Error) -> Broken:
        """Why the row is broken that was begun; the next one begins behind the open quote."""
        said, size = str(error), f"{MAX_ROW_BYTES >> 20} MiB"
        n_lost = min(self._opened_before, len(self._row))
        opened = self.number - len(self._row) + n_lost
        shown = "".join(self._row[:n_lost])[:_SHOWN_CHARACTERS].rstrip("\r\n")
        if _UNEXPECTED_END in said:
            reason = f"the quote opened in line {opened} is never closed"
        elif len(self._row) == 1:
            is_long = _FIELD_LIMIT in said
            reason = f"a cell or line is longer than {size}" if is_long else f"invalid CSV ({said})"
        else:
            where = f"within {size}" if _FIELD_LIMIT in said else "where its cell ends"
            reason = f"the quote opened in line {opened} is not closed {where}"
        self._again.extendleft(reversed(self._row[n_lost:]))
        self.number = opened
        return Broken(place, reason, shown)

    def _readline(self) -> str:
        line = self._text.readline(MAX_ROW_BYTES + 1)
        if len(line) > MAX_ROW_BYTES:
            part = line
            while part and not part.endswith(("\n", "\r")):
                part = self._text.readline(MAX_ROW_BYTES)
            line = line.rstrip("\r\n") + "\n"
        return line


def _check_header(source: Source, header: list[str], columns: Columns) -> None:
    """Check that the file is read as it is meant: a header that makes one column often is not.

    Raises:
        ValueError: another encoding or another delimiter is needed.
    """
    if header[0].startswith(_UTF16):
        raise ValueError(f"{source.name}: it is UTF-16; --encoding utf-16 reads it")
    if len(header) == 1 and not {columns.text, columns.html} & set(header):
        for mark, shown in _DELIMITERS.items():
            if mark in header[0]:
                raise ValueError(
                    f"{source.name}: the header is one column, {header[0][:_SHOWN_CHARACTERS]!r};"
                    f" --delimiter {shown} parts it"
                )


def _header(source: Source, rows: Iterator[list[str]]) -> list[str]:
    """The names of the columns; none: the file has no line that is not blank."""
    try:
        header = next((row for row in rows if row), [])
    except csv.Error as error:
        raise ValueError(f"{source.name}: expected a CSV file with a header ({error})") from None
    repeated = sorted(name for name, count in Counter(header).items() if count > 1)
    if repeated:
        raise ValueError(f"{source.name}: column names must be unique, got {repeated}")
    return header
