"""What a store's named queries return, by who asks: the report, `dedup why`, the export.

Times are seconds since 1970, UTC; distances are bits; resemblances are 0 to 1.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Outcome = Literal["stored", "duplicate", "skipped", "waiting"]

# --- For the counts ------------------------------------------------------------------------------


class Count(NamedTuple):
    """Pages, and the bytes of their bodies together."""

    pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ApartPage:
    """A page that was kept though its text resembles that of an earlier one.

    Attributes:
        lines: up to three that only it has.
    """

    number: int
    url: str | None
    original: int
    original_url: str | None
    lines: tuple[str, ...]


class WorkerRow(NamedTuple):
    """A process that works on a job with others.

    Attributes:
        hosts: how many it fetches from.
        pages: fetched by it.
        started_at, seen_at: seconds since 1970; the last sign of life.
        behind: changes of signatures that its memory does not have yet.
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
        own_title: the title without what all titles of the site have, where that is known.
        site_version: of what was known of its host; None: nothing was.
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
    """A duplicate as the report lists it; titles without what all titles of the site have.

    Attributes:
        shown_title: the title as it is.
        site_version: of what was known of its host; None: nothing was.
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
    """Where a URL is on record; `number` is its place where the page waits."""

    outcome: Outcome
    number: int


class SkippedRecord(NamedTuple):
    """A URL that gave no page to compare; `is_fetched`: a response arrived."""

    url: str
    seen_at: float
    reason: str
    detail: str
    is_fetched: bool


class AliasRecord(NamedTuple):
    """A URL that leads to the page at `page_url`; `kind` is `redirect` or `canonical`."""

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
    """What became of a document: stored, or a duplicate, or skipped for the reason in `stage`."""

    number: int
    original: int | None
    stage: str | None
    distance: int | None
    resemblance: float | None
    detail: str | None
