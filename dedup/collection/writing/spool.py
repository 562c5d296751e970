"""Rows whose columns are known only at the end: kept in a temporary file until then."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dedup.collection.rows import Values

_ROWS_AT_ONCE = 1_000


class RowSpool:
    """Takes rows, and gives them back in portions; `names` are all their columns, as first seen.

    Values come back as JSON values; times and bytes, which JSON lacks, come back as texts.

    Args:
        folder: of the temporary file, which has no name there.
    """

    def __init__(self, folder: Path) -> None:
        self.names: dict[str, None] = {}
        self._file = tempfile.TemporaryFile("w+b", dir=folder)  # noqa: SIM115 -- closed when forgotten

    def append(self, values: Values) -> None:
        self.names.update(dict.fromkeys(values))
        self._file.write(json.dumps(values, default=str).encode() + b"\n")

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        self._file.seek(0)
        rows: list[dict[str, Any]] = []
        for line in self._file:
            rows.append(json.loads(line))
            if len(rows) == _ROWS_AT_ONCE:
                yield rows
                rows = []
        if rows:
            yield rows

    def close(self) -> None:
        self._file.close()
