"""The records that every store keeps: pages, queued URLs, and pages to learn from."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from threading import local
from typing import Any, NamedTuple, TypeVar

import zstandard

from dedup.document import Document
from dedup.sites.outline import Outline
from dedup.sites.rest import Rest
from dedup.sites.site import name_key

_Text = TypeVar("_Text", str, str | None)

QUEUED, DONE, HELD, TOO_DEEP = 0, 1, 2, 3
"""States of a URL: to be fetched; recorded; to be fetched by the process that holds its request,
which cannot be stored; or left out by `DEPTH_LIMIT`, which is as if it had not been seen. One that
is in flight is queued here: what is in flight when a process dies is queued again by that alone."""

VISIT_RESULTS = ("unchanged", "changed", "gone", "moved", "failed")
"""What a refresh may find of a stored page."""

DUPLICATE_LINK_RANK, DUPLICATE_LINK_END = 4_000_000, 5_000_000
"""From the first rank on requests are put off; up to the second if they were found on duplicates
alone: the rank that they have otherwise is added. From the second on, jobs of earlier releases may
have URLs that a learned rule had put off: these are fetched last."""

DUPLICATE_LINK = "duplicate_link"
"""Why such a link was not fetched, where it is not to be."""

TRAP_RANK = 10_000_000
"""From this rank on requests are put off that look like a trap."""

_ZSTD_LEVEL = 1
"""Two thirds of the time of level 3, for 4% more room."""

_OF_THREAD = local()


@dataclass(frozen=True, eq=False)
class Page(Document):
    """A fetched page: a document with what its response said of it.

    Attributes:
        fetched_at: seconds since 1970, UTC.
        size_bytes: of the body after decompression.
        depth: links from the start of the crawl.
        site_version: of what was known of its host; None: nothing was.
    """

    language: str = ""
    canonical_url: str | None = None
    status: int | None = None
    content_type: str = ""
    encoding: str = ""
    fetched_at: float = 0.0
    size_bytes: int = 0
    depth: int = 0
    etag: str | None = None
    last_modified: str | None = None
    site_version: int | None = None

    def take_packed(self, text: bytes, body: bytes | None) -> None:
        """Take text and body as they are stored, so that they are not compressed again."""
        self.__dict__.update(packed_text=text, packed_body=body)  # where `cached_property` looks

    @cached_property
    def packed_text(self) -> bytes:
        """The text as it is stored."""
        return compressed(_encode(self.text))

    @cached_property
    def packed_body(self) -> bytes | None:
        """The body as it is stored."""
        return None if self.body is None else compressed(self.body)


class QueuedUrl(NamedTuple):
    """A row of the queue. Rows compare in the order in which they are to be fetched."""

    rank: int
    id: int
    key: bytes
    url: str
    depth: int
    request: bytes | None


class NewUrl(NamedTuple):
    """A URL that is to be queued; where it `is_again`, one that is known, in another place."""

    key: bytes
    url: str
    depth: int
    request: bytes | None
    slot: str
    rank: int
    is_again: bool = False


class KnownUrl(NamedTuple):
    """A URL that was seen; its state is `QUEUED`, `DONE`, `HELD` or `TOO_DEEP`."""

    state: int
    url: str


@dataclass(frozen=True)
class Outlined:
    """A page to learn from.

    Attributes:
        key: its place among those that wait, or its number.
    """

    key: int
    title: str
    url: str | None
    outline: Outline

    @cached_property
    def name(self) -> int:
        """See `name_key`."""
        return name_key(self.outline, self.title, self.url or "")


KEY_STAGE = "key"
"""Under which a document's key is kept among its signatures."""

KEY_OFFSET = 8
"""Where in that signature the key begins, after a digest of the text."""

PAGE_FIELDS = tuple(
    field.name
    for field in fields(Page)
    if field.name not in ("id", "text", "body", "key", "rest", "signatures")
)
"""The fields of a stored page that are kept as they are. Besides these a store keeps its number,
its name, its host, and, compressed, its text and its body."""


DROPPED_FIELDS = (
    *("url", "title", "fetched_at", "size_bytes", "heading", "own_title", "source", "site_version"),
)
"""The `PAGE_FIELDS` that are kept of a dropped page."""

KEPT_FIELDS = ("id", "url", "title", "heading", "own_title", "source", "key")
"""The fields of a document that every store keeps, besides its text and what is rare on it."""

kept_fields = attrgetter(*KEPT_FIELDS)


def with_kept(fields: Iterable[Any], text: str, rest: Rest | None) -> Document:
    """The document of these `KEPT_FIELDS`."""
    return Document(text=text, rest=rest, **dict(zip(KEPT_FIELDS, fields, strict=True)))


def as_kept(document: Document, number: int, clean: Callable[[Any], Any]) -> Document:
    """A document that has just been stored, as its store gives it back.

    Args:
        document: without what has been computed of it.
        number: that it has got.
        clean: replaces what the store cannot keep of a text: `storable`.
    """
    name, *texts, source, key = kept_fields(document)
    rest = None if document.rest is None else document.rest.kept()
    fields = name or str(number), *map(clean, texts), source, key
    return with_kept(fields, document.text, rest)


def as_page(document: Document) -> Page:
    if isinstance(document, Page):
        return document
    return Page(
        **dict(zip(KEPT_FIELDS, kept_fields(document), strict=True)),
        text=document.text,
        body=document.body,
        rest=document.rest,
        fetched_at=time.time(),
        size_bytes=len(document.text.encode("utf-8", "replace")),
    )


def key_in(signature: bytes | None) -> str:
    """The key of a document, from its signature; "" if it has none."""
    return "" if signature is None else bytes(signature)[KEY_OFFSET:].decode(errors="surrogatepass")


def compressed(data: bytes) -> bytes:
    """As the store keeps what is large."""
    compress: Callable[[bytes], bytes] | None = getattr(_OF_THREAD, "compress", None)
    if compress is None:
        compress = _OF_THREAD.compress = text_compressor()
    return compress(data)


def text_compressor() -> Callable[[bytes], bytes]:
    """What compresses as the store does; to make one takes 10 µs. Not for several threads."""
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True).compress


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def storable_fields(page: Page) -> dict[str, object]:
    """The `PAGE_FIELDS` of a page by name, as databases take them."""
    values = ((name, getattr(page, name)) for name in PAGE_FIELDS)
    return {name: storable(value) if isinstance(value, str) else value for name, value in values}


def storable(text: _Text) -> _Text:
    """The text with lone surrogates, which databases refuse, replaced by question marks."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()
