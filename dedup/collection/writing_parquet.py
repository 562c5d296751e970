"""Writing Parquet: batches that came as Arrow's keep their types, other rows get some."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dedup.collection.rows import ArrowRow, Row, Values, json_line
from dedup.collection.untyped import RowSpool
from dedup.document import Document
from dedup.extras import load_extra

_ROWS_AT_ONCE = 1_000
_TYPES = {
    "duplicate_of": "string",
    "duplicate_of_url": "string",
    "stage": "string",
    "group": "string",
    "url": "string",
    "distance": "int32",
    "resemblance": "float64",
    "first_seen": "float64",
}
"""Of columns in which no row has a value."""


class ParquetWriter:
    """Rows of Parquet keep the schema of their file; of others the types are found at the end.

    A column with values of several types becomes text, its values as JSON writes them.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """

    def __init__(self, path: Path, id_column: str) -> None:
        self._arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
        self._parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
        self._path = path
        self._id_column = id_column
        self._writer: Any = None
        self._spool: RowSpool | None = None
        self._batch: Any = None
        self._places: list[int] = []
        self._marks: list[Values] = []
        self._parts: list[Any] = []
        self._n_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._spool is not None:
            self._spool.close()

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if not isinstance(row, ArrowRow) or self._spool is not None:
            if self._writer is not None or self._places:
                raise ValueError(
                    "rows of Parquet and of other formats cannot be written to one Parquet file;"
                    " write JSON Lines, or one format at a time"
                )
            self._spool = self._spool or RowSpool(self._path.parent)
            self._spool.append({**row.values(document), **(marks or {})})
            return
        if row.batch is not self._batch:
            self._take()
            self._batch = row.batch
        self._places.append(row.at)
        if marks is not None:
            self._marks.append(marks)

    def finish(self) -> None:
        self._take()
        self._flush()
        if self._spool is not None:
            self._write_spool(self._spool)
        elif self._writer is None:
            self._open(self._arrow.schema([]))

    def _take(self) -> None:
        """Take the rows of the batch at hand."""
        if not self._places:
            return
        taken = self._batch.take(self._arrow.array(self._places))
        for name in self._marks[0] if self._marks else ():
            values = self._column(name, [marks[name] for marks in self._marks], taken.schema)
            place = taken.schema.get_field_index(name)
            taken = (
                taken.append_column(name, values)
                if place < 0
                else taken.set_column(place, name, values)
            )
        self._parts.append(taken)
        self._n_rows += len(self._places)
        self._places, self._marks = [], []
        if self._n_rows >= _ROWS_AT_ONCE:
            self._flush()

    def _column(self, name: str, values: list[Any], schema: Any) -> Any:
        kind = getattr(self._arrow, _TYPES[name])()
        if name in ("duplicate_of", "group"):
            place = schema.get_field_index(self._id_column)
            kind = schema.field(place).type if place >= 0 else self._arrow.string()
            if self._arrow.types.is_string(kind) or self._arrow.types.is_large_string(kind):
                values = [None if value is None else str(value) for value in values]
        try:
            return self._arrow.array(values, kind)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise ValueError(
                f"`{self._id_column}` must name each row, as rows without it have another kind of"
                f" name ({error})"
            ) from None

    def _flush(self) -> None:
        if not self._parts:
            return
        if self._writer is None:
            self._open(self._parts[0].schema)
        try:
            self._writer.write_table(self._arrow.Table.from_batches(self._parts))
        except (ValueError, self._arrow.ArrowInvalid) as error:
            raise ValueError(
                f"the files' columns must have the same names and types for Parquet ({error})"
            ) from None
        self._parts, self._n_rows = [], 0

    def _open(self, schema: Any) -> None:
        self._writer = self._parquet.ParquetWriter(self._path, schema, compression="zstd")

    def _write_spool(self, spool: RowSpool) -> None:
        kinds: dict[str, Any] = {}
        for rows in spool:
            for name in spool.names:
                kinds[name] = self._joined(kinds.get(name), [row.get(name) for row in rows])
        schema = self._arrow.schema(
            [
                (_text(name), self._fallback(name) if self._arrow.types.is_null(kind) else kind)
                for name, kind in kinds.items()
            ]
        )
        self._open(schema)
        for rows in spool:
            columns = [
                self._values([row.get(name) for row in rows], kind)
                for name, kind in zip(kinds, schema.types, strict=True)
            ]
            self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=schema))

    def _fallback(self, name: str) -> Any:
        return getattr(self._arrow, _TYPES.get(name, "string"))()

    def _joined(self, kind: Any, values: list[Any]) -> Any:
        """The type of a column so far, and of some more of its values."""
        arrow = self._arrow
        try:
            found = arrow.array(values).type
            if kind is None:
                return found
            fields = [arrow.schema([("x", each)]) for each in (kind, found)]
            return arrow.unify_schemas(fields, promote_options="permissive").field(0).type
        except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError, UnicodeEncodeError):
            return arrow.string()

    def _values(self, values: list[Any], kind: Any) -> Any:
        if self._arrow.types.is_string(kind):
            values = [_text(value) for value in values]
        return self._arrow.array(values, kind)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json_line(value).decode().rstrip()
    return text.encode("utf-8", "replace").decode()
