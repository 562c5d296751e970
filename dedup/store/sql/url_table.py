"""The URLs of a job: which are known, and which are queued."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice

from dedup.store.records import (
    DONE,
    DUPLICATE_LINK,
    DUPLICATE_LINK_END,
    DUPLICATE_LINK_RANK,
    HELD,
    QUEUED,
    TOO_DEEP,
    TRAP_RANK,
    KnownUrl,
    QueuedUrl,
    storable,
)
from dedup.store.sql.database import Connection, Queries
from dedup.urls.parts import host_of

_KEYS_PER_QUERY = 500  # well under SQLite's limit of parameters
_KEYS_PER_BATCH = 65_536

_INSERT = (
    "INSERT INTO urls (key, state, rank, depth, slot, url, request) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_WITHIN = f"state = {TOO_DEEP} AND (depth <= ? OR ? = 0)"

TAKE_UP = f"""state = excluded.state, rank = excluded.rank, depth = excluded.depth,
 slot = excluded.slot, url = excluded.url, request = excluded.request
 WHERE urls.state = {TOO_DEEP}"""
"""The update for a known URL that is found again: one that was too deep becomes new."""

# What a site or the user has decided, or what another try will not change.
_FINAL = {
    DUPLICATE_LINK,
    "host_pages",
    "host_too_complex",
    "ignored",
    "learned_rule",
    "invalid_url",
    "offsite",
    "private_address",
    "redirect_private",
    "redirect_invalid",
    "redirect_offsite",
    "redirect_scheme",
    "robots",
    "same_route",
    "too_large",
    "trap",
    "unsupported_scheme",
}
_IS_PUT_OFF = f"rank >= {DUPLICATE_LINK_RANK} AND rank < {TRAP_RANK}"
_IS_ON_DUPLICATES = f"rank >= {DUPLICATE_LINK_RANK} AND rank < {DUPLICATE_LINK_END}"
_WITHOUT_PAGE = "http_", "empty", "noindex", "refresh"
"""Of the reasons: those after which a URL may have a page, or lead to one, in a later visit."""

_TEMPORARY_STATUSES = {"http_408", "http_425", "http_429"}


_HAS_PAGE = """
SELECT 1 FROM urls AS u WHERE key = ? AND state = ? AND request IS NULL
AND NOT EXISTS (SELECT 1 FROM aliases AS a WHERE a.url = u.url)"""

_PLACE = "rtrim(replace(replace({}, 'https:', 'http:'), '//www.', '//'), '/')"
_MAX_REDIRECTS = 10
"""To one page, or its duplicates, for them to be asked for again: more lead to a log-in page."""

_LEAST_ASKED, _ASKED_SHARE = 100, 20
"""Of the URLs that redirected, so many, or this part of the number of pages, are asked for again:
some sites have one or more for each page."""

_REDIRECTS = f"""
WITH targets AS (
    SELECT a.url AS url, a.page_url AS page_url, coalesce(r.number, d.original) AS page
    FROM aliases AS a LEFT JOIN pages AS r ON r.url = a.page_url
    LEFT JOIN duplicates AS d ON d.url = a.page_url WHERE a.kind = 'redirect'
)
SELECT u.id, u.url FROM targets AS t JOIN urls AS u ON u.url = t.url
WHERE u.state IN ({DONE}, {QUEUED}) AND {_PLACE.format("t.url")} <> {_PLACE.format("t.page_url")}
AND t.page IN (SELECT page FROM targets GROUP BY page HAVING count(*) <= {_MAX_REDIRECTS})
AND u.url NOT IN (SELECT url FROM pages WHERE url IS NOT NULL)
AND u.url NOT IN (SELECT url FROM duplicates WHERE url IS NOT NULL)
"""  # noqa: S608 -- constants


class UrlTable(Queries):
    """The exact set of URLs of a job by their keys, with the state of each. Also the queue.

    Within a slot (a host) the lowest rank is first, then the URL that was found first. A URL in
    flight stays queued until it is finished, so it is fetched again if the process dies.
    """

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """The `keys` that were seen."""
        return self._among(keys, f"state <> {TOO_DEEP}")

    def done(self, keys: Sequence[bytes]) -> set[bytes]:
        """The `keys` of URLs that need no fetching any more."""
        return self._among(keys, f"state = {DONE}")

    def _among(self, keys: Sequence[bytes], condition: str) -> set[bytes]:
        found: set[bytes] = set()
        for part, marks in _parts(keys):
            query = f"SELECT key FROM urls WHERE key IN ({marks}) AND {condition}"  # noqa: S608 -- marks and constants
            found.update(key for (key,) in self._database.all(query, part))
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
        """Queue a URL; None: it is known already, and unchanged.

        With `is_held`, its request is only in the memory of this process: see `drop_held`.
        """
        state = HELD if is_held else QUEUED
        row = (key, state, rank, depth, storable(slot), storable(url), request)
        with self._database.unit(weight=0) as connection:
            query = f"{_INSERT} ON CONFLICT (key) DO UPDATE SET {TAKE_UP} RETURNING id"
            found = connection.execute(query, row).fetchone()
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
        """Record a URL that is too deep to be fetched; a known one is unchanged.

        It does not count as seen: it is new if a shorter path leads to it.
        """
        row = (key, TOO_DEEP, rank, depth, storable(slot), storable(url), request)
        self._database.write(f"{_INSERT} ON CONFLICT (key) DO NOTHING", row)

    def count_within(self, depth: int) -> int:
        """The number of URLs recorded as too deep that are within this depth; 0: any depth."""
        query = f"SELECT count(*) FROM urls WHERE {_WITHIN}"  # noqa: S608 -- a constant
        return int(self._database.value(query, (depth, depth)))

    def queue_within(self, depth: int) -> None:
        """Queue the URLs recorded as too deep that are within this depth; 0: any depth."""
        query = f"UPDATE urls SET state = {QUEUED} WHERE {_WITHIN}"  # noqa: S608 -- constants
        self._database.write(query, (depth, depth))

    def queue_again(
        self, key: bytes, request: bytes | None, *, slot: str, rank: int, is_held: bool = False
    ) -> QueuedUrl | None:
        """Queue a known URL again, in another place or with another request.

        None: the URL is unknown.
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
        """Record that these URLs, given with their keys, need no fetching, known before or not.

        With `has_failed`, their requests are kept for another try.
        """
        query = (
            "INSERT INTO urls (key, state, rank, depth, slot, url) VALUES (?, ?, 0, 0, '', ?)"
            " ON CONFLICT (key) DO UPDATE SET state = excluded.state"
        )
        self._database.write_many(
            query if has_failed else query + ", request = NULL",
            [(key, DONE, storable(url)) for key, url in urls],
        )

    def queue_first(self, keys: Iterable[bytes]) -> None:
        """Have queued URLs fetched before all others."""
        query = f"UPDATE urls SET rank = -1 WHERE key = ? AND state = {QUEUED}"  # noqa: S608 -- a constant
        self._database.write_many(query, [(key,) for key in keys])

    def add_alias(self, url: str, page_url: str, kind: str) -> None:
        """Record that `url` leads to the page at `page_url`; for kinds, see `AliasRecord`.

        Of redirects the last one counts, of other kinds the first.
        """
        self._database.write(
            "INSERT INTO aliases VALUES (?, ?, ?) ON CONFLICT (url, kind)"
            " DO UPDATE SET page_url = excluded.page_url WHERE aliases.kind = 'redirect'",
            (storable(url), storable(page_url), kind),
            weight=1,
        )

    def redirects_to(self, url: str, page_url: str) -> bool:
        """Is it recorded that `url` redirects to the page at `page_url`?"""
        query = "SELECT 1 FROM aliases WHERE url = ? AND page_url = ? AND kind = 'redirect'"
        return self._database.value(query, (storable(url), storable(page_url))) is not None

    def has_redirected(self, url: str) -> bool:
        """Is it recorded that `url` redirects?"""
        query = "SELECT 1 FROM aliases WHERE url = ? AND kind = 'redirect'"
        return self._database.value(query, (storable(url),)) is not None

    def rank(self, key: bytes) -> int | None:
        """The rank of a URL, queued or not; None: it is unknown."""
        rank: int | None = self._database.value("SELECT rank FROM urls WHERE key = ?", (key,))
        return rank

    def finish_all(self) -> None:
        """Record that no URL needs fetching any more."""
        query = "UPDATE urls SET state = ?, request = NULL WHERE state NOT IN (?, ?)"
        self._database.write(query, (DONE, DONE, TOO_DEEP))

    def drop(self, keys: Iterable[bytes]) -> None:
        """Forget URLs completely."""
        with self._database.unit(weight=0) as connection:
            connection.executemany("DELETE FROM urls WHERE key = ?", [(key,) for key in keys])

    def drop_held(self) -> int:
        """Forget the URLs whose requests an earlier process held in memory; return their number.

        They are new again if another page links to them.
        """
        with self._database.unit(weight=0) as connection:
            query = "DELETE FROM urls WHERE state = ? RETURNING 1"
            return len(connection.execute(query, (HELD,)).fetchall())

    def find(self, key: bytes) -> KnownUrl | None:
        """A URL and its state; None: it is unknown."""
        row = self._database.first("SELECT state, url FROM urls WHERE key = ?", (key,))
        return None if row is None else KnownUrl(*row)

    def found_as(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The URLs of these keys, those that are known, each as it was found."""
        found: dict[bytes, str] = {}
        for part, marks in _parts(keys):
            query = f"SELECT key, url FROM urls WHERE key IN ({marks})"  # noqa: S608 -- marks
            found.update(self._database.pairs(query, part))
        return found

    def has_routes(self) -> bool:
        """Has a URL a route in its fragment? See `dedup.urls.routes`. Looks at every URL."""
        query = "SELECT 1 FROM urls WHERE url LIKE '%#/_%' OR url LIKE '%#!_%' LIMIT 1"
        return self._database.value(query) is not None

    def state(self, key: bytes) -> int | None:
        """`QUEUED`, `DONE`, `HELD` or `TOO_DEEP`; None: the URL is unknown."""
        found = self.find(key)
        return None if found is None else found.state

    def is_done(self, key: bytes) -> bool:
        return self.state(key) == DONE

    def has_page(self, key: bytes) -> bool:
        """Is the URL done, neither as one that failed nor as that of another URL's page?"""
        return self._database.value(_HAS_PAGE, (key, DONE)) is not None

    def is_queued(self, key: bytes) -> bool:
        return self.state(key) == QUEUED

    def request_of_queued(self, key: bytes) -> bytes | None:
        """The stored request of a queued URL; None: it has none, or is not queued."""
        query = "SELECT request FROM urls WHERE key = ? AND state = ?"
        found: bytes | None = self._database.value(query, (key, QUEUED))
        return found

    def slots(self) -> list[str]:
        """The slots with queued URLs, sorted. One lookup for each, independent of its URLs."""
        # Looks up each next slot in the index; a plain DISTINCT would read the whole index.
        query = f"""
            WITH RECURSIVE found (slot) AS (
                SELECT min(slot) FROM urls WHERE state = {QUEUED}
                UNION ALL
                SELECT (SELECT min(slot) FROM urls WHERE state = {QUEUED} AND slot > found.slot)
                FROM found WHERE found.slot IS NOT NULL
            ) SELECT slot FROM found WHERE slot IS NOT NULL"""  # noqa: S608 -- a constant
        return [slot for (slot,) in self._database.all(query)]

    def first_queued(self, slot: str, limit: int) -> list[QueuedUrl]:
        """The first queued URLs of a slot, in their order."""
        query = f"""SELECT rank, id, key, url, depth, request FROM urls
            WHERE state = {QUEUED} AND slot = ? ORDER BY rank, id LIMIT ?"""  # noqa: S608 -- a constant
        return list(map(QueuedUrl._make, self._database.all(query, (slot, limit))))

    def count_queued(self) -> int:
        query = f"SELECT count(*) FROM urls WHERE state = {QUEUED}"  # noqa: S608 -- finds its index
        return int(self._database.value(query))

    def keys(self) -> Iterator[list[bytes]]:
        """The keys of all seen URLs, in batches."""
        rows = self._database.each(f"SELECT key FROM urls WHERE state <> {TOO_DEEP}")  # noqa: S608 -- a constant
        while batch := [key for (key,) in islice(rows, _KEYS_PER_BATCH)]:
            yield batch

    def __len__(self) -> int:
        return int(self._database.value("SELECT count(*) FROM urls")) - self.count_within(0)

    def deferred(self, rank: int) -> list[str]:
        """URLs that were deferred to this rank or later, and have been fetched nevertheless."""
        query = (
            "SELECT url FROM urls WHERE state = ? AND rank >= ?"
            " EXCEPT SELECT url FROM skipped WHERE reason = 'trap'"
        )
        return [url for (url,) in self._database.all(query, (DONE, rank))]

    def queue_failed(self, reasons: Collection[str] = ()) -> Counter[str]:
        """Delete the records of failed URLs and queue them; return how many, by reason.

        Args:
            reasons: which failures; empty: those that may be temporary: unreachable hosts,
                timeouts, damaged or incomplete responses, HTTP 408, 425, 429 and 5xx.
        """
        return self._queue_recorded(
            lambda reason, is_fetched, _: (
                reason in reasons if reasons else _is_temporary(reason, is_fetched)
            )
        )

    def queue_errors(self, n_most: int | None = None) -> None:
        """Queue the failed pages of hosts with stored pages: as `queue_failed`, and any HTTP error.

        Links may come before their pages. Also those that were empty, or have no page of their own
        and may lead to new ones. Sitemaps are asked for again by their spiders.

        `n_most`: those that were asked for longest ago; None: all.
        """
        self._queue_recorded(
            lambda reason, is_fetched, request: (
                (reason.startswith(_WITHOUT_PAGE) or _is_temporary(reason, is_fetched))
                and _is_of_page(request)
            ),
            " AND s.host IN (SELECT host FROM pages)",
            n_most,
        )

    def queue_redirects(
        self, n_most: int | None = None, *, first: int = 0, urls: Sequence[str] | None = None
    ) -> None:
        """Queue some URLs that have redirected to another place: they may lead to new pages now.

        Args:
            n_most: so many of those of the job with the shortest URLs; None: all of these.
            first: the number of the first of them; after the last comes the first.
            urls: those of these instead.
        """
        with self._database.unit() as connection:
            if urls is None:
                n_pages = self._database.value("SELECT count(*) FROM pages")
                rest = "ORDER BY length(u.url), u.id LIMIT ?"
                values = [max(_LEAST_ASKED, n_pages // _ASKED_SHARE)]
            else:
                marks = ", ".join("?" * len(urls)) or "NULL"
                rest = f"AND u.url IN ({marks})"
                values = list(map(storable, urls))
            found = connection.execute(_REDIRECTS + rest, values).fetchall()
            start = first % len(found) if found else 0
            for row, url in [*found[start:], *found[:start]][:n_most]:
                query = "UPDATE urls SET state = ?, rank = 0, slot = ?, request = NULL WHERE id = ?"
                connection.execute(query, (QUEUED, host_of(url), row))

    def _queue_recorded(
        self,
        is_queued: Callable[[str, bool, bytes | None], bool],
        condition: str = "",
        n_most: int | None = None,
    ) -> Counter[str]:
        order = "u.id" if n_most is None else "s.number"
        queued: Counter[str] = Counter()
        with self._database.unit() as connection:
            rows = connection.execute(
                "SELECT s.number, s.reason, s.is_fetched, u.id, u.url, u.request FROM skipped AS s"  # noqa: S608 -- constants
                f" JOIN urls AS u ON u.url = s.url WHERE u.state = ?{condition} ORDER BY {order}",
                (DONE,),
            ).fetchall()
            for number, reason, is_fetched, row, url, request in rows:
                if queued.total() == n_most:
                    break
                if not is_queued(reason, is_fetched, request):
                    continue
                connection.execute("DELETE FROM skipped WHERE number = ?", (number,))
                connection.execute(
                    "UPDATE urls SET state = ?, slot = ?, request = ?,"  # noqa: S608 -- constants
                    f" rank = CASE WHEN {_IS_PUT_OFF} THEN 0 ELSE rank END WHERE id = ?",
                    (QUEUED, host_of(url), _afresh(request), row),
                )
                queued[reason] += 1
            if queued:
                connection.execute("DELETE FROM meta WHERE name = 'finished'")
        return queued

    def queue_skipped(self, reason: str) -> Counter[str]:
        """Delete the records of unfetched URLs and queue them; return how many, by slot."""
        with self._database.unit(weight=0) as connection:
            rows = connection.execute(
                "SELECT s.number, u.id, u.slot FROM skipped AS s JOIN urls AS u ON u.url = s.url"
                " WHERE NOT s.is_fetched AND s.reason = ? AND u.state = ?",
                (reason, DONE),
            ).fetchall()
            return _take_off(connection, rows)

    def queue_found(self, keys: Sequence[bytes], *, with_skipped: bool) -> Counter[str]:
        """Queue links as new ones that were deferred because only duplicates had them.

        With `with_skipped`, this includes links that were not fetched for that reason. Returns the
        slots, each with the number of deleted records.
        """
        found: Counter[str] = Counter()
        with self._database.unit(weight=0) as connection:
            for part, marks in _parts(keys):
                put_off = f"{_IS_ON_DUPLICATES} AND key IN ({marks})"
                rows = connection.execute(
                    f"UPDATE urls SET rank = rank - {DUPLICATE_LINK_RANK}"  # noqa: S608 -- constants
                    f" WHERE state = {QUEUED} AND {put_off} RETURNING slot",
                    part,
                ).fetchall()
                found.update(dict.fromkeys((slot for (slot,) in rows), 0))
                if with_skipped:
                    rows = connection.execute(
                        "SELECT s.number, u.id, u.slot"  # noqa: S608 -- constants
                        " FROM urls AS u JOIN skipped AS s ON s.url = u.url"
                        f" WHERE u.state = {DONE} AND {put_off} AND s.reason = ?",
                        (*part, DUPLICATE_LINK),
                    ).fetchall()
                    found.update(_take_off(connection, rows))
        return found


def _parts(keys: Sequence[bytes]) -> Iterator[tuple[Sequence[bytes], str]]:
    """The keys in parts that fit into a query, each with the marks for its parameters."""
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        part = keys[start : start + _KEYS_PER_QUERY]
        yield part, ",".join("?" * len(part))


def _take_off(connection: Connection, rows: Sequence[tuple[int, int, str]]) -> Counter[str]:
    """Delete records and queue their URLs as new. The rows have record, URL and slot."""
    for number, row, _ in rows:
        connection.execute("DELETE FROM skipped WHERE number = ?", (number,))
        connection.execute("UPDATE urls SET state = ?, rank = 0 WHERE id = ?", (QUEUED, row))
    return Counter(slot for _, _, slot in rows)


def _is_temporary(reason: str, is_fetched: bool) -> bool:
    if is_fetched:
        return reason in _TEMPORARY_STATUSES or reason.startswith("http_5")
    return reason not in _FINAL


def _is_of_page(request: bytes | None) -> bool:
    """Is the stored request one for a page, by its callback?"""
    if request is None or not request.startswith(b"{"):
        return True
    return json.loads(request).get("callback") in (None, "parse")


def _afresh(request: bytes | None) -> bytes | None:
    """The request without its retry count."""
    if request is None or not request.startswith(b"{"):
        return request
    fields = json.loads(request)
    fields.get("meta", {}).pop("retry_times", None)
    return json.dumps(fields).encode()
