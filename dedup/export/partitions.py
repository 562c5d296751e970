"""Parquet in folders, one for each host or day, as DuckDB, Spark and pyarrow read them."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from dedup.collection.formats import open_writer
from dedup.collection.writing import Output, write_record
from dedup.collection.writing.kinds import Kind
from dedup.pieces.runs import SortedRows
from dedup.urls.parts import host_of

PARTITIONS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "host": ("url", host_of),
    "date": ("fetched_at", lambda time: str(time)[: len("2026-11-24")]),
}
"""What pages may be parted by: the field that tells it, and how."""

_UNKNOWN = "__HIVE_DEFAULT_PARTITION__"
_MAX_NAME_BYTES = 255


def write_partitions(
    folder: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Kind], by: str
) -> int:
    """Write rows to `by=VALUE/part-0.parquet` below a folder; return the number of files.

    Rows are sorted on the disk, and one file is open at a time.

    Args:
        folder: an empty one.
        rows: each with all columns, and the field of `PARTITIONS`.
        columns: with their types.
        by: a name of `PARTITIONS`.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    field, value_of = PARTITIONS[by]
    n_files = 0
    with (
        TemporaryDirectory(prefix="dedup-") as temporary,
        closing(SortedRows(Path(temporary))) as ordered,
    ):
        for number, row in enumerate(rows):
            ordered.add((_folder_name(by, value_of(row[field])), number, json.dumps(row)))
        for name, group in groupby(ordered, key=itemgetter(0)):
            (folder / name).mkdir()
            write_parquet(folder / name / "part-0.parquet", map(_row, group), columns)
            n_files += 1
    return n_files


def write_parquet(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Kind]
) -> None:
    """Write a file of a folder that gets its name once all of it is written."""
    with open_writer("parquet", Output(path, path.name, columns=columns)) as writer:
        for row in rows:
            write_record(writer, row)


def _row(sorted_row: tuple[str, int, str]) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(sorted_row[2])
    return row


def _folder_name(by: str, value: str) -> str:
    name = f"{by}={quote(value, safe='')}"
    return name if value and len(name) <= _MAX_NAME_BYTES else f"{by}={_UNKNOWN}"
