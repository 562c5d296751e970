"""Tables in any format, with the same columns and values.

Times are ISO 8601. In Parquet, where a column has one type, ids are strings and times timestamps.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dedup.collection.formats import format_to_write, open_writer
from dedup.collection.writing import Output, write_record
from dedup.collection.writing.kinds import TIMESTAMP, Kind
from dedup.collection.writing.parquet import KINDS
from dedup.explain.failures import FailedUrl
from dedup.fields.registry import FIELDS
from dedup.files import replacing
from dedup.store.export_columns import DUPLICATE_FIELDS, EXPORTED_FIELDS

_KINDS = {**KINDS, "status": "int32", "failed_at": TIMESTAMP}
"""Types in Parquet; other columns are strings."""

DUPLICATES: Mapping[str, Kind] = {name: _KINDS.get(name, "string") for name in DUPLICATE_FIELDS}
"""Columns of the duplicate records, with their types in Parquet."""

FAILED: Mapping[str, Kind] = {name: _KINDS.get(name, "string") for name in FailedUrl._fields}
"""Columns of the failed URLs."""


def page_columns(names: Iterable[str] = EXPORTED_FIELDS) -> Mapping[str, Kind]:
    """Columns of the unique pages, see `dedup.fields.registry`."""
    return {name: FIELDS[name].kind for name in names}


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
