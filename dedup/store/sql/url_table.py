"""The URLs of a job: which are known, and which are still to be fetched."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from dedup.store.records import DONE, HELD, QUEUED, TOO_DEEP, KnownUrl, QueuedUrl, storable
from dedup.store.sql.database import Database

_KEYS_PER_QUERY = 500  # well under SQLite's limit of parameters
_KEYS_PER_BATCH = 65_536

_INSERT = (
    "INSERT INTO urls (key, state, rank, depth, slot, url, request) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_WITHIN = f"state = {TOO_DEEP} AND (depth <= ? OR ? = 0)"

TAKE_UP = f"""state = excluded.state, rank = excluded.rank, depth = excluded.depth,
 slot = excluded.slot, url = excluded.url, request = excluded.request
 WHERE urls.state = {TOO_DEEP}"""
"""What is done with a known URL that is found: one that was too deep is as new."""


class UrlTable:
    """The exact set of URL keys of a job, on disk, with what became of each.

    It is also the queue: within a slot (a host), the lowest rank first, and of these the one that
    was found first.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Which of `keys` are in the table."""
        found: set[bytes] = set()
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            query = f"SELECT key FROM urls WHERE key IN ({marks}) AND state <> {TOO_DEEP}"  # noqa: S608 -- only marks
            with self._database.reporting():
                found.update(key for (key,) in self._database.connection.execute(query, part))
        return found

    def queue(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
        is_held: bool = False,
    ) -> QueuedUrl | None:
        """Note a URL that is to be fetched; one that is known stays as it is, and gives None.

        With `is_held`, its request lives in memory alone, see `drop_held`.
        """
        state = HELD if is_held else QUEUED
        row = (key, state, rank, depth, storable(slot), storable(url), request)
        with self._database.unit(weight=0) as connection:
            cursor = connection.execute(
                f"{_INSERT} ON CONFLICT (key) DO UPDATE SET {TAKE_UP} RETURNING id",
                row,
            )
            found = cursor.fetchone()
        return None if found is None else QueuedUrl(rank, found[0], key, url, depth, request)

    def note_too_deep(
        self,
        key: bytes,
        url: str,
        depth: int,
        request: bytes | None = None,
        *,
        slot: str = "",
        rank: int = 0,
    ) -> None:
        """Note a URL that is not fetched for its depth; one that is known stays as it is."""
        row = (key, TOO_DEEP, rank, depth, storable(slot), storable(url), request)
        with self._database.unit(weight=0) as connection:
            connection.execute(f"{_INSERT} ON CONFLICT (key) DO NOTHING", row)

    def count_within(self, depth: int) -> int:
        """How many URLs were too deep, and are within this depth; 0: any depth."""
        return self._count(f"SELECT count(*) FROM urls WHERE {_WITHIN}", (depth, depth))  # noqa: S608 -- a constant

    def queue_within(self, depth: int) -> None:
        """Queue the URLs that were too deep, and are within this depth; 0: any depth."""
        query = f"UPDATE urls SET state = {QUEUED} WHERE {_WITHIN}"  # noqa: S608 -- constants
        with self._database.unit(weight=0) as connection:
            connection.execute(query, (depth, depth))

    def queue_again(
        self, key: bytes, request: bytes | None, *, slot: str, rank: int, is_held: bool = False
    ) -> QueuedUrl | None:
        """Queue a known URL once more, in another place or by another request.

        None: the URL is not known.
        """
        query = (
            "UPDATE urls SET state = ?, rank = ?, slot = ?, request = ? WHERE key = ?"
            " RETURNING rank, id, key, url, depth, request"
        )
        state = HELD if is_held else QUEUED
        with self._database.unit(weight=0) as connection:
            rows = connection.execute(query, (state, rank, storable(slot), request, key)).fetchall()
        return QueuedUrl(*rows[0]) if rows else None

    def finish(self, urls: Iterable[tuple[bytes, str]], *, has_failed: bool = False) -> None:
        """Note that these (key, URL) need no fetching any more, known before or not.

        The requests of URLs that `has_failed` are kept, for another try.
        """
        query = (
            "INSERT INTO urls (key, state, rank, depth, slot, url) VALUES (?, ?, 0, 0, '', ?)"
            " ON CONFLICT (key) DO UPDATE SET state = excluded.state"
        )
        with self._database.unit(weight=0) as connection:
            connection.executemany(
                query if has_failed else query + ", request = NULL",
                [(key, DONE, storable(url)) for key, url in urls],
            )

    def rank(self, key: bytes) -> int | None:
        """The rank of a URL, queued or not; None: it is not known."""
        query = "SELECT rank FROM urls WHERE key = ?"
        with self._database.reporting():
            row = self._database.connection.execute(query, (key,)).fetchone()
        return None if row is None else int(row[0])

    def finish_all(self) -> None:
        """Note that no URL needs fetching any more."""
        with self._database.unit(weight=0) as connection:
            connection.execute(
                "UPDATE urls SET state = ?, request = NULL WHERE state NOT IN (?, ?)",
                (DONE, DONE, TOO_DEEP),
            )

    def drop(self, keys: Iterable[bytes]) -> None:
        """Forget URLs altogether."""
        with self._database.unit(weight=0) as connection:
            connection.executemany("DELETE FROM urls WHERE key = ?", [(key,) for key in keys])

    def drop_held(self) -> int:
        """Forget the URLs whose requests an earlier process held in memory; return their number.

        They are new again where another page links to them.
        """
        with self._database.unit(weight=0) as connection:
            query = "DELETE FROM urls WHERE state = ? RETURNING 1"
            return len(connection.execute(query, (HELD,)).fetchall())

    def find(self, key: bytes) -> KnownUrl | None:
        """A URL and its state; None: it is not known."""
        query = "SELECT state, url FROM urls WHERE key = ?"
        with self._database.reporting():
            row = self._database.connection.execute(query, (key,)).fetchone()
        return None if row is None else KnownUrl(*row)

    def state(self, key: bytes) -> int | None:
        """`QUEUED`, `DONE`, `HELD` or `TOO_DEEP`; None: the URL is not known."""
        found = self.find(key)
        return None if found is None else found.state

    def is_done(self, key: bytes) -> bool:
        return self.state(key) == DONE

    def is_queued(self, key: bytes) -> bool:
        return self.state(key) == QUEUED

    def slots(self) -> list[str]:
        """The slots with queued URLs. Takes a look-up for each, however many URLs they have."""
        # The index is asked for the next slot after the one before; a plain DISTINCT reads it all.
        query = f"""
            WITH RECURSIVE found (slot) AS (
                SELECT min(slot) FROM urls WHERE state = {QUEUED}
                UNION ALL
                SELECT (SELECT min(slot) FROM urls WHERE state = {QUEUED} AND slot > found.slot)
                FROM found WHERE found.slot IS NOT NULL
            ) SELECT slot FROM found WHERE slot IS NOT NULL"""  # noqa: S608 -- a constant
        with self._database.reporting():
            return [slot for (slot,) in self._database.connection.execute(query)]

    def first_queued(self, slot: str, limit: int) -> list[QueuedUrl]:
        """The queued URLs of a slot that are to be fetched first, in their order."""
        query = f"""SELECT rank, id, key, url, depth, request FROM urls
            WHERE state = {QUEUED} AND slot = ? ORDER BY rank, id LIMIT ?"""  # noqa: S608 -- a constant
        with self._database.reporting():
            rows = self._database.connection.execute(query, (slot, limit))
            return list(map(QueuedUrl._make, rows))

    def count_queued(self) -> int:
        return self._count(
            f"SELECT count(*) FROM urls WHERE state = {QUEUED}"  # noqa: S608 -- finds its index
        )

    def keys(self) -> Iterator[list[bytes]]:
        """The keys of all URLs that were seen, in batches."""
        rows = self._database.each(f"SELECT key FROM urls WHERE state <> {TOO_DEEP}")  # noqa: S608 -- a constant
        while batch := [key for (key,) in islice(rows, _KEYS_PER_BATCH)]:
            yield batch

    def __len__(self) -> int:
        return self._count("SELECT count(*) FROM urls") - self.count_within(0)

    def _count(self, query: str, parameters: Sequence[object] = ()) -> int:
        with self._database.reporting():
            return int(self._database.connection.execute(query, parameters).fetchone()[0])
