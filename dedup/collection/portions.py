"""Rows in portions that are worked on at once: so many, or so many bytes."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dedup.collection.rows import Broken, Given, Row, WebPage

PORTION_ROWS = 512
PORTION_BYTES = 2 * 2**20
"""A longer row is a portion of its own: so memory is bounded by the longest row, not by many."""


class Numbered(NamedTuple):
    """A row, its number in the collection, from 1, and which file it is of."""

    number: int
    file: int
    row: Row | Broken
    given: Given | None


def portions(rows: Iterable[tuple[int, Row | Broken]]) -> Iterator[list[Numbered]]:
    """Cut rows into portions; each comes with the number of its file."""
    part: list[Numbered] = []
    size = 0
    for number, (file, row) in enumerate(rows, start=1):
        given = None if isinstance(row, Broken) else row.given()
        length = 0 if given is None else size_of(given)
        if part and size + length > PORTION_BYTES:
            yield part
            part, size = [], 0
        part.append(Numbered(number, file, row, given))
        size += length
        if len(part) == PORTION_ROWS:
            yield part
            part, size = [], 0
    if part:
        yield part


def size_of(given: Given) -> int:
    """About how many bytes a row has."""
    if isinstance(given, bytes):
        return len(given)
    if isinstance(given, WebPage):
        return len(given.body)
    return sum(len(value) for value in given.values() if isinstance(value, str))
