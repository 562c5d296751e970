"""Recognises URLs that look like a trap for crawlers: an endless number without new content.

Examples are endless calendars, paths that grow with each link, and session numbers that give one
page many URLs. None of this is certain, so such URLs are deferred, not dropped: see `TrapWatch`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult, urlsplit

from dedup.urls.parts import host_of
from dedup.urls.routes import is_route

MAX_DEPTH = 200
"""Links from the start. On a finite site only chains of "next" links are longer."""

MAX_SEGMENTS = 30
MAX_REPEATS = 4  # of one segment in a path, such as /a/b/a/b/a/b/a
MAX_NAME_REPEATS = 20  # of one parameter in a query
FUTURE_YEARS = 3

_MANY_PAGES = 100
_MANY_DUPLICATES = 0.9
_SOME_PAGES = 20
_SOME_DUPLICATES = 0.6  # of pages whose URLs carry what may be a session's number

_MAX_PATTERNS = 20_000
_PATTERN_SEGMENTS = 6

_NUMBER = re.compile(r"\d+")
_IDENTIFIER = re.compile(r"(?=[^/]*\d)[0-9A-Za-z_-]{16,}")
_SESSION = re.compile(
    r"(?i)(?:^|[?&;/])(?:sid|sess|session|session_?id|phpsessid|jsessionid|aspsessionid\w*|s)="
)
_YEAR = re.compile(r"(?i)(?:[?&](?:year|yr|y|date|day|month|cal\w*|from|start)=|/)(\d{4,6})(?!\d)")
_CALENDAR = re.compile(r"(?i)calend|event|month|year|date|archive|day")


def suspicion(url: str, *, depth: int, year: int) -> str:
    """Return in one word why a URL alone is suspicious; "": it is not.

    >>> suspicion("http://a.example/x/y/x/y/x/y/x", depth=3, year=2026)
    'repetition'
    >>> suspicion("http://a.example/calendar?year=2107&month=3", depth=3, year=2026)
    'calendar'
    """
    if depth > MAX_DEPTH:
        return "depth"
    parts = _split(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "long_path"
    if len(segments) >= MAX_REPEATS and max(Counter(segments).values()) >= MAX_REPEATS:
        return "repetition"
    if parts.query.count("&") >= MAX_NAME_REPEATS:
        names = Counter(field.partition("=")[0] for field in parts.query.split("&"))
        if max(names.values()) > MAX_NAME_REPEATS:
            return "repetition"
    if _CALENDAR.search(url):
        tail = f"{parts.path}?{parts.query}"
        if any(year + FUTURE_YEARS < int(found) for found in _YEAR.findall(tail)):
            return "calendar"
    return ""


def pattern_of(url: str) -> str:
    """The URL's shape: host, path without numbers and repeats, names of parameters.

    >>> pattern_of("http://a.example/news/2024/17?page=3&sid=77")
    'a.example/news/0/0?page&sid'
    """
    parts = _split(url)
    segments: list[str] = []
    for segment in parts.path.partition(";")[0].split("/"):
        shape = "x" if _IDENTIFIER.fullmatch(segment) else _NUMBER.sub("0", segment)
        if (shape and shape not in segments[-_PATTERN_SEGMENTS:]) or shape == "0":
            segments.append(shape)
    names = sorted({field.partition("=")[0] for field in parts.query.split("&") if field})
    query = f"?{'&'.join(names[:10])}" if names else ""
    return f"{parts.netloc}/{'/'.join(segments[:_PATTERN_SEGMENTS])}{query}"


def _split(url: str) -> SplitResult:
    """The parts of a URL; a route is the rest of its path."""
    address, _, fragment = url.partition("#")
    if not is_route(fragment):
        return urlsplit(address)
    return urlsplit(f"{address.partition('?')[0]}/{fragment.lstrip('!/')}")


class TrapWatch:
    """Decides which URLs are deferred, and when enough of a pattern have been fetched.

    It looks at the URL itself, and counts the pages of each pattern: if nearly all are duplicates,
    other URLs of the pattern are deferred, too.

    Args:
        budget: how many deferred URLs of one host and pattern are fetched.
        year: the current year.
    """

    def __init__(self, *, budget: int, year: int) -> None:
        self._budget = budget
        self._year = year
        self._pages: Counter[str] = Counter()
        self._duplicates: Counter[str] = Counter()
        self._taken: Counter[str] = Counter()

    def reason_to_defer(self, url: str, depth: int) -> str:
        """Return in one word why the URL is fetched last; "": it is not deferred."""
        if found := suspicion(url, depth=depth, year=self._year):
            return found
        if not self._duplicates:
            return ""
        pattern = pattern_of(url)
        pages, duplicates = self._pages[pattern], self._duplicates[pattern]
        if pages >= _MANY_PAGES and duplicates >= _MANY_DUPLICATES * pages:
            return "duplicates"
        may_be_session = pattern.find("/x") >= 0 or _SESSION.search(url) is not None
        if may_be_session and pages >= _SOME_PAGES and duplicates >= _SOME_DUPLICATES * pages:
            return "session"
        return ""

    def note(self, url: str, *, is_duplicate: bool) -> None:
        """Count a page that has been judged."""
        pattern = pattern_of(url)
        if pattern in self._pages or len(self._pages) < _MAX_PATTERNS:
            self._pages[pattern] += 1
            self._duplicates[pattern] += is_duplicate

    def restore(
        self, taken: Iterable[str], pages: Iterable[str], duplicates: Iterable[str]
    ) -> None:
        """Count what an earlier process has fetched: deferred URLs, and recent pages."""
        for url in taken:
            self.take(url)
        for url in pages:
            self.note(url, is_duplicate=False)
        for url in duplicates:
            self.note(url, is_duplicate=True)

    def take(self, url: str) -> bool:
        """May one more deferred URL be fetched? If so, it is counted."""
        pattern = pattern_of(url)
        if pattern not in self._taken and len(self._taken) >= _MAX_PATTERNS:
            pattern = urlsplit(url).netloc
        if self._taken[pattern] >= self._budget:
            return False
        self._taken[pattern] += 1
        return True


class HostBudget:
    """Decides when enough pages of a host have been fetched.

    Args:
        pages: the maximum of pages of each host.
        fetched: the pages fetched so far, by host.
    """

    def __init__(self, pages: int, fetched: Mapping[str, int]) -> None:
        self.pages = pages
        self._taken = Counter(fetched)

    def note(self, fetched: Mapping[str, int]) -> None:
        """Count what other processes have fetched; `fetched` has a lower bound of each total."""
        self._taken |= Counter(fetched)

    def take(self, url: str) -> bool:
        """May one more URL of its host be fetched? If so, it is counted."""
        host = host_of(url)
        if self._taken[host] >= self.pages:
            return False
        self._taken[host] += 1
        return True
