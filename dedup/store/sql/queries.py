"""Named queries that read a job's store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from dedup.store.sql.database import Database

_Row = TypeVar("_Row")


class Unpack(Protocol):
    """Gives back what the store keeps compressed of the page `number`."""

    def __call__(self, number: int, compressed: bytes, kind: str = "text") -> bytes: ...


class SqlQueries:
    """The base of a group of queries, which are asked by one part of the program.

    Raises:
        StateError: from any query: the store is damaged.
    """

    def __init__(self, database: Database, unpack: Unpack) -> None:
        self._database = database
        self._unpack = unpack

    def _each(
        self,
        make: Callable[[Iterable[Any]], _Row],
        query: str,
        parameters: Sequence[object] = (),
    ) -> Iterator[_Row]:
        """The rows of a query, one after the other."""
        yield from map(make, self._database.each(query, parameters))

    def _first(
        self,
        make: Callable[[Iterable[Any]], _Row],
        query: str,
        parameters: Sequence[object] = (),
    ) -> _Row | None:
        """The first row of a query, or None."""
        with self._database.reporting():
            row = self._database.connection.execute(query, parameters).fetchone()
        return None if row is None else make(row)

    def _value(self, query: str, parameters: Sequence[object] = ()) -> Any:
        """The first column of a query's first row."""
        with self._database.reporting():
            return self._database.connection.execute(query, parameters).fetchone()[0]

    def _pairs(self, query: str, parameters: Sequence[object] = ()) -> dict[Any, Any]:
        """The rows of a query of two columns: the second one by the first one, in their order."""
        with self._database.reporting():
            return dict(self._database.connection.execute(query, parameters).fetchall())

    def _text(self, number: int, compressed: bytes) -> str:
        return self._unpack(number, compressed).decode(errors="replace")
