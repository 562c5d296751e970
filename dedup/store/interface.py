"""What the deduplicator asks of a store."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document, Match


class Store(Protocol):
    """Keeps documents by number, with their signatures, and the record of each duplicate.

    Numbers ascend in the order of adding. All that one call writes becomes durable together.
    """

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        """Note by what schemes `of` a new store is made; raise `SchemeError` where they differ."""

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        """Keep a unique document and its signatures by stage; return its number."""

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        """Keep other signatures of a document than before."""

    def add_duplicate(self, document: Document, match: Match) -> None:
        """Record that `document` was dropped for `match`."""

    def document(self, number: int) -> Document:
        """The document as added (id, text, url, title; the body may be left out)."""

    def signatures(self, stage: str) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        """All stored signatures of a stage, in batches, by ascending number."""
