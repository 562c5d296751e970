"""Tables in any format, with the same columns and values.

Times are seconds since 1970. In Parquet, where a column has one type, ids are strings.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dedup.collection.formats import format_to_write, open_writer
from dedup.collection.writing import Output, write_record
from dedup.collection.writing.kinds import Kind
from dedup.collection.writing.parquet import KINDS
from dedup.explain.failures import FailedUrl
from dedup.files import replacing
from dedup.store.export_columns import DUPLICATE_FIELDS, EXPORTED_FIELDS

_KINDS = {
    **KINDS,
    "status": "int32",
    "fetched_at": "float64",
    "failed_at": "float64",
    "depth": "int32",
}
"""Types in Parquet; other columns are strings."""

PAGES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in EXPORTED_FIELDS}
"""Columns of the unique pages, with their types in Parquet."""

DUPLICATES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in DUPLICATE_FIELDS}
"""Columns of the duplicate records."""

FAILED: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in FailedUrl._fields}
"""Columns of the failed URLs."""


def write_table(path: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Kind]) -> None:
    """Write rows in the format given by the extension of the path.

    The file is written completely or not at all.

    Args:
        path: the output file.
        rows: each with all columns, in their order.
        columns: the columns with their types in Parquet.

    Raises:
        ValueError: the extension is not that of a table format.
        ModuleNotFoundError: the format is Parquet, and pyarrow is not installed.
        OSError: the file cannot be written.
    """
    found = format_to_write(path)
    with (
        replacing(path) as part,
        open_writer(found, Output(part, path.name, columns=columns)) as writer,
    ):
        for row in rows:
            write_record(writer, row)
