"""One computation for `find`, `signature` and `add` of the same document."""

from collections.abc import Callable
from typing import Generic, TypeVar

from dedup.document import Document

T = TypeVar("T")


class Latest(Generic[T]):
    """A function of a document that remembers its latest result."""

    def __init__(self, function: Callable[[Document], T]) -> None:
        self._function = function
        self._known: tuple[Document, T] | None = None

    def __call__(self, document: Document) -> T:
        if self._known is None or self._known[0] is not document:
            self._known = document, self._function(document)
        return self._known[1]
