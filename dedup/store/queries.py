"""The named queries of a store, by who asks: `stats`, `report`, `explain` and the exports."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from dedup.store.results import (
    AliasRecord,
    ApartPage,
    Count,
    DroppedRecord,
    DuplicateRow,
    FetchedUrl,
    FoundRecord,
    HostCounts,
    ListedDuplicate,
    ListedOriginal,
    PageNames,
    PairNames,
    Refreshed,
    SkippedRecord,
    StageCounts,
    StoredBody,
    StoredRecord,
    TimeCounts,
    UrlCounts,
    UrlPair,
    WaitingRecord,
    WorkerRow,
)
from dedup.store.selection import EVERYTHING, Selection

IsSameUrl = Callable[[str], bool]


class StatsQueries(Protocol):
    """Counts by what became of pages and URLs; names in alphabetical order."""

    def unique(self) -> Count: ...

    def duplicates(self) -> dict[str, Count]:
        """By stage."""

    def skipped(self) -> dict[str, Count]:
        """Responses that gave no page to compare, by reason."""

    def failed(self) -> dict[str, int]:
        """URLs without a response, by reason."""

    def waiting(self) -> Count:
        """Pages that wait until enough is known of their host."""

    def kept_apart(self) -> int:
        """Pages that were kept for what they say beside a text that resembles another's."""

    def urls(self) -> UrlCounts: ...

    def counters(self) -> dict[str, int]:
        """What is counted and leaves no row of its own, by name."""

    def hosts(self, limit: int) -> list[HostCounts]:
        """The hosts with most pages, these first."""

    def refreshed(self) -> Refreshed | None:
        """What the last refresh found; None: there was none."""

    def fetched(self) -> int:
        """Records for which a response arrived."""

    def pages(self) -> int:
        """Pages that are stored, duplicates, or wait for more to be known of their site."""

    def workers(self) -> list[WorkerRow]:
        """The processes that share the job now, in the order in which they joined."""


class ReportQueries(Protocol):
    """Counts, and rows in an order and number that a report can show."""

    def meta(self) -> dict[str, str]:
        """All named values of the job."""

    def sources(self) -> dict[str, int]:
        """How many stored pages have a text of each source, see `Document.source`."""

    def stages(self) -> list[StageCounts]:
        """The duplicates by stage, the stage with most of them first."""

    def active_seconds(self, pause: float) -> float | None:
        """From the first page to the last, without longer pauses; None: no page was fetched."""

    def times(self, step: float, pause: float) -> Iterator[TimeCounts]:
        """Pages by steps of so many seconds, without longer pauses; empty steps are left out."""

    def lowest_resemblance(self) -> float | None:
        """Of all duplicates; None where none was computed."""

    def resemblances(self, n_steps: int) -> dict[int, int]:
        """Duplicates by resemblance in steps of 1 / `n_steps`; those of exactly 1 come last."""

    def distances(self) -> dict[int, int]:
        """Duplicates by the distance of their fingerprints, in bits."""

    def group_sizes(self) -> dict[int, int]:
        """How many pages have so many duplicates."""

    def duplicates_by_original(self) -> dict[int, int]:
        """How many duplicates each page has that has any."""

    def pages_by_site(self) -> dict[str, int]:
        """Stored and dropped pages that were read by what was known of their host, by host."""

    def sources_by_host(self) -> dict[str, dict[str, int]]:
        """How many stored pages of each host have a text of each source."""

    def has_rest(self) -> bool:
        """Is of any page kept what is rare on it, so that the second look could be taken?"""

    def skipped(self) -> Iterator[SkippedRecord]:
        """The URLs that gave no page to compare, by number."""

    def stored_bodies(self) -> Iterator[StoredBody]:
        """The stored pages whose bodies are kept, by number."""

    def url_pairs(self, max_number: int) -> Iterator[UrlPair]:
        """Duplicates and their originals, of those up to a number that have URLs."""

    def fetched_urls(self, max_number: int) -> Iterator[FetchedUrl]:
        """Stored and dropped pages up to a number, in the order of their numbers."""

    def last_page(self) -> int:
        """The greatest number of a stored page; 0: there is none."""

    def listed_duplicates(self, limit: int) -> list[ListedDuplicate]:
        """The duplicates of lowest resemblance, these first; equal bodies last."""

    def listed_original(self, number: int, *, with_text: bool) -> ListedOriginal:
        """A stored page.

        Raises:
            KeyError: there is no page of that number.
        """

    def pair_texts(self, number: int) -> tuple[str, str]:
        """The texts of a duplicate's original and of the duplicate itself.

        Raises:
            KeyError: there is no duplicate of that number.
        """

    def near_names(self, limit: int) -> Iterator[PairNames]:
        """The names of near duplicates and their originals, the earliest."""

    def page_names(self, number: int) -> PageNames | None:
        """The names and the text of a stored page; None: there is no such page."""


class ExplainQueries(Protocol):
    """Records by URL and by number.

    Raises:
        KeyError: from a method that takes a number: there is no such record.
    """

    def find(self, urls: Sequence[str]) -> FoundRecord | None:
        """The latest record of one of these URLs, as they were recorded."""

    def find_named(self, name: str) -> FoundRecord | None:
        """The last record of this id; rows of a collection may have no URL."""

    def find_any(self, is_same: IsSameUrl) -> FoundRecord | None:
        """The latest record of a URL for which `is_same` is true. Looks at every record."""

    def stored(self, number: int) -> StoredRecord: ...

    def apart(self, number: int) -> ApartPage | None:
        """Why a page was kept whose text resembles another's; None: it is no such page."""

    def all_apart(self) -> Iterator[ApartPage]:
        """The pages that were kept for what they say beside their texts, in their order."""

    def duplicate(self, number: int) -> DroppedRecord: ...

    def skipped(self, number: int) -> SkippedRecord: ...

    def waiting(self, place: int) -> WaitingRecord: ...

    def alias(self, url: str, is_same: IsSameUrl) -> AliasRecord | None:
        """The alias that `url` is, or that a URL is for which `is_same` is true."""

    def known_urls(self) -> Iterator[str]:
        """All URLs that were seen, and those of the stored pages."""


class ExportQueries(Protocol):
    """Stored and dropped pages by number, ascending, all or a selection of them."""

    def pages(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The unique pages without their bodies, as exported."""

    def page_numbers(self, selection: Selection = EVERYTHING) -> Iterator[int]:
        """The numbers of the unique pages, ascending."""

    def duplicate_rows(self, selection: Selection = EVERYTHING) -> Iterator[DuplicateRow]:
        """The dropped pages by number, ascending."""

    def duplicates(self, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
        """The record of each dropped page, as exported."""

    def count(self, table: str, selection: Selection = EVERYTHING) -> int:
        """Rows of `pages` or `duplicates`."""
