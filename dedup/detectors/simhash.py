"""Near duplicates by weighted simhash, looked up in permuted tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check
from dedup.detectors.latest import Latest
from dedup.document import Document, Match
from dedup.fingerprints.simhash import simhash, simhash_many
from dedup.index import PermutedTables
from dedup.text import UnspacedFeatures, Weighting, features


class SimhashDetector:
    """Finds near duplicates among the documents whose fingerprints differ in few bits.

    Fingerprints of words, or Chinese characters, by frequency (`dedup.text.features` says why)
    within `max_distance` bits propose candidates, nearest first; the second check decides. Short
    documents, and those without a word, are not for this detector: their fingerprints say nothing.

    Args:
        check: decides on the candidates.
        n_bits: width of the fingerprints, 64 or 128.
        max_distance: bits in which a candidate differs, at most.
        unspaced_features: what counts in Chinese; see `dedup.text.features`.
        weighting: other features and weights (see `dedup.text.weighting`); None: by frequency.
        max_candidates: handed to the check, at most.
        stage: where matches and signatures are filed; None: the class's own.

    Source: Charikar, STOC 2002; Manku, Jain and Das Sarma, WWW 2007.
    """

    stage = "simhash"

    def __init__(
        self,
        check: Check,
        *,
        n_bits: int = 64,
        max_distance: int = 3,
        unspaced_features: UnspacedFeatures = "characters",
        weighting: Weighting | None = None,
        max_candidates: int = 64,
        stage: str | None = None,
    ) -> None:
        if stage is not None:
            self.stage = stage
        self._check = check
        self._n_bits = n_bits
        self._unspaced_features = unspaced_features
        self._weighting = weighting
        self._max_candidates = max_candidates
        self._index = PermutedTables(n_bits, max_distance)
        self._fingerprint = Latest(self._compute_fingerprint, self.stage, _as_number)

    @property
    def scheme(self) -> Mapping[str, object]:
        weights: Mapping[str, object] = (
            {"features": 1, "unspaced_features": self._unspaced_features}
            if self._weighting is None
            else self._weighting.scheme
        )
        return {
            "bits": self._n_bits,
            **weights,
            "short_shingles": self._check.short_shingles,
        }

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        fingerprint = self._fingerprint(document)
        return None if fingerprint is None else fingerprint.to_bytes(self._n_bits // 8)

    def prepare(self, documents: Sequence[Document]) -> NDArray[np.bool_]:
        if self._n_bits > 64 or self._weighting is not None:
            return np.ones(len(documents), np.bool_)  # one by one
        found = self._fingerprint.of_many(documents, self._compute_fingerprints)
        places = np.array([i for i, each in enumerate(found) if each is not None], np.intp)
        words = np.array([each for each in found if each is not None], np.uint64)
        may_match = np.zeros(len(documents), np.bool_)
        may_match[places[self._index.find_many(words)[0]]] = True
        is_near = np.bitwise_count(words[:, np.newaxis] ^ words) <= self._index.max_distance
        may_match[places[np.tril(is_near, -1).any(axis=1)]] = True
        return may_match

    def _compute_fingerprints(self, documents: Sequence[Document]) -> list[int | None]:
        found = [self._features(document) for document in documents]
        parts = [each for each in found if each is not None]
        hashes = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
        weights = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
        offsets = np.cumsum([0, *(len(part[0]) for part in parts)])
        words = iter(simhash_many(hashes, weights, offsets).tolist())
        return [None if each is None else next(words) for each in found]

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
        found = self._features(document)
        return None if found is None else simhash(*found, self._n_bits)

    def _features(self, document: Document) -> tuple[NDArray[np.uint64], NDArray[Any]] | None:
        if self._check.is_short(document):
            return None
        hashes: NDArray[np.uint64]
        weights: NDArray[Any]
        text, is_unspaced = document.normal_text, document.is_unspaced
        if self._weighting is not None:
            hashes, weights = self._weighting(text, unspaced=is_unspaced)
        elif is_unspaced:
            kind = self._unspaced_features
            hashes, weights = features(text, unspaced=True, unspaced_features=kind)
        else:
            hashes, weights = document.words
        return (hashes, weights) if len(hashes) else None


def _as_number(signature: bytes | None) -> int | None:
    return None if signature is None else int.from_bytes(signature)
