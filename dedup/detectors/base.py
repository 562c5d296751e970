"""The one shape of all detectors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.detectors.proposals import Proposals
from dedup.detectors.signing import Signer
from dedup.document import Document, Match
from dedup.index import PermutedTables
from dedup.index.arrays import Arrays
from dedup.index.multimap import Multimap

Originals = Callable[[int], Document]
"""Fetches an earlier document by its number, for the second check."""


class Detector(Protocol):
    """Finds the earlier document that a document duplicates.

    A signature or fingerprint in memory yields candidates; the match is decided by a second check
    against the candidate's stored text. So a match is never a coincidence of hashes, and the memory
    index holds nothing but signatures and numbers.
    """

    stage: str
    """The name under which matches and stored signatures are filed."""

    @property
    def scheme(self) -> Mapping[str, object]:
        """What must be equal for two signatures to be comparable; plain JSON values, or nothing."""

    def signature(self, document: Document) -> bytes | None:
        """What the store keeps so that the index can be rebuilt; None: not for this detector."""

    def propose(
        self, batch: Batch, is_asked: NDArray[np.bool_], is_candidate: NDArray[np.bool_]
    ) -> Proposals:
        """The candidates of a batch's documents among those added and those before them.

        Args:
            batch: documents that are not added yet.
            is_asked: those whose candidates are to be found.
            is_candidate: those that may be candidates of later ones.
        """

    def choose(
        self, document: Document, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        """The best match among candidates that were proposed; all of them are in the store."""

    def find(self, document: Document) -> Match | None:
        """The best match among the documents added, or None. Changes nothing."""

    def add(self, document: Document, number: int) -> None:
        """Make `document` findable under `number`, which must be greater than all before."""

    def add_many(self, batch: Batch, places: NDArray[np.intp], numbers: NDArray[np.int64]) -> None:
        """Make documents of a batch findable, as `add` does one; `numbers` ascend."""

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Add many at once, from the signatures in the store; `numbers` ascend."""

    @property
    def size_bytes(self) -> int:
        """Size of the index, in memory and in files."""


SignerT = TypeVar("SignerT", bound=Signer)
IndexT = TypeVar("IndexT", bound=Multimap | PermutedTables)


class IndexedDetector(Detector, Generic[SignerT, IndexT]):
    """A detector that looks up the signatures of a signer in an index."""

    def __init__(self, signer: SignerT, index: IndexT) -> None:
        self.stage = signer.stage
        self.signer = signer
        self._index = index

    def use(self, arrays: Arrays) -> None:
        """Have the index, which is still empty, keep to the bound of these arrays."""
        self._index.arrays = arrays

    @property
    def scheme(self) -> Mapping[str, object]:
        return self.signer.scheme

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        return self.signer.sign(document)
