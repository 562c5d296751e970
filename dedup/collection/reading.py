"""Reading the rows of a collection's files, one after the other."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import BinaryIO, TextIO

from dedup.collection.columns import Columns
from dedup.collection.parquet import read_parquet
from dedup.collection.rows import MAX_ROW_BYTES, Broken, JsonRow, Row, TableRow
from dedup.collection.sources import Source
from dedup.collection.warc import read_warc
from dedup.files import bytes_read, open_binary

_SHOWN_CHARACTERS = 1_000
_LINES_UNTOLD = 64
_FIELD_LIMIT = "field limit"
"""Stands in what `csv` says of a cell that is too long."""


def read_rows(
    source: Source, columns: Columns, at: Callable[[int], object] = lambda _: None
) -> Iterator[Row | Broken]:
    """Read the rows of a file.

    JSON Lines: one object a line. CSV: with a header, fields parted by commas. Both are UTF-8, and
    may be compressed by gzip, zstd or xz. WARC: see `read_warc`.

    Args:
        source: the file.
        columns: of Parquet, those that are taken out of it; of CSV and Parquet, those it must have.
        at: called now and then with how many bytes of the file have been read.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ValueError: a table lacks columns.
        ModuleNotFoundError: pyarrow (for Parquet) or warcio (for WARC) is not installed.
    """
    if source.format == "parquet":
        yield from read_parquet(source, columns, at)
        return
    with closing(open_binary(source.path)) as file:
        if source.format == "warc":
            yield from read_warc(source, file, at)
        elif source.format == "csv":
            yield from _read_csv(source, file, columns, at)
        else:
            yield from _read_json_lines(file, at)


def _read_json_lines(file: BinaryIO, at: Callable[[int], object]) -> Iterator[Row | Broken]:
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if number % _LINES_UNTOLD == 0:
            at(bytes_read(file))
        if len(line) > MAX_ROW_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_ROW_BYTES)
            yield Broken(f"line {number}", f"it is longer than {MAX_ROW_BYTES >> 20} MiB")
        elif line and not line.isspace():
            yield JsonRow(f"line {number}", line)
    at(bytes_read(file))


def _read_csv(
    source: Source, file: BinaryIO, columns: Columns, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    csv.field_size_limit(MAX_ROW_BYTES)
    with io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        lines = _CsvLines(text)
        rows = csv.reader(lines, strict=True)
        header = _header(source, rows)
        if header:
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
                yield Broken(place, lines.why_broken() or _why_no_csv(error))
                continue
            if lines.number >= last + _LINES_UNTOLD:
                last = lines.number
                at(bytes_read(file))
            if len(row) == len(header):
                yield TableRow(place, dict(zip(header, row, strict=True)), columns.names)
            elif row:
                shown = ",".join(row)[:_SHOWN_CHARACTERS]
                yield Broken(place, f"expected {len(header)} fields, found {len(row)}", shown)
        at(bytes_read(file))


class _CsvLines:
    """The lines of a CSV file; knows in which one the quote was opened that is not closed.

    Attributes:
        number: of the lines that were read.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.number = 0
        self._opened = 0
        self._is_open = False
        self._has_ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(MAX_ROW_BYTES + 1)
        if not line:
            self._has_ended = True
            raise StopIteration
        self.number += 1
        if len(line) > MAX_ROW_BYTES:
            while line and not line.endswith(("\n", "\r")):
                line = self._text.readline(MAX_ROW_BYTES)
            raise csv.Error(_FIELD_LIMIT)
        if '"' in line:
            count = line.replace('""', "").count('"')  # two are one mark in a cell
            self._is_open ^= count % 2 == 1
            if self._is_open and count:
                self._opened = self.number
        return line

    def begin_row(self) -> None:
        """Between rows no quote is open: a mark inside an unquoted cell is not a quote."""
        self._is_open = False

    def why_broken(self) -> str | None:
        """Why a row is broken, if a quote is still open at the end of the file."""
        if not (self._is_open and self._has_ended):
            return None
        count = self.number - self._opened + 1
        lines = "the line" if count == 1 else f"all {count:,} lines from there"
        return (
            f"the quote opened in line {self._opened} is never closed, so {lines} to the end of"
            " the file cannot be read"
        )


def _why_no_csv(error: csv.Error) -> str:
    if _FIELD_LIMIT in str(error):
        return f"a cell or line is longer than {MAX_ROW_BYTES >> 20} MiB"
    return f"invalid CSV ({error})"


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
