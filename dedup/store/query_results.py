"""Results of a store's queries for counts, the report, `dedup why` and exports.

Times are seconds since 1970, UTC; distances are bits; resemblances are 0 to 1.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from dedup.store.records import Claims

Outcome = Literal["stored", "duplicate", "skipped", "waiting"]

# --- For the counts ------------------------------------------------------------------------------


class Count(NamedTuple):
    """Pages, and the total size of their bodies."""

    pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ApartPage:
    """A page that was kept although its text resembles that of an earlier one.

    Attributes:
        lines: up to three lines that only this page has.
    """

    number: int
    url: str | None
    original: int
    original_url: str | None
    lines: tuple[str, ...]


class WorkerRow(NamedTuple):
    """A process that shares a job with others.

    Attributes:
        hosts: the number of hosts it fetches from.
        pages: the number of pages it has fetched.
        started_at, seen_at: its start and its last sign of life.
        behind: changes of signatures that it has not loaded yet.
    """

    name: str
    hosts: int
    pages: int
    started_at: float
    seen_at: float
    behind: int


# --- For the report ------------------------------------------------------------------------------


class ReportedPage(NamedTuple):
    """A stored page as the report shows it.

    Attributes:
        own_title: the title without the part that all titles of the site share, if known.
        site_version: of the knowledge about its host; None: nothing was known.
        text: "" if it was not asked for.
    """

    url: str | None
    host: str
    title: str
    own_title: str
    heading: str
    language: str
    site_version: int | None
    text: str


class ListedDuplicate(NamedTuple):
    """A duplicate as the report lists it. Titles are without the part that a site's titles share.

    Attributes:
        shown_title: the complete title.
        site_version: of the knowledge about its host; None: nothing was known.
    """

    number: int
    original: int
    url: str | None
    host: str
    shown_title: str
    stage: str
    distance: int | None
    resemblance: float | None
    site_version: int | None
    title: str
    heading: str
    original_title: str
    original_heading: str


# --- For the explanation of a URL ----------------------------------------------------------------


class FoundRecord(NamedTuple):
    """The record of a URL. For a waiting page, `number` is its place."""

    outcome: Outcome
    number: int


class SkippedRecord(NamedTuple):
    """A URL without a page to compare; `is_fetched`: a response arrived."""

    url: str
    seen_at: float
    reason: str
    detail: str
    is_fetched: bool


class AliasRecord(NamedTuple):
    """A URL that leads to the page at `page_url`; `kind` is `redirect`, `route` or `canonical`."""

    url: str
    page_url: str
    kind: str


# --- For the export ------------------------------------------------------------------------------


class DuplicateRow(NamedTuple):
    """A duplicate by number, and how it was found."""

    number: int
    url: str | None
    fetched_at: float
    original: int
    stage: str
    distance: int | None
    resemblance: float | None


class RecordRow(NamedTuple):
    """The outcome of a document: stored, duplicate, or skipped for the reason in `stage`."""

    number: int
    original: int | None
    stage: str | None
    distance: int | None
    resemblance: float | None
    detail: str | None


# --- For groups of copies ------------------------------------------------------------------------


class CopyRow(NamedTuple):
    """A page of a group of copies.

    Attributes:
        source: of its text, see `Document.source`.
        claims: of a dropped page, what it says of where it is from; None: it is not known.
    """

    url: str
    host: str
    first_seen: float
    size_bytes: int
    source: str
    claims: Claims | None
