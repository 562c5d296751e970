"""What the project's spiders yield."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import Any

from dedup.times import iso_time


class _Known:
    """Refers to what a job knows of the item; not by a field, so no export contains it."""

    __slots__ = ("_entry",)

    def known_as(self, entry: Any) -> Any:
        """Refer to another entry, once the item has arrived to none; return the one before."""
        before = getattr(self, "_entry", None)
        self._entry = entry
        return before


@dataclass(slots=True)
class PageItem(_Known):
    """A fetched HTML page.

    Attributes:
        id: number of the page in the job's store; None until it is stored.
        fetched_at: seconds since 1970, UTC; in feeds, ISO 8601.
        body: as received, after decompression; not part of feeds.
        etag, last_modified: the headers by which the server identifies versions of the page.
    """

    url: str
    text: str
    title: str = ""
    language: str = ""
    canonical_url: str | None = None
    status: int = 200
    content_type: str = ""
    encoding: str = ""
    fetched_at: float = field(default=0.0, metadata={"serializer": iso_time})
    depth: int = 0
    id: int | None = None
    body: bytes = field(default=b"", repr=False)
    etag: str | None = field(default=None, repr=False)
    last_modified: str | None = field(default=None, repr=False)


@cache
def page_item_class(names: tuple[str, ...]) -> type[PageItem]:
    """The class of items that also have these fields, None at first."""
    own = {each.name for each in fields(PageItem)}
    added = [(name, object, field(default=None)) for name in names if name not in own]
    if not added:
        return PageItem
    return make_dataclass("PageItem", added, bases=(PageItem,), slots=True)
