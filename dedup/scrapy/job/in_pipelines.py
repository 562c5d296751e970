"""The items in the pipelines; each is analysed once for all pipelines of this package.

A pipeline of the project may return another object than it was given, of any type. So what is known
of an item is kept in the context (`contextvars`) in which Scrapy runs all pipelines for the item,
not at the object.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace

from dedup.scrapy.item_fields import ItemFields, get
from dedup.scrapy.items import PageItem
from dedup.scrapy.job.outcome import FinishedUrl
from dedup.sites.outline import Outline
from dedup.store import Page

_MAX_WHOLE = 2**31
"""What an INTEGER of PostgreSQL holds; greater numbers are no status and no depth."""

_YEAR_10000 = 253_402_300_800
"""In seconds since 1970; a later value is not the time of a fetch."""


_ITEM_FIELDS = tuple(field.name for field in fields(PageItem) if field.name not in ("id", "body"))


@dataclass(slots=True, eq=False, kw_only=True)
class Entry:
    """What is known of an item.

    Attributes:
        objects: all objects that the item has been. They are kept, so that `id` stays unique.
        read: the page, as it was read; None: it was not read here.
        finishes: the URLs that need no fetching any more when the page is recorded.
        revisits: number of the stored page of which this is a new version.
        extracted: values that were read from the HTML of another project's item, by field; for
            fields that the item lacks.
        place: its number among the pages that wait; None: it did not wait.
        outline: from which it is read again once more is known of its site.
        page: the item as a document; None: it is not a page, or not analysed yet.
        pages_before: number of pages that were stored in this run when the item was analysed.
        is_unreadable: has it fields that cannot be compared?
        is_recorded: is it stored, or recorded as a duplicate?
        has_left: has it passed all pipelines, or been dropped?
    """

    objects: list[object] = field(default_factory=list)
    read: Page | None = None
    finishes: tuple[FinishedUrl, ...] = ()
    revisits: int | None = None
    extracted: Mapping[str, object] = field(default_factory=dict)
    place: int | None = None
    outline: Outline | None = None
    page: Page | None = None
    pages_before: int = 0
    is_unreadable: bool = False
    is_recorded: bool = False
    has_left: bool = False

    @property
    def is_ours(self) -> bool:
        """Does the item come from one of the project's own spiders?"""
        return self.read is not None and not self.extracted


_CURRENT: ContextVar[tuple[ItemsInPipelines, Entry] | None] = ContextVar("item", default=None)


class ItemsInPipelines:
    """The entries of the items that are in the pipelines."""

    def __init__(self) -> None:
        self._arrived: dict[int, Entry] = {}

    def arrive(self, item: object) -> Entry:
        """Note that an item arrives at the pipelines; called before all other pipelines."""
        entry = (isinstance(item, PageItem) and item.known_as(None)) or Entry()
        entry.objects.append(item)
        self._arrived[id(item)] = entry
        _CURRENT.set((self, entry))
        return entry

    def entry(self, item: object) -> Entry:
        """The entry of an item in the pipelines, also if pipelines have replaced the object."""
        found = self._arrived.get(id(item))
        owner, current = _CURRENT.get() or (None, None)
        is_followed = owner is self and current is not None and not current.has_left
        # Scrapy 2.13 loses the context after a pipeline that returns a Deferred; the object then
        # identifies the item. A spider may yield the same object twice, as two items.
        if is_followed and current is not None:
            if any(each is item for each in current.objects):
                return current
            if found is None:
                current.objects.append(item)
                self._arrived[id(item)] = current
                return current
        return self.arrive(item) if found is None else found

    def leave(self, item: object) -> Entry:
        """Remove and return the entry of an item that leaves the pipelines."""
        entry = self.entry(item)
        entry.has_left = True
        for each in entry.objects:
            if self._arrived.get(id(each)) is entry:
                del self._arrived[id(each)]
        return entry


def item_of(page: Page, kind: type[PageItem] = PageItem) -> PageItem:
    """The item of a page that was read."""
    found = {name: getattr(page, name) for name in _ITEM_FIELDS}
    return kind(**{**found, "url": page.url or "", "body": page.body or b""})


def page_of_item(item: object, names: ItemFields, entry: Entry) -> Page | None:
    """The item as a document without a key; None: it has no text, and none was extracted.

    If a pipeline has changed the text, what else was read from the page no longer applies.
    """
    read, extracted = entry.read, entry.extracted
    if read is not None and isinstance(item, PageItem) and _is_unchanged(item, read):
        return read
    text = names.text_of(item)
    if not (text or "").strip():
        found = extracted.get("text")
        text = found if isinstance(found, str) else text
    if text is None:
        return None

    def word(name: str) -> str:
        value = get(item, name) or extracted.get(name)
        return value if isinstance(value, str) else ""

    def whole(name: str) -> int | None:
        value = get(item, name)
        return value if isinstance(value, int) and abs(value) < _MAX_WHOLE else None

    body = get(item, "body")
    body = body if isinstance(body, bytes) else None
    page = Page(
        id="",
        text=text,
        url=names.url_of(item),
        title="" if "title" in names.ignored else word("title"),
        body=body,
        language=word("language"),
        canonical_url=word("canonical_url") or None,
        status=whole("status"),
        content_type=word("content_type"),
        encoding=word("encoding"),
        fetched_at=_seconds(get(item, "fetched_at")) or time.time(),
        etag=word("etag") or None,
        last_modified=word("last_modified") or None,
        depth=whole("depth") or 0,
        size_bytes=len(body) if body is not None else len(text.encode("utf-8", "replace")),
        exchange=read.exchange if read is not None and body is read.body else None,
        preferences=None if read is None else read.preferences,
    )
    if read is None or text is not read.text:
        return page
    return replace(
        page,
        heading=read.heading,
        own_title=read.own_title if page.title is read.title else None,
        source=read.source,
        site_version=read.site_version,
        rest=read.rest,
    )


def _is_unchanged(item: PageItem, read: Page) -> bool:
    """Has an item the values of the page that it was made of?"""
    is_body = item.body is read.body or (not item.body and read.body is None)
    return is_body and all(getattr(item, name) is getattr(read, name) for name in _ITEM_FIELDS)


def _seconds(value: object) -> float | None:
    return value if isinstance(value, int | float) and 0 <= value < _YEAR_10000 else None
