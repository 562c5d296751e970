"""w-shingling: documents that have sampled shingles in common, by an inverted index."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check
from dedup.detectors.keyed import KeyedDetector, low_keys
from dedup.document import Document


class ShinglingDetector(KeyedDetector):
    """Finds the documents that share shingles, most shared ones first.

    Of a document's shingles those are indexed whose hash is 0 modulo `one_in`: the same ones in
    every document that has them, so that the sample keeps resemblance and containment, unlike one
    of fixed size, which a longer document fills with its own. A candidate shares at least half of
    the document's: of two texts with a resemblance of 0.8 it is 89%. With a `SecondCheck` near
    duplicates are found, with a `ContainmentCheck` originals that contain the document.

    Documents without a sampled shingle, and short ones, are not for this detector. 8 bytes for
    each sampled shingle: 0.3 bytes a word.

    Source: Broder, Glassman, Manasse, Zweig, Syntactic clustering of the web, WWW 1997: shingles of
    10 words, 1 in 25.
    """

    stage = "shingling"

    def __init__(
        self,
        check: Check,
        *,
        one_in: int = 25,
        max_candidates: int = 64,
        stage: str | None = None,
    ) -> None:
        if one_in < 1:
            raise ValueError(f"one_in must be at least 1, got {one_in!r}")
        super().__init__(check, stage=stage, max_candidates=max_candidates)
        self._one_in = one_in

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "one_in": self._one_in,
            "shingles": 1,
            "short_shingles": self._check.short_shingles,
        }

    def _least_shared(self, n_keys: int) -> int:
        return max(1, n_keys // 2)

    def _compute_keys(self, document: Document) -> NDArray[np.uint32]:
        if self._check.is_short(document):
            return low_keys(document.shingles[:0])
        is_sampled = document.shingles % np.uint64(self._one_in) == 0
        return low_keys(document.shingles[is_sampled])
