"""What detectors have in common whose signature is a few 32-bit keys."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check
from dedup.detectors.batch import shared_keys
from dedup.detectors.latest import Latest, as_keys
from dedup.document import Document, Match
from dedup.index.multimap import Multimap
from dedup.text.shingles import count_distinct


class KeyedDetector(ABC):
    """Proposes the documents that share keys with a document; a check decides.

    Those that share most keys come first. An entry of the index takes 8 bytes.

    Args:
        check: decides on the candidates.
        stage: where matches and signatures are filed; detectors of one cascade need different
            ones. None: the class's own.
        max_candidates: handed to the check, at most.
    """

    stage: str

    def __init__(
        self,
        check: Check,
        *,
        stage: str | None = None,
        max_candidates: int = 64,
    ) -> None:
        if stage is not None:
            self.stage = stage
        self._check = check
        self._max_candidates = max_candidates
        self._index = Multimap()
        self._keys = Latest(self._compute_keys, self.stage, as_keys)

    @property
    @abstractmethod
    def scheme(self) -> Mapping[str, object]:
        """What must be equal for two signatures to be comparable."""

    @abstractmethod
    def _compute_keys(self, document: Document) -> NDArray[np.uint32]:
        """Return different keys, little-endian; none: not for this detector."""

    def _least_shared(self, n_keys: int) -> int:  # noqa: ARG002 - for those that override it
        """Return in how many keys a candidate agrees with a document of `n_keys`, at least."""
        return 1

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        return self._keys(document).tobytes() or None

    def prepare(self, documents: Sequence[Document]) -> NDArray[np.bool_]:
        keys = self._keys.of_many(documents, self._compute_keys_of_many)
        owners = np.repeat(np.arange(len(keys)), list(map(len, keys)))
        every = np.concatenate([np.empty(0, "<u4"), *keys])
        return shared_keys(self._index, every, owners, len(documents))

    def _compute_keys_of_many(self, documents: Sequence[Document]) -> list[NDArray[np.uint32]]:
        return [self._compute_keys(document) for document in documents]

    def find(self, document: Document) -> Match | None:
        keys = self._keys(document)
        numbers, shared = self._index.find(keys)
        numbers = numbers[shared >= self._least_shared(len(keys))][: self._max_candidates]
        nearest = self._check.nearest(document, numbers.tolist())
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def add(self, document: Document, number: int) -> None:
        self._index.add(self._keys(document), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        counts = [len(signature) // 4 for signature in signatures]
        keys = np.frombuffer(b"".join(signatures), "<u4")
        self._index.add_many(keys, np.repeat(numbers, counts))


def low_keys(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the lower halves of some hashes, each once, ascending."""
    return count_distinct(hashes & np.uint64(0xFFFF_FFFF))[0].astype("<u4")
