"""The formats of files, by their endings: the one table for collections and exports."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dedup.collection.writing import Output, Writer
from dedup.collection.writing.csv_table import CsvWriter
from dedup.collection.writing.json_lines import JsonLinesWriter
from dedup.collection.writing.parquet import ParquetWriter
from dedup.collection.writing.warc import WarcWriter

_READ_COMPRESSIONS = (".gz", ".zst", ".xz", ".bz2")
_OF_TEXT = ("", ".gz", ".zst")


class Format(NamedTuple):
    """A format of files.

    Attributes:
        writer: writes such a file.
        written: endings of files to write; messages name the first.
        compressions: what can follow these.
        read: endings of files to read; `dedup.collection.reading` knows how.
    """

    writer: Callable[[Output], Writer]
    written: tuple[str, ...]
    compressions: tuple[str, ...] = ("",)
    read: tuple[str, ...] = ()


FORMATS = {
    "jsonl": Format(JsonLinesWriter, (".jsonl", ".ndjson"), _OF_TEXT, (".jsonl", ".ndjson")),
    "csv": Format(CsvWriter, (".csv",), _OF_TEXT, (".csv",)),
    "tsv": Format(partial(CsvWriter, delimiter="\t"), (".tsv",), _OF_TEXT, (".tsv",)),
    "parquet": Format(ParquetWriter, (".parquet",), ("",), (".parquet",)),
    "warc": Format(WarcWriter, (".warc",), ("", ".gz"), (".warc", ".wet")),
}

ENDINGS = tuple(f"{each.written[0]}{end}" for each in FORMATS.values() for end in each.compressions)
"""Endings of the files that can be written."""


def known_format(name: str) -> str | None:
    """The format of a file of this name; None: the ending is of none that is read.

    >>> known_format("a.jsonl.gz"), known_format("a.WET.gz"), known_format("notes.txt")
    ('jsonl', 'warc', None)
    """
    ending, _ = _endings(name)
    return next((found for found, each in FORMATS.items() if ending in each.read), None)


def compression_of(name: str) -> str:
    """The ending that tells how a file is compressed; "" where none does."""
    return _endings(name)[1]


def format_of(path: Path) -> str:
    """The format to read a file in; JSON Lines where the ending is of none."""
    return known_format(path.name) or "jsonl"


def format_to_write(path: Path | str, *, also: Sequence[str] = ()) -> str:
    """The format to write a file in.

    Args:
        path: of the file, or its address.
        also: further endings, each that of a format of its name.

    Raises:
        ValueError: the ending is of none that can be written.
    """
    ending, compression = _endings(Path(path).name)
    for found, each in FORMATS.items():
        if ending in each.written and compression in each.compressions:
            return found
    if f"{ending}{compression}" in also:
        return ending[1:]
    endings = " or ".join([*ENDINGS, *also])
    raise ValueError(f"the file extension must be {endings}, got {str(path)!r}")


@contextmanager
def open_writer(found: str, output: Output) -> Iterator[Writer]:
    """Open a file for rows, in a format of the table.

    Raises:
        OSError: it cannot be written.
        ModuleNotFoundError: what writes the format is not installed.
    """
    with closing(FORMATS[found].writer(output)) as writer:
        yield writer
        writer.finish()


def _endings(name: str) -> tuple[str, str]:
    """The ending that tells the format, and that of the compression."""
    path = Path(name.lower())
    if path.suffix in _READ_COMPRESSIONS:
        return Path(path.stem).suffix, path.suffix
    return path.suffix, ""
