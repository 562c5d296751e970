"""Revisiting the pages of a finished job, and keeping their old versions.

A refresh has a number. Each page keeps its number and stays an original; a new version replaces the
old one, which moves to `versions`. Detectors check a candidate's stored text, so signatures of old
versions that are still in memory cause no matches.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from dedup.rendering.record import LAST, QUEUED_AGAIN
from dedup.store.interface import Workers
from dedup.store.records import DONE, EARLIER, QUEUED, VISIT_RESULTS, Page, storable_fields
from dedup.store.sql.changes import ChangeQueries
from dedup.store.sql.database import Connection, Database
from dedup.store.sql.histories import HistoryQueries
from dedup.store.sql.lastmods import Lastmods
from dedup.store.sql.retention import Retention

_RANK_OF_DUPLICATES = 1_000_000
"""After the pages, because their originals may have changed by then."""

_FIRST_RANK = 1_000
"""Of the planned visits: links, whose rank is their depth, come before."""

_QUEUE_PLANNED = f"""
UPDATE urls SET state = {QUEUED}, rank = planned.rank, slot = {{slot}}{{request}}
FROM {{table}} AS found JOIN planned ON planned.url = found.url
WHERE urls.url = found.url AND urls.state = {DONE}
"""  # noqa: S608 -- constants
_TAKE_BACK = f"""
UPDATE urls SET state = {DONE}, request = NULL
WHERE state = {QUEUED} AND rank BETWEEN 1 AND {_RANK_OF_DUPLICATES}
AND url IN (SELECT url FROM pages UNION SELECT url FROM duplicates)
"""  # noqa: S608 -- constants
_LEAVE_OUT = f"""
UPDATE urls SET state = {DONE}, request = NULL WHERE state = {QUEUED}
AND url IN (SELECT url FROM pages UNION SELECT url FROM duplicates
    UNION SELECT url FROM skipped WHERE reason = '{EARLIER}')
"""  # noqa: S608 -- constants
_FETCHED = """
SELECT count(*) FROM (
    SELECT url FROM visits WHERE refresh = :refresh AND url <> ''
    UNION SELECT url FROM pages WHERE fetched_at > :began
    UNION SELECT url FROM duplicates WHERE fetched_at > :began
    UNION SELECT url FROM waiting WHERE fetched_at > :began
) AS every
"""

_NOTE_VISIT = (
    "INSERT INTO visits VALUES (?, ?, ?, ?) ON CONFLICT (refresh, url)"
    " DO UPDATE SET outcome = excluded.outcome, seen_at = excluded.seen_at"
)

_BEGAN = "began"
"""The outcome of a row without a URL: when a refresh began."""

_IS_ANSWER = "outcome <> 'failed' AND substr(v.outcome, 1, 7) <> 'failed:'"

_LAST_VISIT = """
WITH RECURSIVE earlier(n) AS (
    SELECT CAST(:last AS INTEGER)
    UNION ALL SELECT n - 1 FROM earlier WHERE n - 1 > CAST(:summed_up AS INTEGER)
)
SELECT v.refresh, v.outcome FROM earlier JOIN visits AS v ON v.refresh = earlier.n AND v.url = :url
WHERE {condition} UNION ALL SELECT 0, outcome FROM visited WHERE url = :url
ORDER BY 1 DESC LIMIT 1
"""
_ALL_404 = "failed: http_404"
_AS_GONE = {
    "failed: other_text": "gone",
    "failed: noindex": "gone: noindex",
    "failed: not_html": "gone: not_html",
}
"""Failures that, in two visits in a row, say that a page is gone."""

_ARE_AS_GONE = f"v.outcome IN {tuple(_AS_GONE)}"

_LAST_ANSWER = _LAST_VISIT.format(condition=f"v.{_IS_ANSWER}")
_LAST_ANSWER_OR_AS_GONE = _LAST_VISIT.format(condition=f"(v.{_IS_ANSWER} OR {_ARE_AS_GONE})")

_VANISHED = """
UPDATE visits SET outcome = ? WHERE refresh = ? AND outcome IN ('missing', 'gone')
AND url IN (SELECT url FROM pages WHERE host = ?)
"""
_AT_ONE_PAGE = """
UPDATE visits SET outcome = ? WHERE refresh = ? AND outcome = 'moved' AND url IN (
    SELECT r.url FROM pages AS r JOIN aliases AS a ON a.url = r.url AND a.kind = 'redirect'
    WHERE r.host = ? AND a.page_url = ?
)
"""
_VISITED = """
SELECT r.host, v.url, v.outcome FROM visits AS v JOIN pages AS r ON r.url = v.url
WHERE v.refresh = ?
"""
_SEEN_AS_GONE = f"""
SELECT r.host, v.url, v.outcome FROM visits AS v JOIN pages AS r ON r.url = v.url
WHERE v.refresh = ? AND {_ARE_AS_GONE}
AND NOT (v.outcome = 'failed: not_html' AND r.source = 'document')
"""  # noqa: S608 -- constants
_NOTE_GONE = "UPDATE visits SET outcome = ? WHERE refresh = ? AND url = ?"
_NOT_FOUND = ("missing", "gone", _ALL_404)
_MOVED = """
SELECT r.host, a.page_url, count(*) FROM visits AS v JOIN pages AS r ON r.url = v.url
JOIN aliases AS a ON a.url = v.url AND a.kind = 'redirect'
WHERE v.refresh = ? AND v.outcome = 'moved' GROUP BY r.host, a.page_url HAVING count(*) >= ?
"""
_AS_BEFORE = """
INSERT INTO versions
SELECT CAST(:page AS BIGINT), coalesce((SELECT seen_at FROM visits WHERE refresh = :refresh
    AND url = '' AND d.fetched_at > seen_at), d.fetched_at), d.title, coalesce(d.text, p.text), NULL
FROM duplicates AS d JOIN pages AS p ON p.number = d.original WHERE d.number = :number
"""

_TAKE_VERSION_BACK = """
UPDATE pages SET fetched_at = v.fetched_at FROM versions AS v
WHERE v.page = pages.number AND pages.url = ? AND v.text = pages.text AND v.fetched_at =
    (SELECT max(fetched_at) FROM versions WHERE page = pages.number)
"""
_DROP_CURRENT_VERSION = """
DELETE FROM versions
WHERE (page, fetched_at) IN (SELECT number, fetched_at FROM pages WHERE url = ?)
"""
_OF_BODY = ("content_type", "encoding", "size_bytes", "etag", "last_modified")
_REPLACE_BODY = f"""
UPDATE pages SET body = :body, {", ".join(f"{name} = :{name}" for name in _OF_BODY)}
WHERE number = :number
"""  # noqa: S608 -- constants
_TEXTS_OF_DUPLICATE = """
SELECT original, p.text, d.text FROM duplicates AS d JOIN pages AS p ON p.number = d.original
WHERE d.number = ?
"""

MIN_VANISHED = 3
"""Fewer pages that vanish at once say nothing of their host."""

_VALIDATORS = f"""
SELECT etag, last_modified FROM pages AS p WHERE number = ? AND NOT EXISTS (
    SELECT 1 FROM rendering AS r WHERE r.host = p.host AND r.url = p.url
    AND (r.is_rendered OR r.why = '{QUEUED_AGAIN}' OR r.why LIKE '{LAST}%'))
"""  # noqa: S608 -- constants

Replace = Callable[..., None]


def is_most(n_pages: int, n_visited: int) -> bool:
    """Is a change of this number of a host's visited pages not believed within one visit?"""
    return n_pages >= MIN_VANISHED and 2 * n_pages > n_visited


def _vanished(outcomes: Counter[str]) -> int:
    return sum(outcomes[each] for each in _NOT_FOUND)


class Refreshes:
    """Visits to the pages of a finished job, and the versions that replace them.

    A refresh has a number, from 1 on. A page keeps its number in a new version.

    Args:
        replace: `replace(number, page, signatures, is_new=False)` replaces a page and its
            signatures by a new version.
        workers: they learn which hosts have work again.

    Attributes:
        changes: queries of what has changed.
        histories: what the visits of each page have found.
        retention: what is kept of old visits.
        lastmods: what sitemaps told of pages.
    """

    def __init__(self, database: Database, replace: Replace, workers: Workers) -> None:
        self._database = database
        self.changes = ChangeQueries(database)
        self.histories = HistoryQueries(database)
        self.retention = Retention(database)
        self.lastmods = Lastmods(database)
        self._replace = replace
        self._workers = workers

    def current(self) -> int:
        """The number of the current or last refresh; 0: there was none."""
        return int(self._database.meta("refresh") or 0)

    def begin(self, order: Sequence[str] | None = None) -> int:
        """Queue pages for a visit; return the number of the refresh.

        `order`: the URLs of pages and duplicates to visit, after links that are queued already;
        None: all pages, then all dropped ones.

        The request of a page is `{"revisit": number}`. Duplicates stay on record until they are
        dropped by `drop_duplicate`. The job is no longer finished.
        """
        number = self.current() + 1
        with self._database.unit() as connection:
            if order is None:
                self._queue_all(connection)
                self.lastmods.forget()
            else:
                self._queue_planned(connection, order)
            connection.execute("DELETE FROM meta WHERE name = 'finished'")
            connection.execute(_NOTE_VISIT, (number, "", _BEGAN, time.time()))
            self._database.set_meta("refresh", str(number))
            self._workers.note_hosts()
        return number

    def _queue_all(self, connection: Connection) -> None:
        connection.execute(
            f"UPDATE urls SET state = {QUEUED}, rank = 0, slot = {self._database.slot},"  # noqa: S608 -- constants
            f" request = {self._database.revisit}"
            f" FROM pages AS found WHERE urls.url = found.url AND urls.state = {DONE}"
        )
        connection.execute(
            f"UPDATE urls SET state = {QUEUED}, rank = {_RANK_OF_DUPLICATES},"  # noqa: S608 -- constants
            f" slot = {self._database.slot}"
            f" FROM duplicates AS found WHERE urls.url = found.url AND urls.state = {DONE}"
        )
        connection.execute(
            f"UPDATE urls SET state = {QUEUED}, rank = {_RANK_OF_DUPLICATES},"  # noqa: S608 -- constants
            f" slot = {self._database.slot} FROM skipped AS found"
            f" WHERE urls.url = found.url AND urls.state = {DONE} AND reason = '{EARLIER}'"
        )

    def _queue_planned(self, connection: Connection, order: Sequence[str]) -> None:
        connection.execute("CREATE TEMP TABLE planned (url TEXT PRIMARY KEY, rank INTEGER)")
        ranks = enumerate(order, start=_FIRST_RANK)
        rows = ((url, min(rank, _RANK_OF_DUPLICATES)) for rank, url in ranks)
        connection.executemany("INSERT INTO planned VALUES (?, ?) ON CONFLICT DO NOTHING", rows)
        request = f", request = {self._database.revisit}"
        for table, made in (("pages", request), ("duplicates", "")):
            connection.execute(
                _QUEUE_PLANNED.format(slot=self._database.slot, table=table, request=made)
            )
        connection.execute("DROP TABLE planned")

    def reorder(self, order: Sequence[str], in_flight: Sequence[bytes]) -> None:
        """Queue these visits instead of those that `begin` queued and that are not in flight."""
        with self._database.unit(weight=0) as connection:
            kept = f" AND key NOT IN ({', '.join('?' * len(in_flight))})" if in_flight else ""
            connection.execute(_TAKE_BACK + kept, in_flight)
            self._queue_planned(connection, order)

    def fetched(self) -> int:
        """The number of pages that the current refresh has visited or found."""
        number = self.current()
        query = "SELECT seen_at FROM visits WHERE refresh = ? AND url = ''"
        began = self._database.value(query, (number,)) or 0.0
        row = self._database.first(_FETCHED, {"refresh": number, "began": began})
        return int(row[0])

    def leave_out(self) -> None:
        """Give up the visits that are left of the current refresh; new links stay queued."""
        self._database.write(_LEAVE_OUT)

    def validators(self, number: int) -> dict[str, str]:
        """The headers for a conditional request of a page; empty: its server sent no validators.

        Nor do they tell whether a page that scripts make is the same.
        """
        row = self._database.first(_VALIDATORS, (number,))
        names = ("If-None-Match", "If-Modified-Since")
        return {name: value for name, value in zip(names, row or (), strict=False) if value}

    def note_visit(self, url: str, result: str) -> None:
        """Record the result of a page's visit, one of `VISIT_RESULTS`.

        The second `missing` in a row is `gone`; failures between them do not count. A page that is
        there after it was gone or moved is `back`.

        Raises:
            ValueError: it is not one of them.
        """
        if result.partition(":")[0] not in VISIT_RESULTS:
            raise ValueError(f"result must be one of {', '.join(VISIT_RESULTS)}, got {result!r}")
        number = self.current()
        if not number:  # a page is read once more, to be rendered
            return
        if result in ("missing", "unchanged", "changed") and number > 1:
            before = self._before(_LAST_ANSWER, number, url)
            if result == "missing" and before in ("missing", "gone"):
                result = "gone"
            elif result != "missing" and before in ("gone", "moved"):
                result = "back"
        self._database.write(_NOTE_VISIT, (number, url, result, time.time()), weight=1)

    def _before(self, query: str, number: int, url: str) -> str | None:
        values = {"last": number - 1, "url": url, "summed_up": self.retention.summed_up()}
        _, outcome = self._database.first(query, values) or (0, None)
        return "gone" if outcome and outcome.startswith("gone") else outcome

    def settle(self) -> None:
        """At the end of a refresh, decide by what all visits to a host have found.

        If most of the visited pages of a host are missing or gone, or redirect to one page, their
        visits have failed. If it was so in the visit before, they are missing. Pages that were gone
        before say nothing of that. The others that show the text of other pages in two visits in a
        row are gone: the server says so without the status for it. So are those that are marked
        `noindex`, or are no pages any more.
        """
        number = self.current()
        visited, last = self._visited(number), self._visited(number - 1)
        with self._database.unit(weight=0) as connection:
            for host, outcomes in visited.items():
                was_so = is_most(_vanished(last[host]), last[host].total())
                if is_most(_vanished(outcomes), outcomes.total()) and not was_so:
                    connection.execute(_VANISHED, (_ALL_404, number, host))
            for host, target, n_moved in self._database.all(_MOVED, (number, MIN_VANISHED)):
                if is_most(n_moved, visited[host].total()):
                    failed = "failed: redirect_to_one_page"
                    connection.execute(_AT_ONE_PAGE, (failed, number, host, target))
            for host, url, outcome in self._database.all(_SEEN_AS_GONE, (number,)):
                is_doubted = is_most(visited[host][outcome], visited[host].total())
                before = self._before(_LAST_ANSWER_OR_AS_GONE, number, url)
                if before == "gone" or (before == outcome and not is_doubted):
                    connection.execute(_NOTE_GONE, (_AS_GONE[outcome], number, url))

    def _visited(self, number: int) -> defaultdict[str, Counter[str]]:
        """How many pages of each host had each outcome, without those gone before and still."""
        began = self._database.value("SELECT min(seen_at) FROM visits WHERE refresh = ?", (number,))
        away = self.changes.away(began or 0.0)
        gone = {url for url, page in away.items() if page.outcome == "gone"}
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for host, url, outcome in self._database.all(_VISITED, (number,)):
            if not (outcome in (*_NOT_FOUND, *_AS_GONE) and url in gone):
                found[host][outcome] += 1
        return found

    def note_template(self, urls: Sequence[str]) -> None:
        """Record that new versions differ in nothing but what many pages of their host changed."""
        number = self.current()
        self._database.write_many(
            "UPDATE visits SET outcome = 'template'"
            " WHERE refresh = ? AND url = ? AND outcome = 'changed'",
            [(number, url) for url in urls],
        )

    def take_back(self, urls: Sequence[str]) -> None:
        """Drop the versions before the last ones of pages, where these have the same text.

        These pages have the text since the time of the version, and keep their new body.
        """
        number = self.current()
        with self._database.unit(weight=0) as connection:
            for url in urls:
                connection.execute(_TAKE_VERSION_BACK, (url,))
                connection.execute(_DROP_CURRENT_VERSION, (url,))
                connection.execute(
                    "UPDATE visits SET outcome = 'unchanged'"
                    " WHERE refresh = ? AND url = ? AND outcome = 'changed'",
                    (number, url),
                )

    def replace_body(self, number: int, page: Page) -> None:
        """Give a page the body of a visit that found its text unchanged, with its validators."""
        values = {"number": number, "body": page.body_column}
        self._database.write(_REPLACE_BODY, values | storable_fields(page, _OF_BODY))

    def duplicates(self, original: int | None = None) -> dict[str, int]:
        """The numbers of the duplicates of a page, or of all that were dropped, by URL."""
        query = "SELECT url, number FROM duplicates WHERE url IS NOT NULL"
        values: tuple[int, ...] = ()
        if original is not None:
            query, values = f"{query} AND original = ?", (original,)
        else:
            query += f" UNION ALL SELECT url, number FROM skipped WHERE reason = '{EARLIER}'"  # noqa: S608 -- a constant
        return self._database.pairs(query, values)

    def original_of(self, number: int) -> str | None:
        """The URL of a duplicate's original; None: it is not known."""
        query = (
            "SELECT p.url FROM duplicates AS d JOIN pages AS p ON p.number = d.original"
            " WHERE d.number = ?"
        )
        found: str | None = self._database.value(query, (number,))
        return found

    def texts_of_duplicate(self, number: int) -> tuple[int, list[str]] | None:
        """The number of a duplicate's original, and the texts of both; None: it is not known."""
        row = self._database.first(_TEXTS_OF_DUPLICATE, (number,))
        if row is None:
            return None
        original, text, own = row
        texts = [self._database.text(original, text)]
        return original, texts if own is None else [*texts, self._database.text(number, own)]

    def drop_duplicate(self, number: int) -> None:
        """Delete a duplicate: its URL has a new verdict."""
        with self._database.unit():
            for table in ("duplicates", "claims"):
                self._database.write(f"DELETE FROM {table} WHERE number = ?", (number,), weight=1)  # noqa: S608 -- our own names
            self._database.write(
                f"DELETE FROM skipped WHERE number = ? AND reason = '{EARLIER}'",  # noqa: S608 -- a constant
                (number,),
            )

    def keep_duplicate(self, number: int, page: int, *, was_before: bool = False) -> None:
        """Keep the text of a duplicate as an old version of the page that its URL is now.

        `was_before`: it was a duplicate before the refresh, whenever it was fetched last.
        """
        refresh = self.current() if was_before else 0
        values = {"page": page, "number": number, "refresh": refresh}
        self._database.write(_AS_BEFORE, values, weight=1)

    def replace_page(
        self, number: int, page: Page, signatures: Mapping[str, bytes], *, keeps_old: bool = True
    ) -> None:
        """Replace a page by a new version, and keep the old one, unless told otherwise.

        Duplicates that share its text keep the old text.
        """
        with self._database.unit() as connection:
            connection.execute(
                "UPDATE duplicates SET text = (SELECT text FROM pages WHERE number = :number)"
                " WHERE original = :number AND text IS NULL",
                {"number": number},
            )
            if keeps_old:
                connection.execute(
                    "INSERT INTO versions SELECT number, fetched_at, title, text, body FROM pages"
                    " WHERE number = ?",
                    (number,),
                )
            connection.execute("DELETE FROM signatures WHERE page = ?", (number,))
            self._replace(number, page, signatures, is_new=False)
