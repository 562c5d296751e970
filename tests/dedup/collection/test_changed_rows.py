"""Rows with another text: every other byte of them stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.collection.changed_rows import line_with_text, with_text
from dedup.collection.columns import Columns
from dedup.collection.rows import JsonRow

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES), st.text(), st.integers(0, 3), st.booleans())
def test_only_the_text_changes(
    others: dict[str, object], text: str, indent: int, is_ascii: bool
) -> None:
    row = {**others, "text": "old", "last": 1}
    line = json.dumps(row, indent=indent or None, ensure_ascii=is_ascii)
    changed = line_with_text(line, text, "text")
    assert json.loads(changed) == {**row, "text": text}
    assert changed.replace(json.dumps(text, ensure_ascii=False), '"old"', 1).count("last") >= 1


@pytest.mark.parametrize(
    ("line", "name", "changed"),
    [
        ('{"n": 1.50, "text" : "a", "x":1e2}', "text", '{"n": 1.50, "text" : "ü", "x":1e2}'),
        ('{"text": "a", "text": "b"}', "text", '{"text": "a", "text": "ü"}'),  # the last counts
        ('{"a.b": "x", "a": {"b": 2}}', "a.b", '{"a.b": "ü", "a": {"b": 2}}'),
        ('{"a": {"b": [1], "c": "x"}}', "a.c", '{"a": {"b": [1], "c": "ü"}}'),
        ('\ufeff{"te\\u0078t": "a"}', "text", '\ufeff{"te\\u0078t": "ü"}'),
    ],
)
def test_the_column_is_found(line: str, name: str, changed: str) -> None:
    assert line_with_text(line, "ü", name) == changed


def test_bytes_that_are_no_utf8_stay() -> None:
    row = JsonRow("line 1", b'{"x": "\xff", "text": "a \xfe"}')
    assert with_text(row, "\udcfe", Columns()) == JsonRow(
        "line 1", b'{"x": "\xff", "text": "\xfe"}'
    )


def test_halves_of_surrogate_pairs_stay_escaped() -> None:
    row = JsonRow("line 1", b'{"text": "a \\udcfe"}')
    assert with_text(row, "\udcfe", Columns()) == JsonRow("line 1", b'{"text": "\\udcfe"}')
