"""Documents with their signatures on the way from one process to another.

A portion is sent as a few large objects: one array of all shingles, and lists of plain values. Sent
one by one, 512 documents would take several times as long to pack and to unpack.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.collection.documents import Read
from dedup.document import Document
from dedup.sites.second_look import Rest
from dedup.store.records import KEPT_FIELDS, Page, kept_fields, text_compressor

_Fields = tuple[tuple[Any, ...], str, int, bytes, bytes | None, dict[str, bytes | None]]
"""A document's `KEPT_FIELDS`, text, size of the text in bytes, compressed text, rare lines, and
signatures."""


@dataclass(frozen=True, slots=True)
class SentDocuments:
    """Documents without their bodies, which are compared by digest and text.

    Attributes:
        fields: of each document.
        shingles: of all, one after the other; of those without signatures, none.
        bounds: where the shingles of each begin, and where the last ones end.
        fetched_at: seconds since 1970, UTC.
    """

    fields: list[_Fields]
    shingles: NDArray[np.uint64]
    bounds: list[int]
    fetched_at: float

    @classmethod
    def pack(cls, documents: Sequence[Document]) -> "SentDocuments":
        known = (document.known_shingles for document in documents)
        parts = [_NONE if shingles is None else shingles for shingles in known]
        compress = text_compressor()
        return cls(
            [_fields(document, compress) for document in documents],
            np.concatenate([_NONE, *parts]),
            np.cumsum([0, *map(len, parts)]).tolist(),
            time.time(),
        )

    def unpack(self) -> list[Page]:
        return [
            self._page(fields, start, stop)
            for fields, (start, stop) in zip(self.fields, pairwise(self.bounds), strict=True)
        ]

    def _page(self, fields: _Fields, start: int, stop: int) -> Page:
        kept, text, size_bytes, packed_text, rest, signatures = fields
        page = Page(
            **dict(zip(KEPT_FIELDS, kept, strict=True)),
            text=text,
            size_bytes=size_bytes,
            rest=None if rest is None else Rest.from_bytes(rest),
            fetched_at=self.fetched_at,
        )
        page.take_packed(packed_text, None)
        if signatures:
            page.take(shingles=self.shingles[start:stop], signatures=signatures)
        return page


_NONE = np.empty(0, np.uint64)


def _fields(document: Document, compress: Callable[[bytes], bytes]) -> _Fields:
    return (
        kept_fields(document),
        document.text,
        len(document.text.encode("utf-8", "replace")),
        compress(document.text.encode("utf-8", "surrogatepass")),
        None if document.rest is None else document.rest.to_bytes(),
        document.signatures,
    )


_Beside = tuple[Any, tuple[Any, ...], frozenset[str], tuple[str, ...]]
"""`Read.id`, `others`, `present` and `names`."""


@dataclass(frozen=True, slots=True)
class SentRows:
    """The documents of a portion's rows, and the rest of each row."""

    rows: list[_Beside | str]
    documents: SentDocuments

    @classmethod
    def pack(cls, found: Sequence[Read | str]) -> "SentRows":
        rows = [each if isinstance(each, str) else each[1:] for each in found]
        documents = [each.document for each in found if isinstance(each, Read)]
        return cls(rows, SentDocuments.pack(documents))

    def unpack(self) -> list[Read | str]:
        pages = iter(self.documents.unpack())
        return [each if isinstance(each, str) else Read(next(pages), *each) for each in self.rows]
