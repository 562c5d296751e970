"""A store on top of another that is only read: documents are compared with those of both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document, Match
from dedup.store.interface import Store
from dedup.store.sql.decisions import Decisions
from dedup.store.sql.store import JobStore


class CollectionStore(Store, Protocol):
    """Where a run keeps its documents: for good, or for itself alone."""

    @property
    def decisions(self) -> Decisions: ...

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a document."""


class LayeredStore:
    """The documents of `base`, and after them those of `own`; only `own` is written.

    A document of `own` has its number there plus `offset`, which is beyond all numbers of `base`.
    """

    def __init__(self, base: JobStore, own: CollectionStore) -> None:
        self.base = base
        self.own = own
        self.offset = 1 + base.report.last_page()

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        self.base.check_schemes(schemes, of=of)
        self.own.check_schemes(schemes, of=of)

    def add(self, document: Document, signatures: Mapping[str, bytes]) -> int:
        return self.own.add(document, signatures) + self.offset

    def change_signatures(self, number: int, signatures: Mapping[str, bytes]) -> None:
        self.own.change_signatures(number - self.offset, signatures)

    def add_duplicate(self, document: Document, match: Match) -> None:
        if match.original >= self.offset:
            original = match.original - self.offset
            self.own.add_duplicate(document, replace(match, original=original))
        else:
            self.own.decisions.add_known(document, match)

    def document(self, number: int) -> Document:
        store, number = self._place(number)
        return store.document(number)

    def label(self, number: int) -> tuple[str, str | None]:
        """The id and the URL of a document."""
        store, number = self._place(number)
        return store.label(number)

    def signatures(
        self, stage: str, *, after: int = -1
    ) -> Iterator[tuple[NDArray[np.int64], Sequence[bytes]]]:
        yield from self.base.signatures(stage, after=after)
        for numbers, signatures in self.own.signatures(stage, after=after - self.offset):
            yield numbers + self.offset, signatures

    def _place(self, number: int) -> tuple[CollectionStore, int]:
        if number < self.offset:
            return self.base, number
        return self.own, number - self.offset
