"""Reading the rows of a collection's files, one after the other."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import BinaryIO

from dedup.collection.columns import Columns
from dedup.collection.delimited import read_delimited
from dedup.collection.json_rows import is_array, read_array, read_lines
from dedup.collection.parquet import read_parquet
from dedup.collection.recoding import Recoded
from dedup.collection.rows import Broken, Row
from dedup.collection.sources import Source
from dedup.collection.warc import read_warc
from dedup.files import open_binary

_START_BYTES = 512
_BLOCK_BYTES = 1 << 20


def read_rows(
    source: Source, columns: Columns, at: Callable[[int], object] = lambda _: None
) -> Iterator[Row | Broken]:
    """Read the rows of a file.

    JSON: one object a line, or one array of objects. CSV and TSV: with a header. All are UTF-8 if
    `columns` names no other encoding, and may be compressed; see `open_binary`. WARC: see
    `read_warc`.

    Args:
        source: the file.
        columns: of Parquet, those that are taken out of it; of tables, those they must have.
        at: called now and then with how many bytes of the file have been read.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ValueError: a table lacks columns.
        ModuleNotFoundError: pyarrow (for Parquet) or warcio (for WARC) is not installed.
    """
    if source.format == "parquet":
        yield from read_parquet(source, columns, at)
        return
    if source.format == "warc":
        with closing(open_binary(source.path)) as file:
            yield from read_warc(source, file, at)
        return
    with closing(_open_text(source, columns)) as file:
        start = file.read(_START_BYTES)
    with closing(_open_text(source, columns)) as file:
        if source.format in ("csv", "tsv"):
            yield from read_delimited(source, file, columns, at)
        elif is_array(start):
            yield from read_array(file, at)
        else:
            yield from read_lines(file, at)


def has_any(source: Source, columns: Columns, texts: Sequence[bytes]) -> bool:
    """Does a file of JSON have any of some texts, which have no line break? Others may.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
    """
    if source.format != "jsonl":
        return True
    longest = max(map(len, texts))
    end = b""
    with closing(_open_text(source, columns)) as file:
        while block := file.read(_BLOCK_BYTES):
            block = end + block
            if any(text in block for text in texts):
                return True
            end = block[-longest:]
    return False


def _open_text(source: Source, columns: Columns) -> BinaryIO:
    """Open a file for reading UTF-8."""
    file = open_binary(source.path)
    if columns.encoding is None:
        return file
    return io.BufferedReader(Recoded(file, source.name, columns.encoding))
