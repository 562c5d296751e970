"""Rows and documents in portions that are processed together, limited by number and by bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from dedup.collection.rows import Broken, Given, Row, WebPage

T = TypeVar("T")

PORTION_ROWS = 4_096
PORTION_BYTES = 2 * 2**20
"""A longer row is a portion by itself, so memory is bounded by the longest row."""


class RowPortion(NamedTuple):
    """Rows that are read and judged together, in their order.

    Attributes:
        first: the number of the first of them in the collection, from 1.
        files: of each, the number of its file.
        rows: they themselves.
        given: what those that are not broken are made of.
        numbers: of these, the number in the collection.
    """

    first: int
    files: list[int]
    rows: list[Row | Broken]
    given: list[Given]
    numbers: list[int]


def row_portions(rows: Iterable[tuple[int, Row | Broken]]) -> Iterator[RowPortion]:
    """Cut a collection into portions as `portions` does; each row comes with its file's number."""
    part = RowPortion(1, [], [], [], [])
    size = 0
    for number, (file, row) in enumerate(rows, start=1):
        given = None if isinstance(row, Broken) else row.given()
        length = len(given) if isinstance(given, bytes) else _bytes_of(given)
        if part.rows and (size + length > PORTION_BYTES or len(part.rows) == PORTION_ROWS):
            yield part
            part, size = RowPortion(number, [], [], [], []), 0
        size += length
        part.files.append(file)
        part.rows.append(row)
        if given is not None:
            part.given.append(given)
            part.numbers.append(number)
    if part.rows:
        yield part


def portions(
    items: Iterable[T], size_of: Callable[[T], int], *, n_bytes: int = PORTION_BYTES
) -> Iterator[list[T]]:
    """Cut a stream into portions of at most 4,096 items and at most `n_bytes` bytes."""
    part: list[T] = []
    size = 0
    for item in items:
        length = size_of(item)
        if part and size + length > n_bytes:
            yield part
            part, size = [], 0
        part.append(item)
        size += length
        if len(part) == PORTION_ROWS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _bytes_of(given: Given | None) -> int:
    """About how many bytes a row has."""
    if given is None:
        return 0
    if isinstance(given, bytes):
        return len(given)
    if isinstance(given, WebPage):
        return len(given.body)
    return sum(len(value) for value in given.values() if isinstance(value, str))
