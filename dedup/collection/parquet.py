"""Reading Parquet: batches stay as they are, and only the columns that count become objects."""

from collections.abc import Callable, Iterator
from typing import Any

from dedup.collection.columns import Columns
from dedup.collection.rows import MAX_ROW_BYTES, ArrowRow, Broken, Row
from dedup.collection.sources import Source
from dedup.extras import load_extra
from dedup.files import BombError, check_unpacked

_BATCH_ROWS = 256
_BATCH_BYTES = 256 * 2**20


def read_parquet(
    source: Source, columns: Columns, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    """Read the rows of a Parquet file.

    Raises:
        OSError: the file cannot be read, is damaged, or a bomb.
        ValueError: it lacks columns, or has two of one name.
        ModuleNotFoundError: pyarrow is not installed.
    """
    arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
    parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
    try:
        with parquet.ParquetFile(source.path) as file:
            schema = _without_views(file.schema_arrow, arrow)
            present = schema.names
            if len(set(present)) < len(present):
                raise ValueError(f"{source.name}: column names must be unique, got {present}")
            paths = {name: path for name in columns.names if (path := _path(schema, name, arrow))}
            columns.check([*present, *(paths.keys() - set(present))], source.name)
            number, total = 0, max(file.metadata.num_rows, 1)
            n_unpacked = 0
            for batch in _batches(file, parquet, source):
                n_unpacked += batch.nbytes
                check_unpacked(source.name, n_unpacked, source.size_bytes)
                batch = batch if schema == file.schema_arrow else batch.cast(schema)
                for row in _rows(batch, _picked(batch, paths, arrow), number):
                    number += 1
                    yield row
                at(source.size_bytes * min(number, total) // total)
    except BombError:
        raise
    except (arrow.ArrowException, OSError, ArithmeticError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file cannot be read
            raise
        raise OSError(
            f"{source.name}: the file is damaged or not a Parquet file ({error})"
        ) from error


def _without_views(schema: Any, arrow: Any) -> Any:
    """The schema with ordinary texts and bytes for views, of which Arrow cannot take some rows."""
    plain = {arrow.string_view(): arrow.string(), arrow.binary_view(): arrow.binary()}
    fields = (field.with_type(_replaced(field.type, plain, arrow)) for field in schema)
    return arrow.schema(fields, schema.metadata)


def _replaced(kind: Any, plain: dict[Any, Any], arrow: Any) -> Any:
    types = arrow.types
    if types.is_struct(kind):
        fields = (kind.field(index) for index in range(kind.num_fields))
        return arrow.struct(
            [field.with_type(_replaced(field.type, plain, arrow)) for field in fields]
        )
    if types.is_list(kind) or types.is_large_list(kind):
        field = kind.value_field.with_type(_replaced(kind.value_type, plain, arrow))
        return arrow.large_list(field) if types.is_large_list(kind) else arrow.list_(field)
    return plain.get(kind, kind)


def _path(schema: Any, name: str, arrow: Any) -> list[str] | None:
    """The steps to a column or, where its name is a path, to a nested field; None: no such one."""
    if name in schema.names:
        return [name]
    steps = name.split(".")
    kind = arrow.struct(list(schema))
    for step in steps:
        if not (arrow.types.is_struct(kind) and kind.get_field_index(step) >= 0):
            return None
        kind = kind.field(step).type
    return steps


def _picked(batch: Any, paths: dict[str, list[str]], arrow: Any) -> Any:
    """The columns and the nested fields that count, by the names that the user gave them."""
    compute = load_extra("pyarrow.compute", extra="parquet", purpose="Parquet")
    found = [
        batch.column(head) if not steps else compute.struct_field(batch.column(head), steps)
        for head, *steps in paths.values()
    ]
    return arrow.RecordBatch.from_arrays(found, list(paths))


def _rows(batch: Any, picked: Any, number: int) -> Iterator[ArrowRow | Broken]:
    try:
        found = picked.to_pylist() if batch.nbytes <= MAX_ROW_BYTES else [None] * len(picked)
    except UnicodeDecodeError:
        found = [None] * len(picked)
    for index, row in enumerate(found):
        place = f"row {number + index + 1}"
        if row is not None:
            yield ArrowRow(place, batch, index, row)
        elif batch.slice(index, 1).nbytes > MAX_ROW_BYTES:
            yield Broken(place, f"it is longer than {MAX_ROW_BYTES >> 20} MiB")
        else:
            try:
                yield ArrowRow(place, batch, index, picked.slice(index, 1).to_pylist()[0])
            except UnicodeDecodeError as error:
                yield Broken(place, f"a text in it is not UTF-8 ({error.reason})")


def _batches(file: Any, parquet: Any, source: Source) -> Iterator[Any]:
    """The file in batches of some 256 MiB at most, as far as that can be known before."""
    metadata = file.metadata
    for group in range(metadata.num_row_groups):
        row_bytes = _row_bytes(file, group, parquet, source)
        at_once = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(row_bytes, 1)))
        yield from file.iter_batches(batch_size=at_once, row_groups=[group])


def _row_bytes(file: Any, number: int, parquet: Any, source: Source) -> int:
    """How long a row may be by what is stored once for many rows: values in dictionaries.

    What a group says of its columns is not asked for: damage in it ends the process.
    """
    if file.metadata.row_group(number).total_byte_size * _BATCH_ROWS <= _BATCH_BYTES:
        return 0
    columns = (file.schema.column(index) for index in range(len(file.schema)))
    large = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    if not large:
        return 0
    compute = load_extra("pyarrow.compute", extra="parquet", purpose="Parquet")
    with parquet.ParquetFile(source.path, read_dictionary=large) as file:
        first = next(file.iter_batches(batch_size=1, row_groups=[number]), None)
        return sum(
            compute.max(compute.binary_length(column.dictionary)).as_py() or 0
            for column in (() if first is None else first.columns)
            if hasattr(column, "dictionary")
        )
