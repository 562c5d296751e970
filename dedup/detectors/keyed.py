"""What detectors have in common whose signature is a few 32-bit keys."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check, IndexedDetector
from dedup.detectors.batch import promising_keys, shared_keys
from dedup.detectors.signing import KeySigner, keys_in
from dedup.document import Document, Match
from dedup.index.multimap import AT_MOST, Multimap


class KeyedDetector(IndexedDetector[KeySigner, Multimap]):
    """Proposes the documents that share keys with a document; a check decides.

    Those that share most keys come first. An entry of the index takes 8 bytes.

    Args:
        check: decides on the candidates.
        signer: computes the keys; its stage is the detector's.
        max_candidates: handed to the check, at most.
    """

    def __init__(self, check: Check, signer: KeySigner, *, max_candidates: int = 64) -> None:
        super().__init__(signer, Multimap())
        self._check = check
        self._max_candidates = max_candidates
        self.limit_reached = 0
        """Documents that had more candidates than were compared."""

    def may_match(
        self, documents: Sequence[Document], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        keys = [keys_in(signature) for signature in self._signer.sign_many(documents)]
        owners = np.repeat(np.arange(len(keys)), list(map(len, keys)))
        every = np.concatenate([np.empty(0, "<u4"), *keys])
        if self._check.rules_out:
            return promising_keys(self._index, self._check, documents, every, owners, among)
        return shared_keys(self._index, every, owners, len(documents))

    def find(self, document: Document) -> Match | None:
        keys = self._signer.keys(document)
        numbers = self._proposed(keys)
        is_cut = len(numbers) >= AT_MOST
        numbers = self._check.promising(document, numbers)
        self.limit_reached += is_cut or len(numbers) > self._max_candidates
        nearest = self._check.nearest(document, numbers[: self._max_candidates].tolist())
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def add(self, document: Document, number: int) -> None:
        self._index.add(self._signer.keys(document), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        counts = [len(signature) // 4 for signature in signatures]
        keys = np.frombuffer(b"".join(signatures), "<u4")
        self._index.add_many(keys, np.repeat(numbers, counts))

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents that share some of `keys`, those that share most first."""
        return self._index.find(keys)[0]
