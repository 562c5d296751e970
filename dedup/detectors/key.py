"""Keys of documents, for the other detectors: see `Document.key`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document, Match

_Document = TypeVar("_Document", bound=Document)


class KeyRecord:
    """Has the store keep the key of each document among its signatures; finds nothing itself.

    Args:
        fields: what the keys are made of; a store of other fields is refused.
    """

    stage = "key"

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = list(fields)
        self._keys: dict[int, str] = {}

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"fields": self._fields}

    @property
    def size_bytes(self) -> int:
        """An estimate, from above."""
        return 200 * len(self._keys)

    def signature(self, document: Document) -> bytes | None:
        return document.key.encode() or None

    def may_match(
        self,
        documents: Sequence[Document],
        among: NDArray[np.bool_],  # noqa: ARG002 -- to tell of all costs little
    ) -> NDArray[np.bool_]:
        return np.zeros(len(documents), np.bool_)

    def find(self, document: Document) -> Match | None:  # noqa: ARG002 -- it never does
        return None

    def add(self, document: Document, number: int) -> None:
        if document.key:
            self._keys[number] = document.key

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        keys = (signature.decode() for signature in signatures)
        self._keys.update(zip(numbers.tolist(), keys, strict=True))

    def give(self, number: int, document: _Document) -> _Document:
        """The document with its key."""
        return replace(document, key=self._keys[number]) if number in self._keys else document
