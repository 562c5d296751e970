"""Near duplicates by weighted simhash, looked up in permuted tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dedup.config import DedupConfig
from dedup.detectors.base import IndexedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import Signer, mask_of
from dedup.document import Document, Match
from dedup.fingerprints.simhash import simhash, simhash_many
from dedup.index import PermutedTables
from dedup.text import UnspacedFeatures, features

WeightArray = NDArray[np.integer[Any]] | NDArray[np.floating[Any]]


class SimhashSigner(Signer):
    """The weighted simhash of words, or Chinese characters, big-endian.

    Args:
        n_bits: width of the fingerprints, 64 or 128.
        short_shingles: documents of fewer shingles have no signature.
        unspaced_features: what counts in Chinese; see `dedup.text.features`.
    """

    def __init__(
        self,
        *,
        n_bits: int,
        short_shingles: int,
        unspaced_features: UnspacedFeatures,
        stage: str = "simhash",
    ) -> None:
        super().__init__(stage)
        self.n_bits = n_bits
        self._short_shingles = short_shingles
        self._unspaced_features: UnspacedFeatures = unspaced_features

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bits": self.n_bits,
            "features": 1,
            "unspaced_features": self._unspaced_features,
            "short_shingles": self._short_shingles,
        }

    def compute(self, document: Document) -> bytes | None:
        found = self._features(document)
        return None if found is None else self._packed(document, simhash(*found, self.n_bits))

    def compute_many(self, documents: Sequence[Document]) -> Sequence[bytes | None]:
        if self.n_bits > 64:
            return super().compute_many(documents)
        found = [self._features(document) for document in documents]
        parts = [each for each in found if each is not None]
        hashes = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
        weights = np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)])
        offsets = np.cumsum([0, *(len(part[0]) for part in parts)])
        words = iter(simhash_many(hashes, weights, offsets).tolist())
        return [
            None if each is None else self._packed(document, next(words))
            for document, each in zip(documents, found, strict=True)
        ]

    def compare(self, first: bytes, second: bytes, config: DedupConfig, /) -> tuple[bool, str]:
        distance = (int.from_bytes(first) ^ int.from_bytes(second)).bit_count()
        is_near = distance <= config.simhash_distance
        relation = "at most" if is_near else "more than"
        return is_near, (
            f"fingerprints differ in {distance} of {self.n_bits} bits,"
            f" {relation} {config.simhash_distance}"
        )

    def _packed(self, document: Document, fingerprint: int) -> bytes:
        return (fingerprint ^ mask_of(document, self.n_bits)).to_bytes(self.n_bits // 8)

    def _features(self, document: Document) -> tuple[NDArray[np.uint64], WeightArray] | None:
        if len(document.shingles) < self._short_shingles:
            return None
        hashes, weights = self._weighted(document)
        return (hashes, weights) if len(hashes) else None

    def _weighted(self, document: Document) -> tuple[NDArray[np.uint64], WeightArray]:
        if not document.is_unspaced:
            return document.words
        kind = self._unspaced_features
        return features(document.normal_text, unspaced=True, unspaced_features=kind)


class SimhashDetector(IndexedDetector[SimhashSigner, PermutedTables]):
    """Finds near duplicates among the documents whose fingerprints differ in few bits.

    Fingerprints of words, or Chinese characters, by frequency (`dedup.text.features` says why)
    within `max_distance` bits propose candidates, nearest first; the second check decides. Short
    documents, and those without a word, are not for this detector: their fingerprints say nothing.

    Args:
        check: decides on the candidates.
        n_bits: width of the fingerprints, 64 or 128.
        max_distance: bits in which a candidate differs, at most.
        unspaced_features: see `SimhashSigner`.
        max_candidates: handed to the check, at most.
        stage: where matches and signatures are filed.

    Source: Charikar, STOC 2002; Manku, Jain and Das Sarma, WWW 2007.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        n_bits: int = 64,
        max_distance: int = 3,
        unspaced_features: UnspacedFeatures = "characters",
        max_candidates: int = 64,
        stage: str = "simhash",
    ) -> None:
        signer = SimhashSigner(
            n_bits=n_bits,
            short_shingles=check.short_shingles,
            unspaced_features=unspaced_features,
            stage=stage,
        )
        super().__init__(signer, PermutedTables(n_bits, max_distance))
        self._check = check
        self._max_candidates = max_candidates
        self.limit_reached = 0
        """Documents that had more candidates than were compared."""

    def may_match(
        self, documents: Sequence[Document], among: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        if self.signer.n_bits > 64:
            return np.ones(len(documents), np.bool_)  # one by one
        found = self.signer.sign_many(documents)
        places = np.array([i for i, each in enumerate(found) if each is not None], np.intp)
        words = np.frombuffer(b"".join(filter(None, found)), ">u8").astype(np.uint64)
        may_match = np.zeros(len(documents), np.bool_)
        asked = np.flatnonzero(among[places])
        near, numbers, _ = self._index.find_many(words[asked])
        owners = places[asked[near]]
        may = self._check.may_be_near(documents, owners, numbers.astype(np.int64))
        may_match[owners[may]] = True
        is_near = np.bitwise_count(words[asked, np.newaxis] ^ words) <= self._index.max_distance
        rows, columns = np.nonzero(is_near)
        later, earlier = places[asked[rows]], places[columns]
        later, earlier = later[earlier < later], earlier[earlier < later]
        may_match[later[self._check.may_be_near_each_other(documents, later, earlier)]] = True
        return may_match

    def find(self, document: Document) -> Match | None:
        signature = self.signature(document)
        if signature is None:
            return None
        found = self._index.find(int.from_bytes(signature))
        if not found:
            return None
        distances = dict(found)
        numbers = self._check.promising(document, np.array(list(distances), np.int64))
        self.limit_reached += len(numbers) > self._max_candidates
        nearest = self._check.nearest(document, numbers[: self._max_candidates].tolist())
        if nearest is None:
            return None
        number, resemblance = nearest
        return Match(number, self.stage, distances[number], resemblance)

    def add(self, document: Document, number: int) -> None:
        signature = self.signature(document)
        if signature is not None:
            self._index.add(int.from_bytes(signature), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        words = np.frombuffer(b"".join(signatures), ">u8").astype(np.uint64)
        if self.signer.n_bits > 64:
            words = words.reshape(len(numbers), -1)
        self._index.add_many(words, numbers)
