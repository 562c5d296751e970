"""Writing rows: one file for each format, which `dedup.collection.formats` names in its table.

A further format is a `Writer` in a file of its own and a row of that table.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from dedup.collection.rows import Row, TableRow, Values
from dedup.collection.writing.kinds import Kind
from dedup.document import Document

_NOTHING = Document("", "")


class Output(NamedTuple):
    """A file to write.

    Attributes:
        path: where to.
        name: of the file once it is whole; its ending tells the format.
        id_column: whose type the marks take; empty: they are text.
        columns: with their types in Parquet, where all rows have the same; None: they are found in
            the rows.
        tell: is called with sentences on what the file cannot hold.
        names: of the columns where there are no rows.
    """

    path: Path
    name: str
    id_column: str = "id"
    columns: Mapping[str, Kind] | None = None
    tell: Callable[[str], object] = lambda _: None
    names: Sequence[str] = ()


class Writer(Protocol):
    """Takes rows, in their order."""

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        """Write a row, with the columns of `marks` after its own."""

    def finish(self) -> None:
        """Write what is left."""

    def close(self) -> None:
        """Close the file, whole or not."""


def all_values(row: Row, document: Document, marks: Values | None) -> Values:
    """The columns of a row, and those of its marks in place of columns of their names."""
    values = row.values(document)
    return values if marks is None else {**values, **marks}


def write_record(writer: Writer, record: Values) -> None:
    """Write a row of our own."""
    writer.write(TableRow("", record, ()), _NOTHING, None)
