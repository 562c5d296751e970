"""A stored page, and what its fields are computed from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from dedup.documents.formats import format_of
from dedup.fields.dates import Dates, dates_of
from dedup.fields.declared import Declared, read_declared
from dedup.fields.documents import (
    declared_by_document,
    document_author,
    document_dates,
    document_markup,
    document_pages,
)
from dedup.fields.own_markup import own_markup
from dedup.fields.people import author_of
from dedup.html import Bounded, bounded, decode
from dedup.html.unfolding import page_outline
from dedup.preferences.declarations import Declaration
from dedup.rendering.record import HowRead
from dedup.sites.outline import Outline
from dedup.store.records import Page


@dataclass(frozen=True)
class Reduced:
    """Kept of a page without its body: what it declares, and the markup of its own text.

    Attributes:
        is_whole: is it the markup of all its text, as it is not yet known which is its own?
    """

    declared: Declared
    markup: str
    is_whole: bool = False

    def to_bytes(self) -> bytes:
        value = {
            "declared": self.declared.to_json(),
            "markup": self.markup,
            "is_whole": self.is_whole,
        }
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, data: bytes) -> Reduced:
        """The value that `to_bytes` gave.

        Raises:
            ValueError: the data is something else.
        """
        value: Any = json.loads(data)
        try:
            declared = Declared.from_json(value["declared"])
            return cls(declared, str(value["markup"]), bool(value["is_whole"]))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"no reduced page ({error!r})") from error


class PageSource:
    """A stored page with its parts, which are computed when they are asked for.

    Args:
        page: with its body, if that was kept.
        reduced: what was kept in place of the body; None: nothing.
        name: the id as it is exported: the caller's, or else the page's number.
        preferences: what is declared of its use, by the page and by its host.

    Attributes:
        how_read: was it rendered, and why? None: pages were not rendered then.
        gone_at: when a refresh first saw that it is gone, or has moved; None: it is there.
        moved_to: where it is now; None: it is there, or gone.
    """

    def __init__(
        self,
        page: Page,
        reduced: Reduced | None = None,
        *,
        name: str | int | None = None,
        preferences: Sequence[Declaration] = (),
    ) -> None:
        self.page = page
        self.id = page.id if name is None else name
        self._reduced = reduced
        self.preferences = preferences
        self.how_read: HowRead | None = None
        self.gone_at: float | None = None
        self.moved_to: str | None = None

    @property
    def text(self) -> str:
        return self.page.text

    @property
    def url(self) -> str:
        return self.page.url or ""

    @property
    def encoding(self) -> str:
        """That of the page's bytes."""
        return self.page.encoding or "utf-8"

    def with_text(self, text: str) -> PageSource:
        """The same page with some lines of its text: its fields are those of these lines."""
        reduced = self._reduced and replace(self._reduced, is_whole=True)
        source = PageSource(
            replace(self.page, text=text), reduced, name=self.id, preferences=self.preferences
        )
        source.how_read = self.how_read
        return source

    @property
    def outline(self) -> Outline | None:
        """The lines of the page, or of what was kept of it; None: neither is known."""
        page = self.html if self._reduced is None else bounded(self._reduced.markup)
        return None if page is None else page_outline(page)

    @cached_property
    def is_document(self) -> bool:
        """Is it a document that is not HTML?"""
        body = self.page.body
        return self.page.source == "document" or bool(body and format_of(body))

    @cached_property
    def html(self) -> Bounded | None:
        """The page's HTML; None: its body was not kept, or it is a document."""
        page = self.page
        if not page.body or self.is_document:
            return None
        encoding = page.encoding or None
        return bounded(decode(page.body, page.content_type or None, host_encoding=encoding).text)

    @cached_property
    def declared(self) -> Declared:
        """What the page declares about itself; nothing, if that is not known."""
        if self._reduced is not None:
            return self._reduced.declared
        if self.is_document and self.page.body:
            return declared_by_document(self.page.body, self.url)
        if self.html is None:
            return Declared(base_url=self.url)
        return read_declared(self.html, self.url, encoding=self.encoding)

    @cached_property
    def markup(self) -> str | None:
        """The markup of the page's own text; None: it is not known."""
        if self.is_document:
            return document_markup(self.text, self.page.heading)
        if self._reduced is not None:
            kept = self._reduced.markup
            return own_markup(bounded(kept), self.text) if self._reduced.is_whole else kept
        return None if self.html is None else own_markup(self.html, self.text)

    @property
    def base_url(self) -> str:
        """What links are relative to."""
        return self.declared.base_url

    @cached_property
    def dates(self) -> Dates:
        at = self.page.fetched_at
        day = datetime.fromtimestamp(at, UTC).date() if at else None
        if self.is_document:
            return document_dates(self.declared, day)
        return dates_of(self.declared, self.url, day)

    @property
    def author(self) -> str | None:
        if self.is_document:
            return document_author(self.declared)
        return author_of(self.declared, self.url)

    @property
    def n_pages(self) -> int | None:
        """The number of a document's pages; None: it is not known, or it is no document."""
        return document_pages(self.declared) if self.is_document else None


def reduced(page: Page, *, is_final: bool) -> Reduced | None:
    """What to keep in place of a page's body; None: it has none.

    Args:
        page: with its body.
        is_final: may its text not change any more?
    """
    source = PageSource(page)
    if source.is_document and page.body:
        return Reduced(source.declared, "")
    if source.html is None:
        return None
    whole = None if is_final else page_outline(source.html)
    if whole is None:
        return Reduced(source.declared, source.markup or "")
    text = "\n".join(line.text for line in whole.lines)
    return Reduced(source.declared, own_markup(source.html, text), is_whole=True)
