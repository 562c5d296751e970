"""MinHash as published: with k hash functions and bands, and with one function and k values.

`dedup.detectors.minhash` is the one of the default cascade: one function, whose range is cut into
bins.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.keys import low_keys
from benchmarks.evaluation.detectors.one_by_one import OneByOneSigner
from benchmarks.evaluation.fingerprints.minhash import band_hashes, minhash
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document


class PermutationsSigner(OneByOneSigner):
    """One key for each of `bands` bands of `rows` least values, each of another permutation."""

    def __init__(self, stage: str, *, bands: int, rows: int, short_shingles: int) -> None:
        super().__init__(stage)
        self._bands = bands
        self._rows = rows
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "permutations": self._bands * self._rows,
            "bands": self._bands,
            "shingles": 1,
            "short_shingles": self._short_shingles,
        }

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        if len(document.shingles) < max(self._short_shingles, 1):
            return low_keys(document.shingles[:0])
        least = minhash(document.shingles, self._bands * self._rows)
        return low_keys(band_hashes(least, self._bands))


class PermutationsDetector(KeyedDetector):
    """Finds near duplicates among the documents that share a band of least values.

    The least shingle hash under each of `bands` times `rows` permutations; each band of `rows`
    values is one key, and one shared key makes a candidate. At resemblance r a pair is proposed
    with probability 1 - (1 - r^rows)^bands: with 32 bands of 4, 0.99999995 at 0.8, 0.87 at 0.5.

    Short documents are not for this detector. 8 bytes for each band.

    Source: as `benchmarks.evaluation.fingerprints.minhash`.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        bands: int = 32,
        rows: int = 4,
        max_candidates: int = 64,
        stage: str = "minhash-permutations",
    ) -> None:
        signer = PermutationsSigner(
            stage, bands=bands, rows=rows, short_shingles=check.short_shingles
        )
        super().__init__(check, signer, max_candidates=max_candidates)


class BottomSigner(OneByOneSigner):
    """The `size` least shingle hashes."""

    def __init__(self, stage: str, *, size: int, short_shingles: int) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size!r}")
        super().__init__(stage)
        self._size = size
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"bottom": self._size, "shingles": 1, "short_shingles": self._short_shingles}

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        is_short = len(document.shingles) < self._short_shingles
        return low_keys(document.shingles[: 0 if is_short else self._size])


class BottomDetector(KeyedDetector):
    """Finds near duplicates among the documents that share most of their least shingle hashes.

    One hash function, and the `size` least values: two sets of resemblance r have about
    2 r / (1 + r) of them in common, 89% at 0.8. A candidate shares at least half, most shared ones
    first.

    Short documents are not for this detector. 8 bytes for each value.

    Source: as `PermutationsDetector`; also Cohen, Kaplan, Summarizing data using bottom-k
    sketches, PODC 2007.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        size: int = 32,
        max_candidates: int = 64,
        stage: str = "minhash-bottom",
    ) -> None:
        signer = BottomSigner(stage, size=size, short_shingles=check.short_shingles)
        super().__init__(check, signer, max_candidates=max_candidates)

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        numbers, shared = self._index.find(keys)
        return numbers[shared >= len(keys) // 2]
