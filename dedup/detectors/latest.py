"""One computation for `find`, `signature` and `add` of the same document."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dedup.document import Document

T = TypeVar("T")


class Latest(Generic[T]):
    """A function of a document that remembers its latest result, or those of a batch."""

    def __init__(self, function: Callable[[Document], T]) -> None:
        self._function = function
        self._known: tuple[Document, T] | None = None
        self._batch: dict[int, tuple[Document, T]] = {}

    def __call__(self, document: Document) -> T:
        if self._known is None or self._known[0] is not document:
            known = self._batch.get(id(document))
            self._known = known or (document, self._function(document))
        return self._known[1]

    def remember(self, documents: Sequence[Document], results: Sequence[T]) -> None:
        """Take results that were computed for many documents at once, instead of earlier ones."""
        pairs = zip(documents, results, strict=True)
        self._batch = {id(document): (document, result) for document, result in pairs}
