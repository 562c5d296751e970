"""What detectors have in common that find signatures by 32-bit keys."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import IndexedDetector, SignerT
from dedup.detectors.batch_candidates import promising_keys, shared_keys
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import KeySigner
from dedup.document import Document, Match
from dedup.index.multimap import AT_MOST, Multimap


class LookupDetector(IndexedDetector[SignerT, Multimap]):
    """Indexes the keys of signatures; an entry of the index takes 8 bytes."""

    def __init__(self, signer: SignerT) -> None:
        super().__init__(signer, Multimap())

    def may_match(
        self,
        documents: Sequence[Document],
        among: NDArray[np.bool_],  # noqa: ARG002 -- all documents cost little more
    ) -> NDArray[np.bool_]:
        return shared_keys(self._index, *self._keys_of(documents), len(documents))

    def add(self, document: Document, number: int) -> None:
        self._index.add(self.signer.keys(document), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        keys, counts = self.signer.keys_of_many(signatures)
        self._index.add_many(keys, np.repeat(numbers, counts))

    def _keys_of(
        self, documents: Sequence[Document]
    ) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """The keys of documents, and the place of each key's document."""
        keys, counts = self.signer.keys_of_many(self.signer.sign_many(documents))
        return keys, np.repeat(np.arange(len(documents)), counts)


class KeyedDetector(LookupDetector[KeySigner]):
    """Proposes the documents that share keys with a document; a check decides.

    Those that share most keys come first.

    Args:
        check: decides on the candidates.
        signer: computes the keys; its stage is the detector's.
        max_candidates: handed to the check, at most.
    """

    def __init__(self, check: SecondCheck, signer: KeySigner, *, max_candidates: int = 64) -> None:
        super().__init__(signer)
        self._check = check
        self._max_candidates = max_candidates
        self.limit_reached = 0
        """Documents that had more candidates than were compared."""

    def may_match(
        self, documents: Sequence[Document], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        if not self._check.rules_out:
            return super().may_match(documents, among)
        return promising_keys(self._index, self._check, documents, *self._keys_of(documents), among)

    def find(self, document: Document) -> Match | None:
        numbers = self._proposed(self.signer.keys(document))
        is_cut = len(numbers) >= AT_MOST
        numbers = self._check.promising(document, numbers)
        self.limit_reached += is_cut or len(numbers) > self._max_candidates
        nearest = self._check.nearest(document, numbers[: self._max_candidates].tolist())
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents that share some of `keys`, those that share most first."""
        return self._index.find(keys)[0]
