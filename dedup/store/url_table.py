"""The URLs of a job: which are known, and which are still to be fetched."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dedup.store.database import Database, storable
from dedup.store.schema import DONE, QUEUED

_KEYS_PER_QUERY = 500  # well under SQLite's limit of parameters
_KEYS_PER_BATCH = 65_536


class QueuedUrl(NamedTuple):
    url: str
    depth: int
    request: bytes | None


class UrlTable:
    """The exact set of URL keys of a job, on disk, with what became of each."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Which of `keys` are in the table."""
        found: set[bytes] = set()
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            query = f"SELECT key FROM urls WHERE key IN ({marks})"  # noqa: S608 -- only marks
            with self._database.reporting():
                found.update(key for (key,) in self._database.connection.execute(query, part))
        return found

    def queue(self, key: bytes, url: str, depth: int, request: bytes | None = None) -> None:
        """Note a URL that is to be fetched; one that is known stays as it is."""
        with self._database.unit(weight=0) as connection:
            connection.execute(
                "INSERT INTO urls (key, state, depth, url, request) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO NOTHING",
                (key, QUEUED, depth, storable(url), request),
            )

    def finish(self, urls: Iterable[tuple[bytes, str]]) -> None:
        """Note that these (key, URL) need no fetching any more, known before or not."""
        with self._database.unit(weight=0) as connection:
            connection.executemany(
                "INSERT INTO urls (key, state, depth, url) VALUES (?, ?, 0, ?)"
                " ON CONFLICT (key) DO UPDATE SET state = excluded.state, request = NULL",
                [(key, DONE, storable(url)) for key, url in urls],
            )

    def finish_all(self) -> None:
        """Note that no URL needs fetching any more."""
        with self._database.unit(weight=0) as connection:
            connection.execute(
                f"UPDATE urls SET state = {DONE}, request = NULL WHERE state = {QUEUED}"  # noqa: S608
            )

    def state(self, key: bytes) -> int | None:
        """`QUEUED` or `DONE`; None: the URL is not known."""
        query = "SELECT state FROM urls WHERE key = ?"
        with self._database.reporting():
            row = self._database.connection.execute(query, (key,)).fetchone()
        return None if row is None else int(row[0])

    def is_done(self, key: bytes) -> bool:
        return self.state(key) == DONE

    def queued(self) -> Iterator[QueuedUrl]:
        """The URLs that were queued when this began and still are, in order of discovery.

        The table may be changed while this runs.
        """
        connection = self._database.connection
        query = (
            "SELECT id, url, depth, request FROM urls"
            " WHERE state = ? AND id > ? AND id <= ? ORDER BY id LIMIT 1000"
        )
        with self._database.reporting():
            end = connection.execute("SELECT max(id) FROM urls").fetchone()[0] or 0
            last = 0
            while rows := connection.execute(query, (QUEUED, last, end)).fetchall():
                last = rows[-1][0]
                yield from (QueuedUrl(url, depth, request) for _, url, depth, request in rows)

    def count_queued(self) -> int:
        return self._count(
            f"SELECT count(*) FROM urls WHERE state = {QUEUED}"  # noqa: S608 -- finds its index
        )

    def keys(self) -> Iterator[list[bytes]]:
        """All keys, in batches."""
        with self._database.reporting():
            cursor = self._database.connection.execute("SELECT key FROM urls")
            while rows := cursor.fetchmany(_KEYS_PER_BATCH):
                yield [key for (key,) in rows]

    def __len__(self) -> int:
        return self._count("SELECT count(*) FROM urls")

    def _count(self, query: str) -> int:
        with self._database.reporting():
            return int(self._database.connection.execute(query).fetchone()[0])
