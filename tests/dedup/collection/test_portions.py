"""Rows in portions."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from dedup.collection import portions
from dedup.collection.portions import row_portions
from dedup.collection.rows import Broken, JsonRow, Row

_SIZES = st.lists(st.none() | st.integers(0, 40), max_size=60)


@given(_SIZES, st.integers(1, 50), st.integers(1, 9))
def test_portions_hold_all_rows_in_their_order_within_the_limits(
    sizes: list[int | None], most_bytes: int, most_rows: int
) -> None:
    rows: list[Row | Broken] = [
        Broken("", "cut off") if size is None else JsonRow("", b"x" * size) for size in sizes
    ]
    with patch.multiple(portions, PORTION_BYTES=most_bytes, PORTION_ROWS=most_rows):
        parts = list(row_portions((number // 7, row) for number, row in enumerate(rows)))
    assert [row for part in parts for row in part.rows] == rows
    assert [file for part in parts for file in part.files] == [n // 7 for n in range(len(rows))]
    found = [pair for part in parts for pair in zip(part.numbers, part.given, strict=True)]
    assert found == [
        (number, row.line) for number, row in enumerate(rows, start=1) if isinstance(row, JsonRow)
    ]
    first = 1
    for part in parts:
        size = sum(len(row.line) for row in part.rows if isinstance(row, JsonRow))
        assert part.first == first
        assert len(part.rows) <= most_rows
        assert len(part.rows) == 1 or size <= most_bytes
        first += len(part.rows)
