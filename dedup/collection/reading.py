"""Reading the rows of a collection's files, one after the other."""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import BinaryIO

from dedup.collection.columns import Columns
from dedup.collection.parquet import read_parquet
from dedup.collection.rows import Broken, JsonRow, Row, TableRow
from dedup.collection.sources import Source
from dedup.collection.warc import read_warc
from dedup.files import bytes_read, open_binary

MAX_ROW_BYTES = 64 * 2**20
"""A longer row is broken: working on it would take some 15 times as much memory."""

_SHOWN_CHARACTERS = 1_000
_LINES_UNTOLD = 64


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
        elif not line.isspace():
            yield JsonRow(f"line {number}", line)
    at(bytes_read(file))


def _read_csv(
    source: Source, file: BinaryIO, columns: Columns, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    csv.field_size_limit(MAX_ROW_BYTES)
    with io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        rows = csv.reader(text, strict=True)
        header = _header(source, rows)
        columns.check(header, source.name)
        last = 0
        while True:
            place = f"line {rows.line_num + 1}"
            try:
                row = next(rows)
            except StopIteration:
                break
            except csv.Error as error:
                yield Broken(place, f"it is no CSV ({error})")
                continue
            if rows.line_num >= last + _LINES_UNTOLD:
                last = rows.line_num
                at(bytes_read(file))
            if len(row) == len(header):
                yield TableRow(place, dict(zip(header, row, strict=True)), columns.names)
            elif row:
                shown = ",".join(row)[:_SHOWN_CHARACTERS]
                yield Broken(place, f"expected {len(header)} fields, found {len(row)}", shown)
        at(bytes_read(file))


def _header(source: Source, rows: Iterator[list[str]]) -> list[str]:
    try:
        header = next(rows, [])
    except csv.Error as error:
        raise ValueError(f"{source.name}: expected a CSV file with a header ({error})") from None
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise ValueError(f"{source.name}: columns must have different names, got {repeated}")
    return header
