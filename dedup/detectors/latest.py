"""One computation for `find`, `signature` and `add` of the same document."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document

T = TypeVar("T")


class Latest(Generic[T]):
    """A function of a document that remembers its latest result, or those of a batch.

    Where the document comes with its signature, the result is read from that.

    Args:
        function: computes the result.
        stage: under which name documents have the signature.
        read: from the signature to the result.
    """

    def __init__(
        self,
        function: Callable[[Document], T],
        stage: str,
        read: Callable[[bytes | None], T],
    ) -> None:
        self._function = function
        self._stage = stage
        self._read = read
        self._known: tuple[Document, T] | None = None
        self._batch: dict[int, tuple[Document, T]] = {}

    def __call__(self, document: Document) -> T:
        if self._known is None or self._known[0] is not document:
            known = self._batch.get(id(document))
            self._known = known or (document, self._result(document))
        return self._known[1]

    def of_many(
        self, documents: Sequence[Document], function: Callable[[Sequence[Document]], Sequence[T]]
    ) -> Sequence[T]:
        """The results for a batch, to be remembered: computed at once, unless all came along."""
        if all(self._stage in document.signatures for document in documents):
            results: Sequence[T] = [
                self._read(document.signatures[self._stage]) for document in documents
            ]
        else:
            results = function(documents)
        self.remember(documents, results)
        return results

    def remember(self, documents: Sequence[Document], results: Sequence[T]) -> None:
        """Take results that were computed for many documents at once, instead of earlier ones."""
        pairs = zip(documents, results, strict=True)
        self._batch = {id(document): (document, result) for document, result in pairs}

    def _result(self, document: Document) -> T:
        if self._stage in document.signatures:
            return self._read(document.signatures[self._stage])
        return self._function(document)


def as_it_is(signature: bytes | None) -> bytes | None:
    return signature


def as_keys(signature: bytes | None) -> NDArray[np.uint32]:
    return np.frombuffer(signature or b"", "<u4")
