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
            present = file.schema_arrow.names
            if len(set(present)) < len(present):
                raise ValueError(f"{source.name}: column names must be unique, got {present}")
            columns.check(present, source.name)
            names = [name for name in dict.fromkeys(columns.names) if name in present]
            number, total = 0, max(file.metadata.num_rows, 1)
            n_unpacked = 0
            for batch in _batches(file, parquet, source):
                n_unpacked += batch.nbytes
                check_unpacked(source.name, n_unpacked, source.size_bytes)
                for row in _rows(batch, names, number):
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


def _rows(batch: Any, names: list[str], number: int) -> Iterator[ArrowRow | Broken]:
    picked = batch.select(names)
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
