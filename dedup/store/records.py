"""The records that every store keeps: pages, queued URLs, and pages to learn from."""

import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter
from threading import local
from typing import Any, NamedTuple, TypeVar

import zstandard

from dedup.document import Document
from dedup.sites.lines import PageLines
from dedup.sites.outline import Outline
from dedup.sites.second_look import Rest
from dedup.sites.site import PageText, name_key
from dedup.store.exchange import with_exchange

_Text = TypeVar("_Text", str, str | None)

QUEUED, DONE, HELD, TOO_DEEP = 0, 1, 2, 3
"""States of a URL: to be fetched; recorded; to be fetched by the process that holds its request,
which cannot be stored; or excluded by `DEPTH_LIMIT`, which does not count as seen. A URL in flight
stays queued, so it is fetched again if the process dies."""

VISIT_RESULTS = (
    *("unchanged", "changed", "template", "back"),
    *("missing", "gone", "moved", "failed"),
)
"""What a refresh may find about a stored page. `template`: a new version that differs in nothing
but what many pages of its host changed; `missing`: answered 404, which `gone` needs twice; `back`:
it was gone or moved. `failed` and `gone` may be followed by a colon and the reason; `failed`: the
page was not seen."""

DUPLICATE_LINK_RANK, DUPLICATE_LINK_END = 4_000_000, 5_000_000
"""Requests are deferred from the first rank on. Up to the second, they were found only on
duplicates: the first is added to their usual rank. From the second on, jobs of earlier releases may
have URLs that a learned rule deferred: these are fetched last."""

DUPLICATE_LINK = "duplicate_link"
"""The reason recorded for such a link if it is not fetched."""

EARLIER = "earlier_crawl"
"""The reason recorded for a page that is dropped for one of an earlier crawl."""

TRAP_RANK = 10_000_000
"""From this rank on, requests are deferred because they look like a trap."""

REDUCED = bytes.fromhex("502a4d1800000000")
"""Where a body would stand, marks what is kept in its place, which follows. It is a frame that
decompressors skip, and a body never begins so."""

HAS_REDUCED = "has reduced"
"""The value of a job's `meta` that tells that there are such."""


def is_reduced(value: object) -> bool:
    """Stands this in place of a body? Damage may have made the column anything."""
    return isinstance(value, bytes) and value.startswith(REDUCED)


_ZSTD_LEVEL = 1
"""Takes two thirds of the time of level 3, for 4% more space."""

_OF_THREAD = local()


class Claims(NamedTuple):
    """What a page says of where its text is from, see `dedup.groups`.

    Attributes:
        published: ISO 8601, a date or a time.
        sources: URLs on other hosts that its text names as its source.
    """

    published: str | None = None
    canonical_url: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Page(Document):
    """A fetched page: a document with data of its response.

    Attributes:
        fetched_at: seconds since 1970, UTC.
        size_bytes: of the body after decompression.
        depth: links from the start of the crawl.
        site_version: of the knowledge about its host; None: nothing was known.
        reduced: what is stored if bodies are not, see `dedup.fields.page_source`.
        exchange: the headers of request and response, see `Exchange.pack`; None: they were not
            kept.
        preferences: what it declares of its use, see `dedup.preferences`; None: it is not known.
        claims: of a page that is dropped, what it says of where it is from; None: it is not known.
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
    reduced: bytes | None = field(default=None, repr=False)
    exchange: bytes | None = field(default=None, repr=False)
    preferences: str | None = field(default=None, repr=False)
    claims: Claims | None = field(default=None, repr=False)

    def take_packed(self, text: bytes, body: bytes | None) -> None:
        """Take compressed text and body as stored, so that they are not compressed again."""
        self.__dict__.update(packed_text=text, packed_body=body)  # where `cached_property` looks

    @property
    def body_column(self) -> bytes | None:
        """The body as stored, with the headers that came with it."""
        packed = self.packed_body
        return None if packed is None else with_exchange(packed, self.exchange)

    def take_reduced(self, reduced: bytes | None) -> None:
        """Take what is stored in place of the body; computed features stay."""
        self.__dict__["reduced"] = reduced

    def take_claims(self, claims: Claims) -> None:
        """Take what is recorded if the page is dropped; computed features stay."""
        self.__dict__["claims"] = claims

    @cached_property
    def packed_text(self) -> bytes:
        """The text as stored."""
        return compressed(_encode(self.text))

    @cached_property
    def packed_body(self) -> bytes | None:
        """The body as stored."""
        return None if self.body is None else compressed(self.body)


def with_text(page: Page, found: PageText) -> Page:
    """Return the page with a text that was read from it."""
    version, rest = found.site_version or None, found.rest
    if _read_text(page) == (found.text, found.heading, found.title, found.source):
        same = copy(page)  # with what has been computed of the text
        vars(same).update(site_version=version, rest=rest)
        return same
    return replace(
        page,
        text=found.text,
        heading=found.heading,
        own_title=found.title,
        source=found.source,
        site_version=version,
        rest=rest,
    )


_read_text = attrgetter("text", "heading", "own_title", "source")


class QueuedUrl(NamedTuple):
    """A row of the queue. Rows sort in the order of fetching."""

    rank: int
    id: int
    key: bytes
    url: str
    depth: int
    request: bytes | None


class NewUrl(NamedTuple):
    """A URL to queue; if `is_again`, a known one to move to another place in the queue."""

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
        key: its place among waiting pages, or its number.
    """

    key: int
    title: str
    url: str | None
    outline: Outline

    @cached_property
    def name(self) -> int:
        """See `name_key`."""
        return name_key(self.outline, self.title, self.url or "")

    @cached_property
    def lines(self) -> PageLines:
        """The lines of the outline: some pages are read with several versions of what is known."""
        return PageLines(self.outline)


KEY_STAGE = "key"
"""The stage under which a document's key is stored among its signatures."""

KEY_OFFSET = 8
"""Where the key begins in that signature, after a digest of the text."""

_STORED_APART = (
    *("id", "text", "body", "exchange", "key", "preferences", "reduced", "rest", "signatures"),
    "claims",
)
PAGE_FIELDS = tuple(each.name for each in fields(Page) if each.name not in _STORED_APART)
"""The fields of a stored page that are stored unchanged. A store also keeps its number, name and
host, its text and body, compressed, and what it declares of its use."""


DROPPED_FIELDS = (
    *("url", "title", "fetched_at", "size_bytes", "heading", "own_title", "source", "site_version"),
)
"""The `PAGE_FIELDS` that are stored of a dropped page."""

KEPT_FIELDS = ("id", "url", "title", "heading", "own_title", "source", "key")
"""The fields of a document that every store keeps, in addition to its text and rare shingles."""

kept_fields = attrgetter(*KEPT_FIELDS)


def with_kept(fields: Iterable[Any], text: str, rest: Rest | None) -> Document:
    """The document with these `KEPT_FIELDS`."""
    name, url, title, heading, own_title, source, key = fields
    return Document.of_fields(
        id=name,
        text=text,
        url=url,
        title=title,
        heading=heading,
        own_title=own_title,
        source=source,
        key=key,
        rest=rest,
    )


def as_kept(document: Document, number: int, clean: Callable[[Any], Any]) -> Document:
    """A document that has just been stored, as its store returns it.

    Args:
        document: its computed features are left out.
        number: its number in the store.
        clean: replaces characters that the store cannot keep: `storable`.
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
    """The key of a document, taken from its signature; "" if it has none."""
    return "" if signature is None else bytes(signature)[KEY_OFFSET:].decode(errors="surrogatepass")


def compressed(data: bytes) -> bytes:
    """The data as the store keeps large values."""
    compress: Callable[[bytes], bytes] | None = getattr(_OF_THREAD, "compress", None)
    if compress is None:
        compress = _OF_THREAD.compress = text_compressor()
    return compress(data)


def text_compressor() -> Callable[[bytes], bytes]:
    """Compresses as the store does; takes 10 µs to create. Not thread-safe."""
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=True).compress


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def storable_fields(page: Page, names: Sequence[str] = PAGE_FIELDS) -> dict[str, object]:
    """These fields of a page by name, as databases accept them."""
    values = [(name, getattr(page, name)) for name in names]
    return {name: storable(value) if isinstance(value, str) else value for name, value in values}


def storable(text: _Text) -> _Text:
    """The text with lone surrogates, which databases refuse, replaced by question marks."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()
