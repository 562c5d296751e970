"""Bytes, which Parquet has, in formats that have only texts."""

from base64 import b64encode
from collections import Counter
from typing import Any

from dedup.collection.rows import ArrowRow, Row, Values
from dedup.collection.writing import Output, all_values
from dedup.document import Document

_PLAIN = (str, int, float, bool, type(None))


class BytesAsText:
    """Gives values in which bytes are texts: as UTF-8, or base64 where they are none."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._encoded: Counter[str] = Counter()

    def values(self, row: Row, document: Document, marks: Values | None) -> Values:
        """All columns, as `all_values` gives them."""
        values = all_values(row, document, marks)
        if not isinstance(row, ArrowRow):
            return values
        return {name: self._as_text(name, value) for name, value in values.items()}

    def tell(self) -> None:
        """Tell in which columns bytes were written as base64."""
        for name, count in self._encoded.items():
            self._output.tell(
                f"{self._output.name}: {count:,} values in `{name}` are bytes that are not UTF-8,"
                " written as base64; Parquet keeps them as they are"
            )

    def _as_text(self, name: str, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, bytes):
            try:
                return value.decode()
            except UnicodeDecodeError:
                self._encoded[name] += 1
                return b64encode(value).decode()
        if isinstance(value, dict):
            return {key: self._as_text(name, inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._as_text(name, inner) for inner in value]
        return value
