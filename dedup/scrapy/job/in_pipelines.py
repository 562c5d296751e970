"""The items that are on their way through the pipelines, each analysed once for all of them.

A pipeline of the project may hand on another object than it was given, of any type. So what is
known of an item does not hang on the object: it follows the item through the pipelines, as Scrapy
runs those of one item in one context (`contextvars`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

from dedup.scrapy.item_fields import ItemFields, get
from dedup.scrapy.job.outcome import FinishedUrl
from dedup.scrapy.reading.page import PageFacts
from dedup.store import Page
from dedup.templates.outline import Outline

_MAX_NOTED = 1_000  # a spider middleware that takes an item out leaves its entry behind


@dataclass(slots=True, eq=False)
class Entry:
    """What is known of an item.

    Attributes:
        objects: what the item was and is, held, so that no identity passes to another object.
        finishes: the URLs that need no fetching any more once the page is recorded.
        revisits: number of the stored page that this is a new version of.
        is_ours: it is of one of the project's own spiders.
        extracted: what was read from its HTML, by field, for what the item itself does not say.
        facts: what its reader found besides its fields.
        place: its place among the pages that waited for their template, if it did.
        outline: what its template may be learned from, if that is not known.
        page: the item as a document; None: it is not a page, or not yet.
        pages_before: pages that the job had admitted when the item was first looked at.
        is_recorded: it is stored, or recorded as a duplicate.
        has_left: it has come to the end of the pipelines, or was dropped.
    """

    objects: list[object] = field(default_factory=list)
    finishes: tuple[FinishedUrl, ...] = ()
    revisits: int | None = None
    is_ours: bool = False
    extracted: Mapping[str, object] = field(default_factory=dict)
    facts: PageFacts | None = None
    place: int | None = None
    outline: Outline | None = None
    page: Page | None = None
    pages_before: int = 0
    is_recorded: bool = False
    has_left: bool = False


_CURRENT: ContextVar[tuple[ItemsInPipelines, Entry] | None] = ContextVar("item", default=None)


class ItemsInPipelines:
    """Entries of items: noted by the spider, arrived at the pipelines, left."""

    def __init__(self) -> None:
        self._noted: OrderedDict[int, Entry] = OrderedDict()
        self._arrived: dict[int, Entry] = {}

    def note(self, item: object) -> Entry:
        """The entry of an item that is not in the pipelines yet."""
        entry = self._noted.get(id(item))
        if entry is None:
            entry = self._noted[id(item)] = Entry([item])
            if len(self._noted) > _MAX_NOTED:
                self._noted.popitem(last=False)
        return entry

    def forget(self, item: object) -> None:
        """Take back that an item is on its way."""
        self._noted.pop(id(item), None)

    def arrive(self, item: object) -> None:
        """Begin to follow an item. Called before any other pipeline sees it."""
        entry = self._noted.pop(id(item), None) or Entry([item])
        self._arrived[id(item)] = entry
        _CURRENT.set((self, entry))

    def entry(self, item: object) -> Entry:
        """The entry of an item in the pipelines, whatever it has become."""
        found = self._arrived.get(id(item))
        owner, current = _CURRENT.get() or (None, None)
        is_followed = owner is self and current is not None and not current.has_left
        # Scrapy 2.13 loses the context behind a pipeline that gives a Deferred; then the object
        # tells. The same object may be two items, if the spider has yielded it twice.
        if is_followed and current is not None:
            if any(each is item for each in current.objects):
                return current
            if found is None:
                current.objects.append(item)
                self._arrived[id(item)] = current
                return current
        if found is None:
            found = self._noted.pop(id(item), None) or Entry([item])
            self._arrived[id(item)] = found
        return found

    def leave(self, item: object) -> Entry:
        """The entry of an item that has come to its end; it is forgotten."""
        entry = self.entry(item)
        entry.has_left = True
        for each in entry.objects:
            if self._arrived.get(id(each)) is entry:
                del self._arrived[id(each)]
        return entry


def page_of_item(
    item: object, fields: ItemFields, extracted: Mapping[str, object] | None = None
) -> Page | None:
    """The item as a document; None: it has no text, and none was extracted."""
    extracted = extracted or {}
    text = fields.text_of(item)
    if text is None:
        found = extracted.get("text")
        text = found if isinstance(found, str) else None
    if text is None:
        return None

    def word(name: str) -> str:
        value = get(item, name) or extracted.get(name)
        return value if isinstance(value, str) else ""

    def whole(name: str) -> int | None:
        value = get(item, name)
        return value if isinstance(value, int) else None

    body = get(item, "body")
    body = body if isinstance(body, bytes) else None
    return Page(
        id="",
        text=text,
        url=fields.url_of(item),
        title=word("title"),
        body=body,
        key=fields.key_of(item),
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
    )


def _seconds(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
