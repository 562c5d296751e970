"""Reading Parquet: batches stay as they are, and only the columns that count become objects."""

from collections.abc import Callable, Iterator

from dedup.collection.columns import Columns
from dedup.collection.rows import ArrowRow, Broken, Row
from dedup.collection.sources import Source
from dedup.extras import load_extra

_BATCH_ROWS = 256


def read_parquet(
    source: Source, columns: Columns, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    """Read the rows of a Parquet file.

    Raises:
        OSError: the file cannot be read, or is damaged.
        ValueError: it lacks columns.
        ModuleNotFoundError: pyarrow is not installed.
    """
    arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
    parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
    try:
        with parquet.ParquetFile(source.path) as file:
            present = file.schema_arrow.names
            columns.check(present, source.name)
            names = [name for name in dict.fromkeys(columns.names) if name in present]
            number, total = 0, max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                picked = batch.select(names).to_pylist()
                for index, row in enumerate(picked):
                    number += 1
                    yield ArrowRow(f"row {number}", batch, index, row)
                at(source.size_bytes * number // total)
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file cannot be read
            raise
        raise OSError(
            f"{source.name}: the file is damaged, or no Parquet file ({error})"
        ) from error
