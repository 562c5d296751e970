"""Near duplicates by weighted simhash, looked up in permuted tables."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.latest import Latest
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document, Match
from dedup.fingerprints.simhash import simhash
from dedup.index import PermutedTables
from dedup.text import UnspacedFeatures, features


class SimhashDetector:
    """Finds near duplicates among the documents whose fingerprints differ in few bits.

    Fingerprints of words, or Chinese characters, by frequency (`dedup.text.features` says why)
    within `max_distance` bits propose candidates, nearest first; the second check decides. Short
    documents, and those without a word, are not for this detector: their fingerprints say nothing.
    """

    stage = "simhash"

    def __init__(
        self,
        check: SecondCheck,
        *,
        n_bits: int = 64,
        max_distance: int = 3,
        unspaced_features: UnspacedFeatures = "characters",
        max_candidates: int = 64,
    ) -> None:
        self._check = check
        self._n_bits = n_bits
        self._unspaced_features = unspaced_features
        self._max_candidates = max_candidates
        self._index = PermutedTables(n_bits, max_distance)
        self._fingerprint = Latest(self._compute_fingerprint)

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bits": self._n_bits,
            "features": 1,
            "unspaced_features": self._unspaced_features,
            "short_shingles": self._check.short_shingles,
        }

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        fingerprint = self._fingerprint(document)
        return None if fingerprint is None else fingerprint.to_bytes(self._n_bits // 8)

    def find(self, document: Document) -> Match | None:
        fingerprint = self._fingerprint(document)
        if fingerprint is None:
            return None
        distances = dict(self._index.find(fingerprint)[: self._max_candidates])
        nearest = self._check.nearest(document, distances)
        if nearest is None:
            return None
        number, resemblance = nearest
        return Match(number, self.stage, distances[number], resemblance)

    def add(self, document: Document, number: int) -> None:
        fingerprint = self._fingerprint(document)
        if fingerprint is not None:
            self._index.add(fingerprint, number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        words = np.frombuffer(b"".join(signatures), ">u8").astype(np.uint64)
        if self._n_bits > 64:
            words = words.reshape(len(numbers), -1)
        self._index.add_many(words, numbers)

    def _compute_fingerprint(self, document: Document) -> int | None:
        if self._check.is_short(document):
            return None
        hashes, weights = features(
            document.normal_text,
            unspaced=document.is_unspaced,
            unspaced_features=self._unspaced_features,
        )
        return simhash(hashes, weights, self._n_bits) if len(hashes) else None
