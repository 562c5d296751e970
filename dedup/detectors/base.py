"""The one shape of all detectors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.signing import Signer
from dedup.document import Document, Match
from dedup.index import PermutedTables
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

    def may_match(
        self, documents: Sequence[Document], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which documents may have a match among those added or those before them in the batch.

        The others surely have none. Their signatures are computed together. Only the answers for
        the documents that are `among` those asked about count.
        """

    def find(self, document: Document) -> Match | None:
        """The best match among the documents added, or None. Changes nothing."""

    def add(self, document: Document, number: int) -> None:
        """Make `document` findable under `number`, which must be greater than all before."""

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        """Add many at once, from the signatures in the store; `numbers` ascend."""

    @property
    def size_bytes(self) -> int:
        """Memory held by the index."""


SignerT = TypeVar("SignerT", bound=Signer)
IndexT = TypeVar("IndexT", bound=Multimap | PermutedTables)


class IndexedDetector(Detector, Generic[SignerT, IndexT]):
    """A detector that looks up the signatures of a signer in an index."""

    def __init__(self, signer: SignerT, index: IndexT) -> None:
        self.stage = signer.stage
        self.signer = signer
        self._index = index

    @property
    def scheme(self) -> Mapping[str, object]:
        return self.signer.scheme

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        return self.signer.sign(document)
