"""What the project's spiders yield."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
        fetched_at: seconds since 1970, UTC.
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
    fetched_at: float = 0.0
    depth: int = 0
    id: int | None = None
    body: bytes = field(default=b"", repr=False)
    etag: str | None = field(default=None, repr=False)
    last_modified: str | None = field(default=None, repr=False)
