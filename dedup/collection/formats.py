"""The format of a collection's file, by its ending."""

from pathlib import Path
from typing import Literal

Format = Literal["jsonl", "csv", "parquet", "warc"]

_COMPRESSIONS = (".gz", ".zst", ".xz")
_FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".warc": "warc",
    ".wet": "warc",
}

WRITTEN: dict[Format, tuple[str, ...]] = {
    "jsonl": ("", ".gz", ".zst"),
    "csv": ("", ".gz", ".zst"),
    "parquet": ("",),
    "warc": ("", ".gz"),
}
"""Formats that can be written, with the compressions of each."""


def known_format(name: str) -> Format | None:
    """The format of a file of this name; None: the ending is of none.

    >>> known_format("a.jsonl.gz"), known_format("a.WET.gz"), known_format("notes.txt")
    ('jsonl', 'warc', None)
    """
    return _FORMATS.get(_without_compression(name)[0])


def compression_of(name: str) -> str:
    """The ending that tells how a file is compressed; "" where none does."""
    return _without_compression(name)[1]


def format_of(path: Path) -> Format:
    """The format to read a file in; JSON Lines where the ending is of none."""
    return known_format(path.name) or "jsonl"


def format_to_write(path: Path) -> Format:
    """The format to write a file in.

    Raises:
        ValueError: the ending is of none that can be written.
    """
    ending, compression = _without_compression(path.name)
    found = _FORMATS.get(ending)
    if found is None or ending == ".wet" or compression not in WRITTEN[found]:
        endings = [f".{name}{end}" for name, ends in WRITTEN.items() for end in ends]
        raise ValueError(f"the file's ending must be {' or '.join(endings)}, got {str(path)!r}")
    return found


def _without_compression(name: str) -> tuple[str, str]:
    """The ending that tells the format, and that of the compression."""
    path = Path(name.lower())
    if path.suffix in _COMPRESSIONS:
        return Path(path.stem).suffix, path.suffix
    return path.suffix, ""
