"""The format of a file, by its ending."""

from collections.abc import Sequence
from pathlib import Path

_COMPRESSIONS = ("", ".gz", ".zst")
_TEXT_ENDINGS = tuple(f".{name}{end}" for name in ("jsonl", "csv") for end in _COMPRESSIONS)
_WARC_ENDINGS = (".warc", ".warc.gz")

ENDINGS = (*_TEXT_ENDINGS, ".parquet", *_WARC_ENDINGS)
"""Endings of the files that can be written."""


def check_ending(path: Path, endings: Sequence[str] = ENDINGS) -> None:
    """Raise `ValueError` if the file's ending is not among `endings`."""
    if not path.name.lower().endswith(tuple(endings)):
        raise ValueError(f"the file's ending must be {' or '.join(endings)}, got {str(path)!r}")


def is_warc(path: Path) -> bool:
    return path.name.lower().endswith(_WARC_ENDINGS)
