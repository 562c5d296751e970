"""Writes whose results nobody awaits. They are collected and sent together, many rows at a time.

A statement costs the client 100 µs and more, a row of one that has many a tenth of that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from dedup.store.postgresql.schema import ADDED_TABLES, SCHEMA
from dedup.store.sql.database import Parameters

_TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", SCHEMA)).union(ADDED_TABLES)
_INSERT = re.compile(r"(\s*INSERT INTO .+? VALUES )\(([^()]+)\)(.*)", re.DOTALL)
_DELETE = re.compile(r"(DELETE FROM \w+ WHERE \w+ = )\?")

_MAX_PARAMETERS = 30_000
"""The protocol has room for 65,535."""

_MAX_BYTES = 1 << 24
"""Of a statement's texts and bodies, unless a single row has more."""


class Statement(NamedTuple):
    """A statement to send.

    Attributes:
        query: with `$1`, `$2`… for the parameters; with `is_many` as it was given.
        parameters: of the query; with `is_many` one row for each time that it is executed.
    """

    query: str
    parameters: Any
    is_many: bool = False


@dataclass(slots=True)
class _Rows:
    """Rows for one query, which may be sent together."""

    query: str
    tables: frozenset[str]
    rows: list[Parameters] = field(default_factory=list)


class LaterWrites:
    """Writes in their order. Those to one table keep it; others may change places."""

    def __init__(self) -> None:
        self._writes: list[tuple[str, Parameters]] = []
        self._tables: set[str] = set()
        self._sums: set[str] = set()

    def __len__(self) -> int:
        return len(self._writes)

    def add(self, query: str, rows: Iterable[Parameters], *, is_sum: bool = False) -> None:
        """Add rows for a query; with `is_sum`, the last values of equal rows may be added up."""
        self._writes += [(query, row) for row in rows]
        self._tables |= tables_of(query)
        if is_sum:
            self._sums.add(query)

    def cut(self, start: int) -> "LaterWrites":
        """Remove and return the writes from a place on."""
        cut = LaterWrites()
        cut._writes, self._writes = self._writes[start:], self._writes[:start]
        cut._tables, cut._sums = self._tables, self._sums
        return cut

    def touch(self, query: str) -> bool:
        """Does a query name a table that is to be written?"""
        return bool(self._writes) and not self._tables.isdisjoint(tables_of(query))

    def statements(self) -> Iterator[Statement]:
        """The statements that write everything, as few as possible."""
        for each in self._grouped():
            rows = _summed(each.rows) if each.query in self._sums else each.rows
            yield from _statements(each.query, rows)

    def _grouped(self) -> list[_Rows]:
        groups: list[_Rows] = []
        for query, row in self._writes:
            tables = tables_of(query)
            for group in reversed(groups):
                if group.query == query:
                    group.rows.append(row)
                    break
                if not tables.isdisjoint(group.tables):
                    groups.append(_Rows(query, tables, [row]))
                    break
            else:
                groups.append(_Rows(query, tables, [row]))
        return groups


@lru_cache(maxsize=1_000)
def tables_of(query: str) -> frozenset[str]:
    """The tables that a query names."""
    return _TABLES.intersection(re.findall(r"\w+", query))


def _statements(query: str, rows: Sequence[Parameters]) -> Iterator[Statement]:
    if deleting := _DELETE.fullmatch(query):
        yield Statement(f"{deleting[1]}ANY($1)", [[value for (value,) in rows]])
    elif inserting := _INSERT.fullmatch(query):
        names = re.findall(r":(\w+)", inserting[2])
        values = [_values(row, names) for row in rows]
        for part in _parts(values, is_once="DO UPDATE" in inserting[3]):
            yield Statement(_of_rows(query, len(part)), list(chain.from_iterable(part)))
    else:
        yield Statement(query, rows, is_many=True)


def _values(row: Any, names: Sequence[str]) -> Sequence[object]:
    """The values of a row, in the order of the query's marks."""
    return [row[name] for name in names] if isinstance(row, Mapping) else row


def _parts(
    rows: Iterable[Sequence[object]], *, is_once: bool
) -> Iterator[Sequence[Sequence[object]]]:
    """The rows in parts that fit into a statement.

    With `is_once`, none has two rows with one key, which is their first value: no statement updates
    a row twice.
    """
    part: list[Sequence[object]] = []
    keys: set[object] = set()
    n_parameters = n_bytes = 0
    for row in rows:
        size = sum(len(value) for value in row if isinstance(value, bytes | str))
        is_full = n_parameters + len(row) > _MAX_PARAMETERS or n_bytes + size > _MAX_BYTES
        if part and (is_full or (is_once and row[0] in keys)):
            yield part
            part, keys, n_parameters, n_bytes = [], set(), 0, 0
        part.append(row)
        keys.add(row[0])
        n_parameters += len(row)
        n_bytes += size
    if part:
        yield part


@lru_cache(maxsize=256)
def _of_rows(query: str, n_rows: int) -> str:
    """The query that inserts so many rows."""
    found = _INSERT.fullmatch(query)
    if found is None:
        raise ValueError(f"not a query that inserts a row: {query}")
    row, n_values = re.subn(r"\?|:\w+", "$%d", f"({found[2]})")
    rows = ", ".join([row] * n_rows) % tuple(range(1, n_rows * n_values + 1))
    return f"{found[1]}{rows}{found[3]}"


def _summed(rows: Sequence[Any]) -> list[Sequence[object]]:
    sums: dict[tuple[object, ...], Any] = {}
    for *key, value in rows:
        sums[tuple(key)] = sums.get(tuple(key), 0) + value
    return [(*key, value) for key, value in sums.items()]
