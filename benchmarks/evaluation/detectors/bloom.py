"""Near duplicates by the Bloom filters of their shingles."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.scanned import RowSigner, ScannedDetector
from benchmarks.evaluation.fingerprints.bloom import bloom_filter, bloom_similarities
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document

_MEMBERS = 128
"""Shingles of a document in its filter, those with the least hashes: a fixed size for all."""

_BITS = 512


class BloomSigner(RowSigner):
    """The Bloom filter of the shingles with the least hashes, see `BloomDetector`."""

    def __init__(self, stage: str, *, short_shingles: int) -> None:
        super().__init__(stage)
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bits": _BITS,
            "members": _MEMBERS,
            "shingles": 1,
            "short_shingles": self._short_shingles,
        }

    def compute_row(self, document: Document) -> NDArray[np.uint64] | None:
        if len(document.shingles) < max(self._short_shingles, 1):
            return None
        return bloom_filter(document.shingles[:_MEMBERS], n_bits=_BITS)


class BloomDetector(ScannedDetector):
    """Finds near duplicates among the documents whose filters have most ones in common.

    A filter of 512 bits holds the 128 shingles with the least hashes, so that it is a fifth full
    whatever the length of the text; those of unrelated texts have a fifth of their ones in common.
    Of texts with a resemblance of 0.8, it is 0.9. A candidate has more than `min_similarity`.

    Short documents are not for this detector. 72 bytes a document.

    Source: Jain, Dahlin, Tewari, Using Bloom filters to refine web search results, WebDB 2005;
    theirs hold all content-defined chunks of a page, which are fewer than its shingles.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        min_similarity: float = 0.7,
        max_candidates: int = 64,
        stage: str = "bloom",
    ) -> None:
        signer = BloomSigner(stage, short_shingles=check.short_shingles)
        super().__init__(check, signer, words=_BITS // 64, max_candidates=max_candidates)
        self._min_similarity = min_similarity

    def _likeness(
        self, row: NDArray[np.uint64], rows: NDArray[np.uint64]
    ) -> NDArray[np.floating[Any]]:
        return np.maximum(bloom_similarities(row, rows) - self._min_similarity, 0.0)
