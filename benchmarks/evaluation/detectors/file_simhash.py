"""Similar files of any format, by the bit patterns in them: for what has no text to compare."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.scanned import RowSigner, ScannedDetector
from benchmarks.evaluation.fingerprints.file_simhash import (
    TAGS,
    linear_keys,
    sum_table,
    sum_table_distances,
)
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document, Match

_MIN_COUNT = 64
"""Tags that must have been counted: those of some 130 bytes. Of less, a table says nothing."""


class FileSimhashSigner(RowSigner):
    """The sum table of a file, see `FileSimhashDetector`."""

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"tags": list(TAGS)}

    def compute_row(self, document: Document) -> NDArray[np.uint64] | None:
        data = document.body or document.text.encode(errors="surrogatepass")
        table = sum_table(data)
        return table.astype(np.uint64) if table.sum() >= _MIN_COUNT else None


class FileSimhashDetector(ScannedDetector):
    """Finds the file whose sum table differs least.

    The module of its fingerprint says what that is. A candidate's key, and then its sum table,
    differ by at most `max_distance`, a share of their sum. The file is the document's body, or its
    text where there is none.

    A document with text is a match if the check says so. For one without, neither the text nor, in
    general, the body of the original is at hand, so that the sum table decides, as published. Two
    different pictures can have the same one: this is for grouping files, not for dropping them,
    and no part of the default cascade. Files of fewer than some 130 bytes are not for it. 136
    bytes a document.

    Source: as `benchmarks.evaluation.fingerprints.file_simhash`.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        max_distance: float = 0.05,
        max_candidates: int = 64,
        stage: str = "file-simhash",
    ) -> None:
        signer = FileSimhashSigner(stage)
        super().__init__(check, signer, words=len(TAGS), max_candidates=max_candidates)
        self._max_distance = max_distance

    def find(self, document: Document) -> Match | None:
        row = self._signer.row(document)
        if row is None or document.text:
            return super().find(document)
        candidates = self._candidates(row)
        return Match(candidates[0], self.stage) if candidates else None

    def _likeness(
        self, row: NDArray[np.uint64], rows: NDArray[np.uint64]
    ) -> NDArray[np.floating[Any]]:
        table, tables = row.astype(np.int64), rows.astype(np.int64)
        keys, key = linear_keys(tables), int(linear_keys(table))
        near = np.flatnonzero(np.abs(keys - key) <= self._max_distance * (keys + key))
        likeness = np.zeros(len(rows))
        distances = sum_table_distances(table, tables[near])
        likeness[near] = np.where(distances <= self._max_distance, 1.0 - distances, 0.0)
        return likeness
