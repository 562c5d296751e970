"""Rows and documents in portions that are processed together, limited by number and by bytes."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from dedup.collection.rows import Broken, Given, Row, WebPage

T = TypeVar("T")

PORTION_ROWS = 4_096
PORTION_BYTES = 2 * 2**20
"""A longer row is a portion by itself, so memory is bounded by the longest row."""


class Numbered(NamedTuple):
    """A row, its number in the collection, from 1, and which file it is of."""

    number: int
    file: int
    row: Row | Broken
    given: Given | None


def number_rows(rows: Iterable[tuple[int, Row | Broken]]) -> Iterator[Numbered]:
    """Number rows; each comes with the number of its file."""
    for number, (file, row) in enumerate(rows, start=1):
        yield Numbered(number, file, row, None if isinstance(row, Broken) else row.given())


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


def row_bytes(row: Numbered) -> int:
    """About how many bytes a row has."""
    given = row.given
    if given is None:
        return 0
    if isinstance(given, bytes):
        return len(given)
    if isinstance(given, WebPage):
        return len(given.body)
    return sum(len(value) for value in given.values() if isinstance(value, str))
