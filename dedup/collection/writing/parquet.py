"""Writing Parquet: batches that came as Arrow's keep their types, other rows get some."""

from collections.abc import Mapping, Sequence
from typing import Any

from dedup.collection.rows import ArrowRow, Row, Values, as_text
from dedup.collection.writing import Output, all_values
from dedup.collection.writing.kinds import TIMESTAMP, arrow_type
from dedup.collection.writing.spool import RowSpool
from dedup.document import Document
from dedup.extras import load_extra

_ROWS_AT_ONCE = 1_000
KINDS = {"distance": "int32", "resemblance": "float64", "first_seen": TIMESTAMP}
"""Types of columns of our own; what is not named here is a string."""


class ParquetWriter:
    """Rows of Parquet keep the schema of their file; of others the types are found at the end.

    A column with values of several types becomes text, its values as JSON writes them. Where the
    columns are given with their types, rows are written as they come.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """

    def __init__(self, output: Output) -> None:
        self._arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
        self._parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
        self._path = output.path
        self._id_column = output.id_column
        self._output = output
        self._n_replaced = 0
        self._writer: Any = None
        self._spool: RowSpool | None = None
        self._batch: Any = None
        self._places: list[int] = []
        self._marks: list[Values] = []
        self._parts: list[Any] = []
        self._n_rows = 0
        self._kinds: Mapping[str, Any] = {}
        self._rows: list[Values] = []
        if output.columns is not None:
            kinds = output.columns.items()
            self._begin({name: arrow_type(self._arrow, kind) for name, kind in kinds})

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._spool is not None:
            self._spool.close()

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if self._kinds:
            self._rows.append(all_values(row, document, marks))
            if len(self._rows) == _ROWS_AT_ONCE:
                self._write_rows(self._rows)
                self._rows = []
            return
        if not isinstance(row, ArrowRow) or self._spool is not None:
            if self._writer is not None or self._places:
                raise ValueError(
                    "rows from Parquet and other formats cannot be written to one Parquet file;"
                    " write JSON Lines, or one format at a time"
                )
            self._spool = self._spool or RowSpool(self._path.parent)
            self._spool.append(all_values(row, document, marks))
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
        if self._rows:
            self._write_rows(self._rows)
        if self._spool is not None:
            self._write_spool(self._spool)
        elif self._writer is None:
            names = self._output.names
            self._open(self._arrow.schema([(name, self._own_kind(name)) for name in names]))
        if self._n_replaced:
            self._output.tell(
                f"{self._output.name}: {self._n_replaced:,} texts have bytes that are not UTF-8, or"
                " halves of characters, written as `?`; JSON Lines keep them as they are"
            )

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
        kind = self._own_kind(name)
        if name in ("duplicate_of", "group"):
            place = schema.get_field_index(self._id_column)
            kind = schema.field(place).type if place >= 0 else self._arrow.string()
            if self._arrow.types.is_string(kind) or self._arrow.types.is_large_string(kind):
                values = [None if value is None else str(value) for value in values]
        if name == "passages":
            values = list(map(as_text, values))
        try:
            return self._arrow.array(values, kind)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise ValueError(
                f"`{self._id_column}` must be set in each row, because generated ids have another"
                f" type ({error})"
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
                f"for Parquet, the files' columns must have the same names and types ({error})"
            ) from None
        self._parts, self._n_rows = [], 0

    def _open(self, schema: Any) -> None:
        self._writer = self._parquet.ParquetWriter(self._path, schema, compression="zstd")

    def _write_spool(self, spool: RowSpool) -> None:
        kinds: dict[str, Any] = {}
        for rows in spool:
            for name in spool.names:
                kinds[name] = self._joined(kinds.get(name), [row.get(name) for row in rows])
        is_null = self._arrow.types.is_null
        self._begin(
            {name: self._own_kind(name) if is_null(kind) else kind for name, kind in kinds.items()}
        )
        for rows in spool:
            self._write_rows(rows)

    def _begin(self, kinds: Mapping[str, Any]) -> None:
        self._kinds = kinds
        self._open(self._arrow.schema([(self._text(name), kind) for name, kind in kinds.items()]))

    def _write_rows(self, rows: Sequence[Values]) -> None:
        columns = [
            self._values([row.get(name) for row in rows], kind)
            for name, kind in self._kinds.items()
        ]
        schema = self._writer.schema
        self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=schema))

    def _own_kind(self, name: str) -> Any:
        return arrow_type(self._arrow, KINDS.get(name, "string"))

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
        try:
            if self._arrow.types.is_timestamp(kind) and any(isinstance(x, str) for x in values):
                return self._arrow.array(values, self._arrow.string()).cast(kind)
            return self._arrow.array(values, kind)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError, UnicodeEncodeError):
            if not self._arrow.types.is_string(kind):
                raise
            return self._arrow.array([self._text(value) for value in values], kind)

    def _text(self, value: Any) -> str | None:
        text = as_text(value)
        if text is None:
            return None
        stored = text.encode("utf-8", "replace").decode()
        self._n_replaced += stored != text
        return stored
