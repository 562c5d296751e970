"""Keys of documents, kept with their signatures: see `Document.key`."""

from collections.abc import Mapping, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.detectors.second_check import comparable_text
from dedup.document import Document, Match
from dedup.index.multimap import Multimap
from dedup.store.records import KEY_OFFSET, KEY_STAGE

_INDEXED_BYTES = 4


class KeyRecord:
    """Has the store keep the key of each document among its signatures; finds no duplicates.

    It also knows which document was the first with a text, whatever its key: 8 bytes of memory for
    each document that has a key.
    """

    stage = KEY_STAGE

    def __init__(self) -> None:
        self._index = Multimap()

    @property
    def scheme(self) -> Mapping[str, object]:
        return {}

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        """A digest of the text, 8 bytes, and the key; None: there is no key."""
        if not document.key:
            return None
        return _text_digest(document) + document.key.encode(errors="surrogatepass")

    def may_match(
        self,
        documents: Sequence[Document],
        among: NDArray[np.bool_],  # noqa: ARG002 -- to tell of all costs little
    ) -> NDArray[np.bool_]:
        return np.zeros(len(documents), np.bool_)

    def find(self, document: Document) -> Match | None:  # noqa: ARG002 -- it never does
        return None

    def first_of_text(self, document: Document) -> int | None:
        """The number of the first document that has a key and probably the same text, or None."""
        digest = _text_digest(document)
        numbers, _ = self._index.find(_indexed(digest), at_most=1)
        return int(numbers[0]) if len(numbers) and digest != _NO_TEXT else None

    def add(self, document: Document, number: int) -> None:
        if document.key:
            self._index.add(_indexed(_text_digest(document)), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        digests = b"".join(signature[:_INDEXED_BYTES] for signature in signatures)
        self._index.add_many(np.frombuffer(digests, "<u4"), numbers)


_NO_TEXT = bytes(KEY_OFFSET)


def _text_digest(document: Document) -> bytes:
    if len(document.shingles):  # equal texts have equal shingles
        return xxhash.xxh3_64_digest(document.shingles.tobytes())
    text = comparable_text(document, with_title=False)
    return _NO_TEXT if text is None else xxhash.xxh3_64_digest(text.encode(errors="surrogatepass"))


def _indexed(digest: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(digest, "<u4", count=1)
