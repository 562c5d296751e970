"""When a page was published and modified: what it declares, checked against what it shows.

A date that is declared for the page itself counts unless the lines around its heading, or its URL,
say otherwise. Weaker declarations, which themes and programs also use for the day of a build, count
only if one of these agrees. Where sources differ in the hour, as with wrong zones, the day is
returned alone; where they differ in the day, nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

from dedup.fields.declared import Declared
from dedup.fields.describing import site_name_of
from dedup.fields.json_ld import main_nodes
from dedup.fields.moments import Moment, dates_in, labelled_moments, moment

_PUBLISHED = """
    article:published_time og:article:published_time article:published article.published
    datepublished dc.date.issued dcterms.issued citation_publication_date
""".split()  # noqa: SIM905 -- a list of quoted words reads worse
_MAYBE_PUBLISHED = """
    pubdate publishdate publish_date publish-date published published_at pub_date og:pubdate
    og:publish_time og:time apub:time firstpublishedtime article_date_original article:create_at
    date dc.date dcterms.date dc.created dcterms.created datecreated article.created sailthru.date
    parsely-pub-date dcsext.articlefirstpublished sn-post-date pdate published_time_telegram
    bt:pubdate cxenseparse:recs:publishtime
""".split()  # noqa: SIM905
_MODIFIED = """
    article:modified_time og:article:modified_time article:modified article.updated
    og:updated_time datemodified dcterms.modified dc.date.modified dateupdate lastmod
    last-modified lastmodifiedtime article_date_updated
""".split()  # noqa: SIM905

_PUBLISHED_HINT = re.compile(r"publish|pubdate|entry-date|post-?date|posted|date-posted")
_MODIFIED_HINT = re.compile(r"updat|modif")

_UPDATED = re.compile(
    r"updat|modif|edited|last (?:changed|revised)|更新|修改|修订|編輯", re.IGNORECASE
)
_OTHER_LETTERS = 40
"""A line with more letters beside its dates is a sentence, not a byline."""

_COMMON_WORD = re.compile(r"\b[a-z]{3,}\b")
_COMMON_WORDS = 4
"""In lower case; names and months have capitals."""

_LABEL_CHARACTERS = 16
_ENDS = (".", "。", "!", "?", "！", "？")
_HALF_DAY = re.compile(r"\b[ap]\.m\.$")

_SITES = frozenset(["website", "blog"])
"""Types of OpenGraph of start pages and lists, but also what some sites declare for all pages."""

_NO_LETTERS = re.compile(r"[\W_]+")
_LEAST_HEADING_CHARACTERS = 7
"""Shorter ones are often names of tags."""

_LIST_URL = re.compile(
    r"/(?:archives?|authors?|categor(?:y|ies)|labels?|page|search|tags?|topics?)(?:/|$)"
)

_URL_DATE = re.compile(r"/((?:19|20)\d\d)/([01]?\d)/([0-3]?\d)/[^/?#]")


@dataclass(frozen=True, slots=True)
class Dates:
    """ISO 8601; None: it is not certain."""

    published: str | None
    modified: str | None


def dates_of(declared: Declared, url: str, fetched: date | None = None) -> Dates:
    """When a page was published and modified.

    Args:
        declared: what the page declares.
        url: of the page.
        fetched: the day on which it was fetched; later dates do not count.
    """
    latest = None if fetched is None else fetched + timedelta(days=1)
    found = _Sources(declared, url, latest)
    modified = found.modified()
    published = found.published(modified)
    if published is not None and modified is not None and modified.is_before(published):
        modified = None
    return Dates(_text(published), _text(modified))


def _text(found: Moment | None) -> str | None:
    return None if found is None else str(found)


class _Sources:
    """Where the dates of a page stand."""

    def __init__(self, declared: Declared, url: str, latest: date | None) -> None:
        self._declared = declared
        self._url = url
        self._latest = latest
        self._nodes = main_nodes(declared.nodes, url, declared.title)
        self._is_site = not self._nodes and declared.first("og:type").lower() in _SITES
        self._shown, self._updated = self._in_lines()
        self._in_url = _date_in_url(url, latest)

    def published(self, modified: Moment | None) -> Moment | None:
        strong = [
            *self._of_nodes("datePublished"),
            *self._read(self._declared.every(*_PUBLISHED)),
            *self._of_properties("datepublished"),
            *self._of_times(_PUBLISHED_HINT),
        ]
        seen = [*self._shown, *self._in_url]
        if self._is_site:
            is_of_page = self._is_of_page()
            strong = [
                each for each in strong if is_of_page and any(each.is_near(other) for other in seen)
            ]
        if strong:
            chosen = _agreed(strong, seen)
            return None if chosen is None or self._is_denied(chosen, modified) else chosen
        weak = [
            *self._of_nodes("dateCreated", "uploadDate"),
            *self._of_properties("datecreated"),
            *self._read(self._declared.every(*_MAYBE_PUBLISHED)),
            *self._of_times(None),
        ]
        supported = [each for each in weak if any(each.is_near(other) for other in seen)]
        if supported:
            return _agreed(supported, seen)
        return self._by_sight()

    def modified(self) -> Moment | None:
        strong = [
            *self._of_nodes("dateModified"),
            *self._read(self._declared.every(*_MODIFIED)),
            *self._of_properties("datemodified"),
            *self._of_times(_MODIFIED_HINT, _PUBLISHED_HINT),
        ]
        if self._is_site:
            strong = []
        return _agreed(strong or self._updated, self._updated)

    def _by_sight(self) -> Moment | None:
        """The only date in the lines around the heading, or that in the URL.

        In a list of pages it would be the date of one of them.
        """
        if self._is_site or not self._is_of_page():
            return next(iter(self._in_url), None)
        found = [each for each in self._shown if not self._is_today(each)]
        if found:
            is_one = all(each.day == found[0].day for each in found)
            return max(found, key=_precision) if is_one else None
        return next(iter(self._in_url), None)

    def _is_of_page(self) -> bool:
        """Is the heading that of a text of its own, and not the name of a site or a list?"""
        heading, title, site = (
            _NO_LETTERS.sub("", each or "").lower()
            for each in (
                self._declared.heading,
                self._declared.title,
                site_name_of(self._declared),
            )
        )
        return (
            len(heading) >= _LEAST_HEADING_CHARACTERS
            and heading in title
            and heading != site
            and not _LIST_URL.search(self._url)
        )

    def _is_denied(self, chosen: Moment, modified: Moment | None) -> bool:
        """Does the page show one other day as its date?"""
        if any(chosen.is_near(each) for each in (*self._shown, *self._in_url)):
            return False
        known = [each for each in (modified, *self._updated) if each is not None]
        others = {
            each.day
            for each in self._shown
            if not (self._is_today(each) or any(each.is_near(other) for other in known))
        }
        return len(others) == 1 or bool(self._in_url)

    def _is_today(self, found: Moment) -> bool:
        """Is it the day of the fetch, which mastheads show?"""
        return self._latest is not None and found.day >= self._latest - timedelta(days=1)

    def _read(self, texts: Iterable[Any]) -> Iterator[Moment]:
        for text in texts:
            found = moment(text, latest=self._latest) if isinstance(text, str) else None
            if found is not None:
                yield found

    def _of_nodes(self, *names: str) -> Sequence[Moment]:
        """Of the page's subject; of several, only if they agree."""
        for name in names:
            found = list(self._read(node.get(name) for node in self._nodes))
            if found:
                is_clear = all(each.is_near(found[0]) for each in found)
                return found if is_clear else ()
        return ()

    def _of_properties(self, name: str) -> Sequence[Moment]:
        found = list(self._read(value for each, value in self._declared.properties if each == name))
        return found if all(each.is_near(found[0]) for each in found) else ()

    def _of_times(
        self, hint: re.Pattern[str] | None, but: re.Pattern[str] | None = None
    ) -> Sequence[Moment]:
        found = list(
            self._read(
                value
                for hints, value in self._declared.times
                if (hint is None or hint.search(hints)) and not (but and but.search(hints))
            )
        )
        return found if all(each.is_near(found[0]) for each in found) else ()

    def _in_lines(self) -> tuple[list[Moment], list[Moment]]:
        """The dates in the lines around the heading, and those that are called updates."""
        shown: list[Moment] = []
        updated: list[Moment] = []
        is_update = False
        for line in self._declared.lines:
            found = list(labelled_moments(line, latest=self._latest))
            if not found:
                is_update = bool(_UPDATED.search(line)) and len(line) <= _LABEL_CHARACTERS
                continue
            if line != self._declared.heading and _is_byline(line):
                for each, label in found:
                    is_of_update = is_update or _UPDATED.search(label)
                    (updated if is_of_update else shown).append(each)
            is_update = False
        return shown, updated


def _is_byline(line: str) -> bool:
    """Does a line say little more than a date?"""
    if line.endswith(_ENDS) and not _HALF_DAY.search(line):
        return False
    letters = sum(map(str.isalpha, line)) - sum(map(str.isalpha, dates_in(line)))
    return letters <= _OTHER_LETTERS and len(_COMMON_WORD.findall(line)) <= _COMMON_WORDS


def _precision(found: Moment) -> int:
    return ("days", "minutes", "seconds").index(found.precision)


def _agreed(found: Sequence[Moment], seen: Sequence[Moment]) -> Moment | None:
    """The first of some dates, if the others agree, or those that the page shows."""
    if not found:
        return None
    if not all(each.is_near(found[0]) for each in found):
        shown = [each for each in found if any(each.is_near(other) for other in seen)]
        if not shown or not all(each.is_near(shown[0]) for each in shown):
            return None
        found = shown
    chosen = max(found, key=lambda each: each.precision != "days")
    if all(chosen.is_same(each) for each in found):
        return chosen
    days = [each.day for each in seen if chosen.is_near(each)] or [chosen.day]
    return Moment(
        chosen.as_day().at.replace(year=days[0].year, month=days[0].month, day=days[0].day)
    )


def _date_in_url(url: str, latest: date | None) -> list[Moment]:
    try:
        found = _URL_DATE.search(urlsplit(url).path)
    except ValueError:
        return []
    read = None if found is None else moment("-".join(found.groups()), latest=latest)
    return [] if read is None else [read]
