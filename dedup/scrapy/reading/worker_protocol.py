"""What the crawl and a reading process exchange; this module does not load Scrapy."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any, NamedTuple

from dedup.scrapy.reading.content import Content, RawPage, Unread, Wanted
from dedup.scrapy.reading.search_index import RawSearchIndex
from dedup.scrapy.reading.sitemap_file import RawSitemap, Sitemap
from dedup.sites.site import Site
from dedup.store import Page
from dedup.store.records import Claims

WORKER_COMMAND = (sys.executable, "-P", "-m", "dedup.scrapy.reading.worker")

BUFFER_BYTES = 1 << 20
LENGTH_BYTES = 8

MAX_PAGE_SECONDS = 60.0
"""For one page, by the clock: CPU time is bounded in the process, and a machine may be busy."""

_MAX_SITES = 200
"""Sites of which a process has what is known, some 80 kB each when they are full; with one more it
forgets all."""


class RawFields(NamedTuple):
    """A page of which fields are to be computed.

    Attributes:
        page: as it is stored.
        names: of the fields.
        is_reduced: is it wanted what stands for the body where that is not stored?
        is_final: may the page's text not change any more?
        is_claimed: is it wanted what the page says of where it is from?
    """

    body: bytes
    page: Page
    names: tuple[str, ...]
    is_reduced: bool
    is_final: bool
    is_claimed: bool = False

    @property
    def url(self) -> str:
        return self.page.url or ""


class FoundFields(NamedTuple):
    """What was computed of a page."""

    values: dict[str, Any]
    reduced: bytes | None
    claims: Claims | None = None


Raw = RawPage | RawSitemap | RawSearchIndex | RawFields
Found = Content | Sitemap | dict[str, str] | FoundFields


class Question(NamedTuple):
    """A page, sitemap or search index to be read.

    Attributes:
        host: the host of the page; None: its site is not known, and nothing is learned of it.
        site: what is known of the site; None: the same as in an earlier question.
        is_first: the process forgets the sites of all earlier questions.
        cpu_seconds: CPU time left for the page; None: the whole limit of a page.
    """

    raw: Raw
    host: str | None = None
    site: Site | None = None
    is_first: bool = False
    cpu_seconds: float | None = None


def packed(value: object) -> bytes:
    """The value as a pickle after its length."""
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class ReadingError(Exception):
    """A page cannot be read; the message says why, and `reason` is recorded."""

    def __init__(self, unread: Unread) -> None:
        super().__init__(unread.detail)
        self.reason = unread.reason
        self.traceback = unread.traceback


class NotReadError(Exception):
    """A page was not read, for a reason that is not in the page."""


class TooSlowError(Exception):
    """A page is slow, and its reading was stopped because another slow page is being read.

    Attributes:
        seconds: CPU time that it has taken.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def question_for(raw: Raw, host: str | None, site: Site | None, known: dict[str, int]) -> Question:
    """The question about a page, with what is known of its site if the process has not got that.

    `known` has the version that the process has of each host; it is updated.
    """
    if host is None or site is None:
        return Question(raw)
    is_first = host not in known and len(known) >= _MAX_SITES
    if is_first:
        known.clear()
    is_known = known.get(host) == site.version
    known[host] = site.version
    return Question(raw, host, None if is_known else site, is_first)


def unread_by_death(status: int, wanted: Wanted) -> Unread:
    if status == -signal.SIGPROF:
        return Unread("too_complex", f"takes more than {wanted.cpu_seconds:g} s of CPU time")
    return Unread("too_complex", f"the process reading it ended with status {status}")


def worker_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def read_fields(raw: RawFields) -> FoundFields:
    """Compute fields of a page."""
    # Most crawls need these modules never.
    from dedup.fields.page_source import PageSource, reduced
    from dedup.fields.registry import values
    from dedup.groups.claims import claims_of

    kept = reduced(raw.page, is_final=raw.is_final) if raw.is_reduced else None
    source = PageSource(raw.page)
    claims = claims_of(source) if raw.is_claimed else None
    found = values(source, raw.names)
    return FoundFields(found, None if kept is None else kept.to_bytes(), claims)
