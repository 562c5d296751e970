"""w-shingling: documents that have sampled shingles in common, by an inverted index."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.keys import low_keys
from benchmarks.evaluation.detectors.one_by_one import OneByOneSigner
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document


class ShinglingSigner(OneByOneSigner):
    """Those of a document's shingles whose hash is 0 modulo `one_in`."""

    def __init__(self, stage: str, *, one_in: int, short_shingles: int) -> None:
        if one_in < 1:
            raise ValueError(f"one_in must be at least 1, got {one_in!r}")
        super().__init__(stage)
        self._one_in = one_in
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"one_in": self._one_in, "shingles": 1, "short_shingles": self._short_shingles}

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        if len(document.shingles) < self._short_shingles:
            return low_keys(document.shingles[:0])
        is_sampled = document.shingles % np.uint64(self._one_in) == 0
        return low_keys(document.shingles[is_sampled])


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

    def __init__(
        self,
        check: SecondCheck,
        *,
        one_in: int = 25,
        max_candidates: int = 64,
        stage: str = "shingling",
    ) -> None:
        signer = ShinglingSigner(stage, one_in=one_in, short_shingles=check.short_shingles)
        super().__init__(check, signer, max_candidates=max_candidates)

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        numbers, shared = self._index.find(keys)
        return numbers[shared >= len(keys) // 2]
