"""The items that are on their way through the pipelines, each analysed once for all of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from itemadapter import ItemAdapter

from dedup.scrapy.reading.page import Known
from dedup.store import Page
from dedup.templates.outline import Outline

_MAX_ITEMS = 1_000  # a pipeline that hands on another object leaves the first one's entry behind


@dataclass(slots=True)
class Entry:
    """What is known of an item.

    Attributes:
        item: held, so that its identity cannot pass to another object.
        known: what its reader knows of it besides its fields.
        place: its place among the pages that waited for their template, if it did.
        outline: what its template may be learned from, if that is not known.
        page: the item as a document; None: it is not a page, or not yet.
        pages_before: pages that the job had admitted when the item was first looked at.
        is_recorded: it is stored, or recorded as a duplicate.
    """

    item: Any
    known: Known | None = None
    place: int | None = None
    outline: Outline | None = None
    page: Page | None = None
    pages_before: int = 0
    is_recorded: bool = False


class ItemsInPipelines:
    """Entries by the item's identity; the oldest are forgotten beyond 1,000."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, Entry] = OrderedDict()

    def entry(self, item: Any) -> Entry:
        entry = self._entries.get(id(item))
        if entry is None:
            entry = self._entries[id(item)] = Entry(item)
            if len(self._entries) > _MAX_ITEMS:
                self._entries.popitem(last=False)
        return entry

    def forget(self, item: Any) -> Entry:
        """Take the item's entry out and return it."""
        return self._entries.pop(id(item), None) or Entry(item)


def as_page(item: Any) -> Page | None:
    """The item as a document; None: it has no `text`."""
    adapter = ItemAdapter(item)
    text, body = adapter.get("text"), adapter.get("body")
    if not isinstance(text, str):
        return None
    body = body if isinstance(body, bytes) else None
    return Page(
        id="",
        text=text,
        url=adapter.get("url"),
        title=adapter.get("title") or "",
        body=body,
        language=adapter.get("language") or "",
        canonical_url=adapter.get("canonical_url"),
        status=adapter.get("status"),
        content_type=adapter.get("content_type") or "",
        encoding=adapter.get("encoding") or "",
        fetched_at=adapter.get("fetched_at") or time.time(),
        etag=adapter.get("etag"),
        last_modified=adapter.get("last_modified"),
        depth=_depth(adapter.get("depth")),
        size_bytes=len(body) if body is not None else len(text.encode("utf-8", "replace")),
    )


def _depth(value: Any) -> int:
    return value if isinstance(value, int) else 0
