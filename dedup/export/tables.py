"""Rows in any format of tables: the same columns and values in all of them.

Times are seconds since 1970. In Parquet, which knows one type for a column, ids are strings.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dedup.collection.formats import format_to_write, open_writer
from dedup.collection.writing import Output, write_record
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
"""Types in Parquet; what is not named here is a string."""

PAGES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in EXPORTED_FIELDS}
"""Columns of the unique pages, with their types in Parquet."""

DUPLICATES: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in DUPLICATE_FIELDS}
"""Columns of the duplicate records."""

FAILED: Mapping[str, str] = {name: _KINDS.get(name, "string") for name in FailedUrl._fields}
"""Columns of the URLs that failed."""


def write_table(path: Path, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> None:
    """Write the rows in the format of the path's ending, one after the other.

    The file is there whole or not at all.

    Args:
        path: where to.
        rows: each with all columns, in their order.
        columns: with their types in Parquet.

    Raises:
        ValueError: the ending is of no format of tables.
        ModuleNotFoundError: Parquet is asked for, and pyarrow is not installed.
        OSError: the file cannot be written.
    """
    found = format_to_write(path)
    with (
        replacing(path) as part,
        open_writer(found, Output(part, path.name, columns=columns)) as writer,
    ):
        for row in rows:
            write_record(writer, row)
