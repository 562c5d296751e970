"""Rows with another text: all else in them stays as it came."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dedup.collection.columns import Columns
from dedup.collection.rows import ArrowRow, JsonRow, Row, TableRow
from dedup.extras import load_extra

_SPACE = " \t\r\n\ufeff"


def with_text(row: Row, text: str, columns: Columns) -> Row:
    """The row with another text in its column; a page of a web archive has it in its document."""
    if isinstance(row, JsonRow):
        line = row.line.decode("utf-8", "surrogateescape")
        changed = line_with_text(line, text, columns.text)
        return JsonRow(row.place, changed.encode("utf-8", "surrogateescape"))
    if isinstance(row, ArrowRow):
        return _arrow_row(row, text, columns)
    if isinstance(row, TableRow):
        return TableRow(row.place, {**row.columns, columns.text: text}, row.names)
    return row


def line_with_text(line: str, text: str, name: str) -> str:
    """A JSON object with another text in a column, or in the nested field that a path names.

    >>> line_with_text('{"n": 1.50, "a": {"b": "old"}}', "new", "a.b")
    '{"n": 1.50, "a": {"b": "new"}}'
    """
    span = _span(line, 0, [name]) or _span(line, 0, name.split("."))
    if span is None:
        raise ValueError(f"expected a field `{name}`")
    start, end = span
    is_escaped = "\\ud" in line[start:end].lower()  # halves of surrogate pairs, which UTF-8 lacks
    return line[:start] + json.dumps(text, ensure_ascii=is_escaped) + line[end:]


def _span(line: str, at: int, steps: Sequence[str]) -> tuple[int, int] | None:
    """Where a value stands in a line of JSON; of several with one name the last counts."""
    decoder = json.JSONDecoder()
    name, *others = steps
    found = None
    at = _past(line, at, "{")
    while line[at : at + 1] == '"':
        key, at = decoder.raw_decode(line, at)
        start = _past(line, at, ":")
        _, end = decoder.raw_decode(line, start)
        if key == name:
            found = start, end
        at = _past(line, end, ",")
    if found is None or not others:
        return found
    return _span(line, found[0], others)


def _past(line: str, at: int, mark: str) -> int:
    """The next place that is no space, after a mark if that comes first."""
    at = _past_space(line, at)
    return _past_space(line, at + 1) if line.startswith(mark, at) else at


def _past_space(line: str, at: int) -> int:
    while line[at : at + 1] and line[at] in _SPACE:
        at += 1
    return at


def _arrow_row(row: ArrowRow, text: str, columns: Columns) -> ArrowRow:
    arrow = load_extra("pyarrow", extra="parquet", purpose="Parquet")
    batch = row.batch.slice(row.at, 1)
    is_column = columns.text in batch.schema.names
    head, *steps = [columns.text] if is_column else columns.text.split(".")
    place = batch.schema.get_field_index(head)
    field = batch.schema.field(place)
    value = _replaced(batch.column(place)[0].as_py(), steps, text, columns.encoding)
    changed = batch.set_column(place, field, arrow.array([value], field.type))
    return ArrowRow(row.place, changed, 0, {**row.columns, columns.text: text})


def _replaced(value: Any, steps: Sequence[str], text: str, encoding: str | None) -> Any:
    if steps and isinstance(value, Mapping):
        name, *others = steps
        return {**value, name: _replaced(value[name], others, text, encoding)}
    return text.encode(encoding or "utf-8") if isinstance(value, bytes) else text
