"""Documents with their signatures on the way from one process to another.

A portion is sent as a few large objects: one array of all shingles, and lists of plain values. Sent
one by one, 512 documents would take several times as long to pack and to unpack.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch, Signatures
from dedup.collection.documents import Held, NoText, Read
from dedup.document import Document
from dedup.sites.second_look import Rest
from dedup.store.records import KEPT_FIELDS, Page, kept_fields, text_compressor, with_kept

_Fields = tuple[tuple[Any, ...], str, bytes | None, bytes | None]
"""A document's `KEPT_FIELDS`, text, compressed text, and rare lines."""


class ReadRows(NamedTuple):
    """What rows say.

    Attributes:
        rows: of each row its document, or why it is none.
        batch: of the documents that are to be judged.
    """

    rows: Sequence[Read | Held | NoText | str]
    batch: Batch


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A batch without bodies, which are compared by digest and text.

    Attributes:
        fields: of each document.
        shingles: of all, one after the other.
        bounds: where the shingles of each begin, and where the last ones end.
        signatures: see `Batch`.
        fetched_at: seconds since 1970, UTC.
    """

    fields: list[_Fields]
    shingles: NDArray[np.uint64]
    bounds: list[int]
    signatures: dict[str, Signatures]
    fetched_at: float

    @classmethod
    def pack(cls, batch: Batch, *, packs_texts: bool) -> "SentBatch":
        parts = [document.shingles for document in batch.documents]
        compress = text_compressor() if packs_texts else None
        return cls(
            [_fields(document, compress) for document in batch.documents],
            np.concatenate([np.empty(0, np.uint64), *parts]),
            np.cumsum([0, *map(len, parts)]).tolist(),
            batch.computed,
            time.time(),
        )

    def unpack(self) -> Batch:
        bounds = pairwise(self.bounds)
        documents = []
        for fields, (start, stop) in zip(self.fields, bounds, strict=True):
            document = self._document(*fields)
            document.take(shingles=self.shingles[start:stop])
            documents.append(document)
        return Batch(documents, self.signatures)

    def _document(
        self, kept: tuple[Any, ...], text: str, packed_text: bytes | None, rest: bytes | None
    ) -> Document:
        lines = None if rest is None else Rest.from_bytes(rest)
        if packed_text is None:
            return with_kept(kept, text, lines)
        page = Page(
            **dict(zip(KEPT_FIELDS, kept, strict=True)),
            text=text,
            size_bytes=len(text.encode("utf-8", "replace")),
            rest=lines,
            fetched_at=self.fetched_at,
        )
        page.take_packed(packed_text, None)
        return page


def _fields(document: Document, compress: Callable[[bytes], bytes] | None) -> _Fields:
    return (
        kept_fields(document),
        document.text,
        None if compress is None else compress(document.text.encode("utf-8", "surrogatepass")),
        None if document.rest is None else document.rest.to_bytes(),
    )


_Beside = tuple[Any, tuple[Any, ...], frozenset[str], tuple[str, ...]]
"""`Read.id`, `others`, `present` and `names`."""


@dataclass(frozen=True, slots=True)
class SentRows:
    """The documents of a portion's rows, and the rest of each row.

    Attributes:
        rows: of each row the rest, or why it is no document; whole where it is not judged.
        known: the first documents, which were judged before and are not in the batch.
        batch: the others.
    """

    rows: list[_Beside | Held | NoText | str]
    known: list[_Fields]
    batch: SentBatch

    @classmethod
    def pack(cls, found: ReadRows, *, packs_texts: bool) -> "SentRows":
        rows = [each[1:] if isinstance(each, Read) else each for each in found.rows]
        documents = [each.document for each in found.rows if isinstance(each, Read)]
        n_known = len(documents) - len(found.batch)
        known = [_fields(document, None) for document in documents[:n_known]]
        return cls(rows, known, SentBatch.pack(found.batch, packs_texts=packs_texts))

    def unpack(self) -> ReadRows:
        batch = self.batch.unpack()
        known = (with_kept(kept, text, None) for kept, text, _, _ in self.known)
        documents = chain(known, batch.documents)
        rows = [
            each if isinstance(each, Held | NoText | str) else Read(next(documents), *each)
            for each in self.rows
        ]
        return ReadRows(rows, batch)
