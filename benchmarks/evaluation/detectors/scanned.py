"""What detectors have in common that compare a document's signature with every other one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.detectors.proposals import Proposals
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import Signer
from dedup.document import Document, Match

_FIRST_CAPACITY = 64


class RowSigner(Signer):
    """Computes signatures that are a row of 64-bit words each, little-endian."""

    @abstractmethod
    def compute_row(self, document: Document) -> NDArray[np.uint64] | None:
        """The row of a document; None: the stage does not look at it."""

    def compute(self, portion: Portion) -> Signatures:
        rows = map(self.compute_row, portion.documents)
        return Signatures.of([None if row is None else row.astype("<u8").tobytes() for row in rows])

    def row(self, document: Document) -> NDArray[np.uint64] | None:
        """The row of a document, which remembers it."""
        signature = self.sign(document)
        return None if signature is None else np.frombuffer(signature, "<u8").astype(np.uint64)


class ScannedDetector(ABC):
    """Proposes the documents whose signatures are most alike; a check decides.

    What is alike here need not have a word in common, so there is no key to look it up by: all
    signatures stand in one array, and every lookup reads it from end to end. That takes some ten
    milliseconds for a million documents.

    Args:
        check: decides on the candidates.
        signer: computes the rows; its stage is the detector's.
        words: in a row.
        max_candidates: handed to the check, at most.
    """

    def __init__(
        self, check: SecondCheck, signer: RowSigner, *, words: int, max_candidates: int = 64
    ) -> None:
        self.stage = signer.stage
        self._check = check
        self._signer = signer
        self._max_candidates = max_candidates
        self._rows = np.empty((_FIRST_CAPACITY, words), np.uint64)
        self._numbers = np.empty(_FIRST_CAPACITY, np.int64)
        self._count = 0

    @property
    def scheme(self) -> Mapping[str, object]:
        return self._signer.scheme

    @abstractmethod
    def _likeness(
        self, row: NDArray[np.uint64], rows: NDArray[np.uint64]
    ) -> NDArray[np.floating[Any]] | NDArray[np.integer[Any]]:
        """Return how alike one signature and each of many are; above 0: a candidate."""

    @property
    def size_bytes(self) -> int:
        return self._rows.nbytes + self._numbers.nbytes

    def signature(self, document: Document) -> bytes | None:
        return self._signer.sign(document)

    def propose(
        self,
        batch: Batch,
        is_asked: NDArray[np.bool_],
        is_candidate: NDArray[np.bool_],  # noqa: ARG002 -- all are asked about one by one
    ) -> Proposals:
        return Proposals(len(batch), is_open=is_asked)

    def choose(
        self, document: Document, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        raise NotImplementedError("documents are looked up one by one")

    def add_many(self, batch: Batch, places: NDArray[np.intp], numbers: NDArray[np.int64]) -> None:
        for place, number in zip(places.tolist(), numbers.tolist(), strict=True):
            self.add(batch.document(place), number)

    def find(self, document: Document) -> Match | None:
        row = self._signer.row(document)
        if row is None:
            return None
        nearest = self._check.nearest(document, self._candidates(row))
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def add(self, document: Document, number: int) -> None:
        row = self._signer.row(document)
        if row is not None:
            self._append(row[np.newaxis], np.array([number]))

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        rows = np.frombuffer(b"".join(signatures), "<u8").reshape(len(numbers), -1)
        self._append(rows, numbers)

    def _candidates(self, row: NDArray[np.uint64]) -> list[int]:
        """Return the numbers of the most alike, most alike first, then the earliest."""
        likeness = self._likeness(row, self._rows[: self._count])
        places = np.flatnonzero(likeness > 0)
        order = np.argsort(-likeness[places], kind="stable")[: self._max_candidates]
        found: list[int] = self._numbers[places[order]].tolist()
        return found

    def _append(self, rows: NDArray[Any], numbers: NDArray[np.int64]) -> None:
        count = self._count + len(numbers)
        if count > len(self._numbers):
            capacity = max(count, len(self._numbers) * 3 // 2)
            self._rows = np.resize(self._rows, (capacity, self._rows.shape[1]))
            self._numbers = np.resize(self._numbers, capacity)
        self._rows[self._count : count] = rows
        self._numbers[self._count : count] = numbers
        self._count = count
