"""Rows as JSON Lines, CSV or Parquet: the same columns and values in all three.

Times are seconds since 1970. In Parquet, which knows one type for a column, ids are strings.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from dedup.explain.failures import FailedUrl
from dedup.extras import load_extra
from dedup.files import create_text, replacing
from dedup.store.export_columns import DUPLICATE_FIELDS, EXPORTED_FIELDS
from dedup.terminal.plain import guarded

Row = Mapping[str, Any]

_KINDS = {
    "status": "int32",
    "fetched_at": "float64",
    "failed_at": "float64",
    "depth": "int32",
    "distance": "int32",
    "resemblance": "float64",
    "first_seen": "float64",
}
"""Types in Parquet; what is not named here is a string."""

PAGES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in EXPORTED_FIELDS}
"""Columns of the unique pages, with their types in Parquet."""

DUPLICATES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in DUPLICATE_FIELDS}
"""Columns of the duplicate records."""

FAILED: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in FailedUrl._fields}
"""Columns of the URLs that failed."""

_ROWS_A_GROUP = 1_000
"""Rows that Parquet gets at once: some 10 MB of pages."""


def write_table(path: Path, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    """Write the rows in the format of the path's ending, one after the other.

    The file is there whole or not at all.

    Raises:
        ModuleNotFoundError: Parquet is asked for, and pyarrow is not installed.
        OSError: the file cannot be written.
    """
    with replacing(path) as part:
        if path.suffix.lower() == ".parquet":
            _write_parquet(part, rows, columns)
            return
        write: Callable[[TextIO, Iterable[Row], Mapping[str, str]], None] = (
            _write_csv if ".csv" in path.name.lower()[-8:] else _write_json_lines
        )
        with create_text(part) as file:
            write(file, rows, columns)


def _write_json_lines(file: TextIO, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    for row in rows:
        file.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")


def _write_csv(file: TextIO, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    writer = csv.writer(file, lineterminator="\r\n")  # RFC 4180
    writer.writerow(columns)
    for row in rows:
        writer.writerow([guarded(row[name]) for name in columns])


def _write_parquet(path: Path, rows: Iterable[Row], columns: Mapping[str, str]) -> None:
    arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
    parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in columns.items()])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for some in _batches(rows):
            typed = [{**row, **{name: _as_text(row[name]) for name in _ids(row)}} for row in some]
            writer.write_batch(arrow.RecordBatch.from_pylist(typed, schema=schema))


def _ids(row: Row) -> Iterator[str]:
    return (name for name in ("id", "duplicate_of") if name in row)


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while batch := list(islice(rest, _ROWS_A_GROUP)):
        yield batch
