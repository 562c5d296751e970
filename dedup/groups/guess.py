"""Which page of a group of copies was first: a guess, with all its grounds.

Links come before dates. A page that names another page, or the host of one, as canonical or as its
source says that it is the copy. Dates decide if every host declares one and one is the earliest,
whatever the zones of those that have none. When a page was seen depends on the crawl, so that is
told and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from dedup.store.records import Claims
from dedup.urls.parts import site_of

Basis = Literal["canonical", "source", "dates", "unknown"]

_MAX_GROUNDS = 20


@dataclass(frozen=True, slots=True)
class Copy:
    """A page of a group.

    Attributes:
        first_seen: seconds since 1970.
        claims: what it says of where its text is from; None: it is not known.
    """

    url: str
    host: str
    first_seen: float
    claims: Claims | None = None

    @property
    def published(self) -> str | None:
        """When it declares to have been published, ISO 8601."""
        text = None if self.claims is None else self.claims.published
        return None if text is None or _time(text) is None else text

    @property
    def site(self) -> str:
        return self.host.removeprefix("www.")


class Guess(NamedTuple):
    """Which page was first, and why.

    Attributes:
        first: None: nothing tells.
        grounds: sentences.
    """

    first: Copy | None
    basis: Basis
    grounds: list[str]


def guess(copies: Sequence[Copy]) -> Guess:
    """Guess which of the pages of at least two hosts was first."""
    claims = list(_claims(copies))
    sites = {each.site for each in copies}
    inside = [each for each in claims if each.site in sites]
    grounds = [each.sentence(is_there=each.site in sites) for each in claims]
    dates = _Dates(copies)
    if inside:
        first, basis, why = _by_links(copies, inside)
    else:
        outside = {each.copy.url for each in claims if each.kind == "canonical"}
        first, basis, why = dates.guess(outside)
    grounds += [*dates.sentences(), *why]
    if inside and first is not None and dates.deny(first):
        grounds.append("The dates say otherwise; links come before dates")
    left = len(grounds) - _MAX_GROUNDS
    if left > 0:
        grounds[_MAX_GROUNDS:] = [f"And {left:,} more"]
    seen = min(copies, key=lambda each: each.first_seen)
    grounds.append(f"{seen.url} was seen first, which depends on the crawl")
    return Guess(first, basis, grounds)


def days_later(first: Copy, other: Copy) -> float | None:
    """How many days after the first one a page was published, as both declare it."""
    begin, end = _time(first.published), _time(other.published)
    if begin is None or end is None:
        return None
    return round((end.at - begin.at).total_seconds() / 86_400, 1)


class _Claim(NamedTuple):
    copy: Copy
    kind: Literal["canonical", "source"]
    url: str
    site: str

    def sentence(self, *, is_there: bool) -> str:
        kind = "as canonical" if self.kind == "canonical" else "as its source"
        end = "" if is_there else ", on a host without a copy"
        return f"{self.copy.url} names {self.url} {kind}{end}"


def _claims(copies: Iterable[Copy]) -> Iterator[_Claim]:
    """The links of pages to other sites, canonical ones first."""
    found: list[_Claim] = []
    for copy in copies:
        if copy.claims is not None:
            if copy.claims.canonical_url is not None:
                url = copy.claims.canonical_url
                found.append(_Claim(copy, "canonical", url, site_of(url)))
            found += (_Claim(copy, "source", url, site_of(url)) for url in copy.claims.sources)
    found.sort(key=lambda each: each.kind)
    return (each for each in found if each.site and each.site != each.copy.site)


_Found = tuple[Copy | None, Basis, list[str]]


def _by_links(copies: Sequence[Copy], claims: Sequence[_Claim]) -> _Found:
    """The page to which all links lead in the end."""
    claiming = {each.copy.site for each in claims}
    roots = sorted({each.site for each in claims} - claiming)
    if len(roots) != 1:
        names = " and ".join(roots[:5])
        why = f"Links lead to {names}" if roots else "Pages name each other"
        return None, "unknown", [f"{why}: they contradict each other"]
    (root,) = roots
    to_root = [each for each in claims if each.site == root]
    named = {_plain(each.url) for each in to_root}
    pages = [each for each in copies if each.site == root]
    first = min(pages, key=lambda each: (_plain(each.url) not in named, each.first_seen))
    return first, to_root[0].kind, []


def _plain(url: str) -> str:
    """A URL without what pages of one site write differently."""
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


class _Time(NamedTuple):
    """A declared date; `is_exact`: it is a time with its zone."""

    at: datetime
    is_exact: bool

    def is_before(self, other: _Time) -> bool:
        """Is it earlier, in whatever zones they were written?"""
        if self.is_exact and other.is_exact:
            return other.at - self.at >= timedelta(minutes=2)
        return other.at.date() - self.at.date() > timedelta(days=1)


def _time(text: str | None) -> _Time | None:
    """The time that a text tells; None: it tells none."""
    try:
        found = datetime.fromisoformat(text or "")
        is_exact = found.tzinfo is not None
        return _Time(found.astimezone(UTC) if is_exact else found.replace(tzinfo=UTC), is_exact)
    except (ValueError, OverflowError):  # the job may be a stranger's
        return None


class _Dates:
    """The earliest declared date of each site."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._first: dict[str, Copy] = {}
        self._times: dict[str, _Time] = {}
        self._sites: Mapping[str, str] = {each.site: each.host for each in copies}
        for copy in copies:
            time, known = _time(copy.published), self._times.get(copy.site)
            if time is not None and (known is None or time.at < known.at):
                self._first[copy.site], self._times[copy.site] = copy, time

    def sentences(self) -> Iterator[str]:
        for copy in self._first.values():
            yield f"{copy.url} declares {copy.published}"

    def guess(self, outside: set[str]) -> _Found:
        """The earliest page; none of those `outside` is, which name a page of another host."""
        missing = sorted(host for site, host in self._sites.items() if site not in self._first)
        if missing:
            why = f"{', '.join(missing[:5])}: no date of publication is known"
            return None, "unknown", [why]
        site = min(self._times, key=lambda each: self._times[each].at)
        others = [time for each, time in self._times.items() if each != site]
        if not all(self._times[site].is_before(other) for other in others):
            why = "The dates are the same, or too close: their zones may differ by a day"
            return None, "unknown", [why]
        first = self._first[site]
        if first.url in outside:
            return None, "unknown", ["The earliest page names a page of another host"]
        return first, "dates", []

    def deny(self, first: Copy) -> bool:
        """Has another site an earlier date than the first page?"""
        time = _time(first.published)
        return time is not None and any(
            other.is_before(time) for site, other in self._times.items() if site != first.site
        )
