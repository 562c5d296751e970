"""MinHash as published: with k hash functions and bands, and with one function and k values.

`dedup.detectors.minhash` is the one of the default cascade: one function, whose range is cut into
bins.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check
from dedup.detectors.keyed import KeyedDetector, low_keys
from dedup.document import Document
from dedup.fingerprints.minhash import band_hashes, minhash


class PermutationsDetector(KeyedDetector):
    """Finds near duplicates among the documents that share a band of least values.

    The least shingle hash under each of `bands` times `rows` permutations; each band of `rows`
    values is one key, and one shared key makes a candidate. At resemblance r a pair is proposed
    with probability 1 - (1 - r^rows)^bands: with 32 bands of 4, 0.99999995 at 0.8, 0.87 at 0.5.

    Short documents are not for this detector. 8 bytes for each band.

    Source: as `dedup.fingerprints.minhash`.
    """

    stage = "minhash-permutations"

    def __init__(
        self,
        check: Check,
        *,
        bands: int = 32,
        rows: int = 4,
        max_candidates: int = 64,
        stage: str | None = None,
    ) -> None:
        super().__init__(check, stage=stage, max_candidates=max_candidates)
        self._bands = bands
        self._rows = rows

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "permutations": self._bands * self._rows,
            "bands": self._bands,
            "shingles": 1,
            "short_shingles": self._check.short_shingles,
        }

    def _compute_keys(self, document: Document) -> NDArray[np.uint32]:
        if self._check.is_short(document) or not len(document.shingles):
            return low_keys(document.shingles[:0])
        least = minhash(document.shingles, self._bands * self._rows)
        return low_keys(band_hashes(least, self._bands))


class BottomDetector(KeyedDetector):
    """Finds near duplicates among the documents that share most of their least shingle hashes.

    One hash function, and the `size` least values: two sets of resemblance r have about
    2 r / (1 + r) of them in common, 89% at 0.8. A candidate shares at least half, most shared ones
    first.

    Short documents are not for this detector. 8 bytes for each value.

    Source: as `dedup.fingerprints.minhash`; also Cohen, Kaplan, Summarizing data using bottom-k
    sketches, PODC 2007.
    """

    stage = "minhash-bottom"

    def __init__(
        self,
        check: Check,
        *,
        size: int = 32,
        max_candidates: int = 64,
        stage: str | None = None,
    ) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size!r}")
        super().__init__(check, stage=stage, max_candidates=max_candidates)
        self._size = size

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bottom": self._size,
            "shingles": 1,
            "short_shingles": self._check.short_shingles,
        }

    def _least_shared(self, n_keys: int) -> int:
        return max(1, n_keys // 2)

    def _compute_keys(self, document: Document) -> NDArray[np.uint32]:
        size = 0 if self._check.is_short(document) else self._size
        return low_keys(document.shingles[:size])
