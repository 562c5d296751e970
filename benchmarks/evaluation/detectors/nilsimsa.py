"""Near duplicates by Nilsimsa: digests that agree in most bits."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.scanned import RowSigner, ScannedDetector
from benchmarks.evaluation.fingerprints.nilsimsa import DIGEST_BYTES, nilsimsa, nilsimsa_scores
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document


class NilsimsaSigner(RowSigner):
    """The Nilsimsa digest of the normal text."""

    def __init__(self, stage: str, *, short_shingles: int) -> None:
        super().__init__(stage)
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"digest": "nilsimsa", "short_shingles": self._short_shingles}

    def compute_row(self, document: Document) -> NDArray[np.uint64] | None:
        data = document.normal_text.encode(errors="surrogatepass")
        if len(data) < 3 or len(document.shingles) < self._short_shingles:
            return None
        return np.frombuffer(nilsimsa(data), "<u8").astype(np.uint64)


class NilsimsaDetector(ScannedDetector):
    """Finds near duplicates among the documents whose digests score highest.

    The module of the fingerprint says what digest and score are. A candidate scores above
    `min_score`; those with the highest scores are handed to the check. The published threshold
    of 24 is a test for independence, which any two texts of one language fail; with a second
    check it costs time, without one every page of a site would be the same. Near duplicates
    (resemblance of at least 0.8) score 90 and more.

    Documents of fewer than 3 bytes and short ones are not for this detector. 40 bytes a document.

    Source: as `benchmarks.evaluation.fingerprints.nilsimsa`.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        min_score: int = 90,
        max_candidates: int = 64,
        stage: str = "nilsimsa",
    ) -> None:
        if not -128 <= min_score < 128:
            raise ValueError(f"min_score must be -128 to 127, got {min_score!r}")
        signer = NilsimsaSigner(stage, short_shingles=check.short_shingles)
        super().__init__(check, signer, words=DIGEST_BYTES // 8, max_candidates=max_candidates)
        self._min_score = min_score

    def _likeness(
        self, row: NDArray[np.uint64], rows: NDArray[np.uint64]
    ) -> NDArray[np.integer[Any]]:
        return np.maximum(nilsimsa_scores(row, rows) - self._min_score, 0)
