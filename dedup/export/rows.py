"""The rows of exports: pages with the fields that are asked for, duplicates, failed URLs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dedup.errors import DamageError
from dedup.explain.failures import FailedUrl
from dedup.export.preferences import StoredPreferences
from dedup.fields.page_source import PageSource, Reduced
from dedup.fields.registry import reads, values
from dedup.store import JobStore, Page
from dedup.store.export_columns import EXPORTED_FIELDS, STORED_FIELDS
from dedup.store.selection import EVERYTHING, Selection
from dedup.times import iso_time
from dedup.urls.parts import host_of

_Numbered = tuple[int, PageSource]
_STORED = [name for name in STORED_FIELDS if name != "id"]


def page_rows(
    store: JobStore,
    names: Sequence[str] = EXPORTED_FIELDS,
    selection: Selection = EVERYTHING,
    *,
    change: Callable[[PageSource], PageSource] | None = None,
) -> Iterator[dict[str, Any]]:
    """The unique pages, each with these fields of `dedup.fields.registry`, in their order.

    Bodies are read only for fields that need them.

    Args:
        store: of the job.
        names: of the fields.
        selection: of the pages.
        change: what is exported in place of a page, see `WithoutRepeated`.
    """
    needs_bodies = change is not None or reads(names, "markup")
    found = (_with_bodies if needs_bodies else _without_bodies)(store, selection)
    if change is not None:
        found = ((number, change(source)) for number, source in found)
    return _rows(store, names, found)


def page_row(store: JobStore, number: int, names: Sequence[str]) -> dict[str, Any]:
    """One of the unique pages, by its number, with these fields."""
    return next(_rows(store, names, [(number, page_source(store, number))]))


def duplicate_rows(store: JobStore, selection: Selection = EVERYTHING) -> Iterator[dict[str, Any]]:
    """The record of each dropped page."""
    for row in store.exports.duplicates(selection):
        yield {**row, "first_seen": iso_time(row["first_seen"])}


def failed_rows(failed: Iterable[FailedUrl]) -> Iterator[dict[str, Any]]:
    """The failed URLs."""
    for each in failed:
        yield {**each._asdict(), "failed_at": iso_time(each.failed_at)}


def _rows(
    store: JobStore, names: Sequence[str], found: Iterable[_Numbered]
) -> Iterator[dict[str, Any]]:
    if reads(names, "preferences"):
        found = _with_preferences(store, found)
    if reads(names, "rendering"):
        found = _with_rendering(store, found)
    if reads(names, "visits"):
        found = _with_visits(store, found)
    return (values(source, names) for _, source in found)


def _without_bodies(store: JobStore, selection: Selection) -> Iterator[_Numbered]:
    for number, row in store.exports.numbered_pages(selection):
        page = Page(id="", source=row["source"], **{name: row[name] for name in _STORED})
        yield number, PageSource(page, name=row["id"])


def _with_bodies(store: JobStore, selection: Selection) -> Iterator[_Numbered]:
    numbers = store.exports.page_numbers(selection)
    return ((number, page_source(store, number)) for number in numbers)


def _with_preferences(store: JobStore, found: Iterable[_Numbered]) -> Iterator[_Numbered]:
    preferences = StoredPreferences(store)
    for number, source in found:
        stored = store.learned.preferences.of_page(number)
        source.preferences = preferences.of(source.page.url, stored)
        yield number, source


def _with_rendering(store: JobStore, found: Iterable[_Numbered]) -> Iterator[_Numbered]:
    for number, source in found:
        source.how_read = store.learned.rendering.of_page(host_of(source.url), source.url)
        yield number, source


def _with_visits(store: JobStore, found: Iterable[_Numbered]) -> Iterator[_Numbered]:
    changes = store.refreshes.changes
    away = changes.away(changes.until())
    moved_to = changes.moved_to(away)
    for number, source in found:
        if (page := away.get(source.url)) is not None:
            source.gone_at, source.moved_to = page.seen_at, moved_to.get(source.url)
        yield number, source


def page_source(store: JobStore, number: int) -> PageSource:
    """A stored page with its body, or with what was kept in place of that.

    Raises:
        DamageError: this is something else.
    """
    page = store.page(number)
    name = number if page.id == str(number) else page.id
    data = None if page.body is not None else store.exports.reduced(number)
    return PageSource(page, reduced_of(store, number, data), name=name)


def reduced_of(store: JobStore, number: int, data: bytes | None) -> Reduced | None:
    """What was kept in place of a page's body.

    Raises:
        DamageError: it is something else.
    """
    try:
        return None if data is None else Reduced.from_bytes(data)
    except ValueError as error:
        raise DamageError(
            store.location, f"what was kept of the body of page {number} is damaged ({error})"
        ) from error
