"""Writing rows as JSON Lines, CSV, Parquet or WARC: by the ending, all columns kept."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from dedup.collection.formats import Format
from dedup.collection.rows import JsonRow, Row, TableRow, Values, json_line
from dedup.collection.untyped import RowSpool
from dedup.collection.writing_parquet import ParquetWriter
from dedup.collection.writing_warc import WarcWriter
from dedup.document import Document
from dedup.files import create_binary
from dedup.terminal.plain import guarded


class Writer(Protocol):
    """Takes rows, in their order."""

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        """Write a row, with the columns of `marks` after its own."""

    def finish(self) -> None:
        """Write what is left."""


@contextmanager
def open_writer(path: Path, format: Format, name: str, id_column: str) -> Iterator[Writer]:  # noqa: A002 -- the usual name
    """Open a file for rows.

    Args:
        path: where to.
        format: see `dedup.collection.formats`.
        name: of the file once it is whole; its ending tells the compression.
        id_column: whose type the marks take.

    Raises:
        OSError: it cannot be written.
        ModuleNotFoundError: what writes the format is not installed.
    """
    with ExitStack() as stack:
        writer: Writer
        if format == "parquet":
            writer = stack.enter_context(ParquetWriter(path, id_column))
        elif format == "warc":
            writer = stack.enter_context(WarcWriter(path, name))
        else:
            file = stack.enter_context(create_binary(path))
            if format == "jsonl":
                writer = JsonLinesWriter(file)
            else:
                writer = stack.enter_context(closing(CsvWriter(file, path.parent)))
        yield writer
        writer.finish()


def write_record(writer: Writer, record: Values) -> None:
    """Write a row of our own."""
    writer.write(TableRow("", record, ()), Document("", ""), None)


class JsonLinesWriter:
    """A line that came as JSON is written as it came, byte for byte; marks stand at its end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if isinstance(row, JsonRow):
            line = row.line.rstrip()
            self._file.write(line + b"\n" if marks is None else marked_line(line, marks))
            return
        self._file.write(json_line({**row.values(document), **(marks or {})}))

    def finish(self) -> None:
        """Nothing is left."""


def marked_line(line: bytes, marks: Values) -> bytes:
    """A line of JSON with the marks at its end, in place of columns of their names."""
    spliced = _spliced(line.rstrip(), marks)
    if spliced is not None:
        return spliced + b"\n"
    return json_line({**json.loads(line.decode("utf-8", "replace")), **marks})


def _spliced(line: bytes, marks: Values) -> bytes | None:
    """The line with the marks at its end; None: it may have such columns already, or none."""
    if any(f'"{name}"'.encode() in line for name in marks) or b"\\u" in line[:1]:
        return None
    body = line.removesuffix(b"}").rstrip()
    separator = b"" if body.endswith(b"{") else b", "
    return body + separator + json_line(marks).rstrip()[1:]


class CsvWriter:
    """Rows of CSV have one header; of other rows all columns are collected first.

    Cells that came from CSV stay as they are. Before others that a spreadsheet takes for formulas
    an apostrophe is put, as `dedup export` does. What is no text is written as JSON writes it;
    nothing (null) is an empty cell.
    """

    def __init__(self, file: BinaryIO, folder: Path) -> None:
        self._file = file
        self._folder = folder
        self._names: list[str] | None = None
        self._spool: RowSpool | None = None

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        values = {**row.values(document), **(marks or {})}
        if self._names is None and self._spool is None:
            if isinstance(row, TableRow):
                self._names = list(values)
                self._write([self._names])
            else:
                self._spool = RowSpool(self._folder)
        if self._spool is not None:
            self._spool.append(values)
            return
        names = self._names or []
        if list(values) != names:
            raise ValueError(
                f"{row.place}: rows of CSV must have the same columns, got {list(values)}"
                f" after {names}; write JSON Lines, or one collection at a time"
            )
        as_cell = _cell if row.place else _guarded_cell  # records of our own have no place
        self._write([[as_cell(value) for value in values.values()]])

    def finish(self) -> None:
        if self._spool is None:
            return
        names = list(self._spool.names)
        self._write([[str(guarded(name)) for name in names]])
        for rows in self._spool:
            self._write([[_guarded_cell(row.get(name)) for name in names] for row in rows])

    def close(self) -> None:
        """Forget what was collected."""
        if self._spool is not None:
            self._spool.close()

    def _write(self, rows: list[list[str]]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n").writerows(rows)  # RFC 4180
        self._file.write(_as_they_came(text.getvalue()))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_line(value).decode().rstrip().strip('"')


def _guarded_cell(value: Any) -> str:
    return _cell(guarded(value))


def _as_they_came(text: str) -> bytes:
    """Text with the bytes that were no UTF-8; what else cannot be encoded is replaced."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
