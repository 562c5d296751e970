"""Queries of what has changed on the pages of a job: visits, old versions, pages that are away."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from dedup.store.exchange import split_body
from dedup.store.records import Page, is_reduced
from dedup.store.sql.database import Queries
from dedup.store.sql.retention import GONE, SUMMED_UP, TURNS

_TURNS = f"""
SELECT refresh, url, outcome, seen_at FROM visits WHERE outcome IN {TURNS} ORDER BY refresh
"""  # noqa: S608 -- constants
_REDIRECTS = """
SELECT url, page_url FROM aliases
WHERE kind = 'redirect' AND url IN (SELECT url FROM visits WHERE outcome = 'moved')
"""
_COPIES = f"""
SELECT r.url, d.url, d.fetched_at FROM duplicates AS d JOIN pages AS r ON r.number = d.original
WHERE d.url IS NOT NULL AND r.url IN (SELECT url FROM visits WHERE outcome IN ({GONE}))
ORDER BY d.number
"""  # noqa: S608 -- constants
_BEGAN = "SELECT refresh, seen_at FROM visits WHERE url = ''"
_CHANGED = """
SELECT r.number, r.url, r.host, v.fetched_at, r.fetched_at, v.title, v.text, r.title, r.text
FROM versions AS v JOIN pages AS r ON r.number = v.page
JOIN (SELECT page, max(fetched_at) AS latest FROM versions WHERE fetched_at <= ? GROUP BY page)
    AS last ON last.page = v.page AND last.latest = v.fetched_at
WHERE r.fetched_at > ? AND r.url IS NOT NULL ORDER BY r.host, r.number
"""
_BODIES = """
SELECT r.number, r.url, r.content_type, r.encoding, r.source, r.title, r.body, v.title, v.body
FROM pages AS r LEFT JOIN versions AS v ON v.page = r.number AND v.fetched_at =
    (SELECT max(fetched_at) FROM versions WHERE page = r.number AND fetched_at <= ?)
"""
_NEW = """
SELECT number, url, title, fetched_at FROM pages WHERE fetched_at > ? AND url IS NOT NULL
AND number NOT IN (SELECT page FROM versions WHERE fetched_at <= ?)
"""
_VERSIONS = """
SELECT r.number, r.host, v.fetched_at, v.title, v.text
FROM versions AS v JOIN pages AS r ON r.number = v.page WHERE r.url = ?
UNION ALL SELECT number, host, fetched_at, title, text FROM pages WHERE url = ?
ORDER BY fetched_at DESC LIMIT ?
"""
_REFRESHES = """
SELECT refresh, outcome, count(*), min(seen_at) FROM visits WHERE refresh > ? OR url = ''
GROUP BY refresh, outcome
UNION ALL SELECT refresh, outcome, sum(pages), NULL FROM visit_counts GROUP BY refresh, outcome
ORDER BY 1, 2
"""
_ANSWERS = """
SELECT r.host, v.outcome, count(*) FROM visits AS v JOIN pages AS r ON r.url = v.url
WHERE v.refresh = :refresh AND v.refresh > :summed_up GROUP BY r.host, v.outcome
UNION ALL SELECT host, outcome, pages FROM visit_counts WHERE refresh = :refresh AND host <> ''
ORDER BY 1, 2
"""
_VISITS = "SELECT refresh, outcome, seen_at FROM visits WHERE url = ? ORDER BY refresh"


class Refresh(NamedTuple):
    """A refresh: when it began, and its pages by outcome."""

    number: int
    began: float
    counts: dict[str, int]


class Visit(NamedTuple):
    """A visit of a page, in a refresh."""

    refresh: int
    outcome: str
    seen_at: float


class Version(NamedTuple):
    """What a page was from the time when it was fetched."""

    fetched_at: float
    title: str
    text: str


class ChangedPage(NamedTuple):
    """A page that has a new version since some time, with the versions of then and now.

    Attributes:
        is_beside: their texts are the same, and what stands beside these is given as their text.
        part: the share of both texts that is given, by characters.
    """

    number: int
    url: str
    host: str
    then: Version
    now: Version
    is_beside: bool = False
    part: float = 1.0


class NewPage(NamedTuple):
    number: int
    url: str
    title: str
    seen_at: float


class AwayPage(NamedTuple):
    """A page that is not at its URL.

    Attributes:
        outcome: `gone` or `moved`.
        why: it is gone: "noindex", "not_html", or "".
        seen_at: when that was seen first.
        refresh: the number of that refresh.
    """

    outcome: str
    why: str
    seen_at: float
    refresh: int


class ChangeQueries(Queries):
    """What has changed on a job's pages."""

    def refreshes(self) -> list[Refresh]:
        """The refreshes, the first one first."""
        found: dict[int, Refresh] = {}
        for number, outcome, count, seen_at in self._database.all(_REFRESHES, (self._summed_up,)):
            began = float("inf") if seen_at is None else seen_at
            known = found.get(number, Refresh(number, began, {}))
            counts = known.counts if outcome == "began" else {**known.counts, outcome: int(count)}
            found[number] = Refresh(number, min(known.began, began), counts)
        return list(found.values())

    def visits(self, url: str) -> list[Visit]:
        """The visits of a page whose rows are kept, the first one first."""
        return [Visit(*row) for row in self._database.all(_VISITS, (url,))]

    def until(self) -> float:
        """Up to when what is gone counts: in the end of a refresh the server may have failed."""
        if self._database.meta("finished") is not None:
            return inf
        query = "SELECT max(seen_at) FROM visits WHERE refresh = ? AND url = ''"
        began = self._database.value(query, (int(self._database.meta("refresh") or 0),))
        return inf if began is None else float(began)

    def away(self, until: float) -> dict[str, AwayPage]:
        """The pages that were gone or had moved at a time, by URL."""
        found: dict[str, AwayPage] = {}
        for refresh, url, outcome, seen_at in self._database.each(_TURNS):
            if seen_at > until:
                continue
            kind, _, why = outcome.partition(": ")
            if kind == "back":
                found.pop(url, None)
            elif url not in found or found[url].outcome != kind:
                found[url] = AwayPage(kind, why, seen_at, refresh)
        return found

    def moved_to(self, away: Mapping[str, AwayPage]) -> dict[str, str]:
        """Where pages that are away are now, by URL: where they redirect to, or a copy.

        A copy was fetched since the refresh began before the one that found the page gone.
        """
        if not away:
            return {}
        redirects = self._database.each(_REDIRECTS)
        found = {url: to for url, to in redirects if url in away and away[url].outcome == "moved"}
        began = dict(self._database.all(_BEGAN))
        for url, copy, fetched_at in self._database.each(_COPIES):
            page = away.get(url)
            if page is None or page.outcome != "gone" or copy in away:
                continue
            if fetched_at > began.get(page.refresh - 1, 0.0):
                found[url] = copy
        return found

    def back(self, since: float) -> dict[str, float]:
        """When pages were back, of those that were since a time, by URL."""
        query = "SELECT url, max(seen_at) FROM visits WHERE outcome = 'back' AND seen_at > ?"
        return self._database.pairs(f"{query} GROUP BY url", (since,))

    def recorded(self, refreshes: Sequence[int]) -> set[str]:
        """The URLs of pages that some refreshes have found changed, as far as these are kept."""
        query = "SELECT url FROM visits WHERE outcome = 'changed' AND refresh = ?"
        return {url for number in refreshes for (url,) in self._database.each(query, (number,))}

    def changed(self, since: float) -> Iterator[ChangedPage]:
        """The pages that have another version than they had at a time."""
        for number, url, host, then, now, *values in self._database.each(_CHANGED, (since, since)):
            old_title, old, title, text = values
            yield ChangedPage(
                number,
                url,
                host,
                Version(then, old_title, self._text(number, old)),
                Version(now, title, self._text(number, text)),
            )

    def bodies(self, number: int, since: float) -> tuple[Page, Page]:
        """A page with the body that it had at a time, and with its present one, without texts."""
        query = f"{_BODIES} WHERE r.number = ?"
        return self._both(*self._database.first(query, (since, number)))

    def bodies_of_host(
        self, host: str, since: float, step: int, limit: int
    ) -> Iterator[tuple[Page, Page]]:
        """The same of those pages of a host whose number is a multiple of `step`."""
        query = f"{_BODIES} WHERE r.host = ? AND r.number % ? = 0 ORDER BY r.number LIMIT ?"
        for row in self._database.each(query, (since, host, step, limit)):
            yield self._both(*row)

    def _both(self, number: int, *row: Any) -> tuple[Page, Page]:
        url, content_type, encoding, source, title, body, old_title, old_body = row
        now = Page(
            id=str(number),
            text="",
            url=url,
            title=title,
            content_type=content_type,
            encoding=encoding,
            source=source,
            body=self._body(number, body),
        )
        if old_title is None:  # it has one version
            return now, now
        return replace(now, title=old_title, body=self._body(number, old_body)), now

    def _body(self, number: int, column: bytes | None) -> bytes | None:
        if column is None or is_reduced(column):
            return None
        return self._database.unpacked(number, split_body(column)[1], "body")

    def new(self, since: float) -> Iterator[NewPage]:
        """The pages that were stored after a time, and were no duplicates before."""
        return map(NewPage._make, self._database.each(_NEW, (since, since)))

    def steps(self, url: str, limit: int) -> Iterator[ChangedPage]:
        """A page from each version to the next, the latest `limit` steps, the last one first."""
        rows = self._database.all(_VERSIONS, (url, url, limit + 1))
        for (number, host, *now), (_, _, *then) in pairwise(rows):
            old, new = (
                Version(at, title, self._text(number, text)) for at, title, text in (then, now)
            )
            yield ChangedPage(number, url, host, old, new)

    def redirect(self, url: str) -> str | None:
        """Where a URL redirects to; None: nowhere, as far as is known."""
        query = "SELECT page_url FROM aliases WHERE url = ? AND kind = 'redirect'"
        found: str | None = self._database.value(query, (url,))
        return found

    def answers(self, refresh: int) -> dict[str, dict[str, int]]:
        """The visited pages of each host by outcome."""
        found: dict[str, dict[str, int]] = {}
        values = {"refresh": refresh, "summed_up": self._summed_up}
        for host, outcome, count in self._database.all(_ANSWERS, values):
            found.setdefault(host, {})[outcome] = count
        return found

    def titles(self) -> Iterator[tuple[str, str]]:
        """The host and the title of each page."""
        return self._database.each("SELECT host, title FROM pages WHERE url IS NOT NULL")

    def urls(self, host: str) -> Iterator[str]:
        """The URLs of a host's pages."""
        query = "SELECT url FROM pages WHERE host = ? AND url IS NOT NULL"
        return (url for (url,) in self._database.each(query, (host,)))

    def pages_by_host(self) -> dict[str, int]:
        """How many pages each host has."""
        return self._database.pairs("SELECT host, count(*) FROM pages GROUP BY host")

    @property
    def _summed_up(self) -> int:
        return int(self._database.meta(SUMMED_UP) or 0)

    def _text(self, number: int, packed: bytes) -> str:
        return self._database.text(number, packed)
