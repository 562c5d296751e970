"""A store on top of others that are only read: documents are compared with those of all."""

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
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
    """The documents of `bases`, and after them those of `own`; only `own` is written.

    A document has its number in its store plus what all numbers of the stores before it take;
    for those of `own` this is `offset`.
    """

    def __init__(self, bases: Sequence[JobStore], own: CollectionStore) -> None:
        self.own = own
        self._stores: list[CollectionStore] = [*bases, own]
        self._starts = list(accumulate((1 + each.report.last_page() for each in bases), initial=0))
        self.offset = self._starts[-1]

    def check_schemes(
        self, schemes: Mapping[str, Mapping[str, object]], *, of: str = "detectors"
    ) -> None:
        for store in self._stores:
            store.check_schemes(schemes, of=of)

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
        ends = [*self._starts[1:], sys.maxsize]
        for start, end, store in zip(self._starts, ends, self._stores, strict=True):
            for numbers, signatures in store.signatures(stage, after=max(after - start, -1)):
                # A job of `bases` may go on; later pages would take the numbers of the next one.
                count = int(np.searchsorted(numbers, end - start))
                if count:
                    yield numbers[:count] + start, signatures[:count]

    def base_place(self, number: int) -> tuple[int, int] | None:
        """Which of `bases` a document is in, and its number there; None: it is in `own`."""
        at = bisect_right(self._starts, number) - 1
        return None if at == len(self._starts) - 1 else (at, number - self._starts[at])

    def _place(self, number: int) -> tuple[CollectionStore, int]:
        at = bisect_right(self._starts, number) - 1
        return self._stores[at], number - self._starts[at]
