"""Near duplicates by weighted simhash, looked up in permuted tables."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.config import DedupConfig
from dedup.detectors.base import IndexedDetector
from dedup.detectors.proposals import NO_PAIRS, Pairs, Proposals, counts_of
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import Signer, mask_of, masks_of
from dedup.document import Document, Match
from dedup.fingerprints import simhash, simhash_of_occurrences
from dedup.index import PermutedTables
from dedup.text import UnspacedFeatures, features
from dedup.text.features import Features, occurrences


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

    def compute(self, portion: Portion) -> Signatures:
        is_signed = (portion.sizes >= self._short_shingles) & (np.diff(portion.texts.bounds) > 0)
        lengths = np.where(is_signed, self.n_bits // 8, 0)
        masks = masks_of(portion)
        if self.n_bits == 64 and self._is_by_occurrence(portion):
            words = simhash_of_occurrences(occurrences(portion.texts), portion.texts.bounds)
            words = words if masks is None else words ^ masks
            return Signatures(words.astype(">u8").view(np.uint8).reshape(-1, 8), lengths)
        found = [
            self._fingerprint(document).to_bytes(self.n_bits // 8) if length else None
            for document, length in zip(portion.documents, lengths.tolist(), strict=True)
        ]
        return Signatures.of(found)

    def compare(self, first: bytes, second: bytes, config: DedupConfig, /) -> tuple[bool, str]:
        distance = (int.from_bytes(first) ^ int.from_bytes(second)).bit_count()
        is_near = distance <= config.simhash_distance
        relation = "at most" if is_near else "more than"
        return is_near, (
            f"fingerprints differ in {distance} of {self.n_bits} bits,"
            f" {relation} {config.simhash_distance}"
        )

    def _is_by_occurrence(self, portion: Portion) -> bool:
        """Do words or characters weigh as often as they occur?"""
        return not portion.texts.unspaced or self._unspaced_features == "characters"

    def _fingerprint(self, document: Document) -> int:
        fingerprint = simhash(*self._weighted(document), self.n_bits)
        return fingerprint ^ mask_of(document, self.n_bits)

    def _weighted(self, document: Document) -> Features:
        return features(
            document.normal_text,
            unspaced=document.is_unspaced,
            unspaced_features=self._unspaced_features,
        )


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

    def propose(
        self, batch: Batch, is_asked: NDArray[np.bool_], is_candidate: NDArray[np.bool_]
    ) -> Proposals:
        words, is_signed = self._words_of(batch)
        asked = np.flatnonzero(is_asked & is_signed)
        candidates = np.flatnonzero(is_candidate & is_signed)
        parts = [NO_PAIRS]
        within = None
        if len(candidates):
            index = self._index
            within = PermutedTables(index.n_bits, index.max_distance, layout=index.layout)
            within.add_many(words[candidates], candidates)
        for start in range(0, len(asked), _DOCUMENTS_AT_ONCE):
            some = asked[start : start + _DOCUMENTS_AT_ONCE]
            parts.append(self._check.left_of(batch, _near(self._index, words, some)))
            if within is not None:
                pairs = _near(within, words, some)
                pairs = pairs.take(pairs.numbers < pairs.places)
                pairs = pairs._replace(numbers=-1 - pairs.numbers)
                parts.append(self._check.left_of(batch, pairs))
        is_open = counts_of(parts, len(batch)) > self._max_candidates
        return Proposals(len(batch), parts, is_open)

    def choose(
        self, document: Document, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        nearest = self._check.nearest(document, numbers)
        if nearest is None:
            return None
        number, resemblance = nearest
        return Match(number, self.stage, distances[list(numbers).index(number)], resemblance)

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
        compared = numbers[: self._max_candidates].tolist()
        return self.choose(document, compared, [distances[number] for number in compared])

    def add(self, document: Document, number: int) -> None:
        signature = self.signature(document)
        if signature is not None:
            self._index.add(int.from_bytes(signature), number)

    def add_many(self, batch: Batch, places: NDArray[np.intp], numbers: NDArray[np.int64]) -> None:
        words, is_signed = self._words_of(batch)
        is_added = is_signed[places]
        self._index.add_many(words[places[is_added]], numbers[is_added])

    def _words_of(self, batch: Batch) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """The fingerprints of a batch, and which documents have one."""
        signatures = batch.signatures(self.signer)
        words = np.zeros((len(batch), self.signer.n_bits // 64), np.uint64)
        if signatures.rows.shape[1]:
            words[:] = np.ascontiguousarray(signatures.rows).view(">u8")
        return (words[:, 0] if self.signer.n_bits == 64 else words), signatures.lengths > 0

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        words = np.frombuffer(b"".join(signatures), ">u8").astype(np.uint64)
        if self.signer.n_bits > 64:
            words = words.reshape(len(numbers), -1)
        self._index.add_many(words, numbers)


def _near(index: PermutedTables, words: NDArray[np.uint64], places: NDArray[np.intp]) -> Pairs:
    """What the index has near the fingerprints of some places."""
    near, numbers, distances = index.find_many(words[places])
    return Pairs(places[near], numbers.astype(np.int64), distances.astype(np.int64))


_DOCUMENTS_AT_ONCE = 1_024
"""Each may have any number of candidates."""
