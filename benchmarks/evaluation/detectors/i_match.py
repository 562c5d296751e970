"""I-Match: one hash of the terms that are neither too frequent nor too rare."""

from collections.abc import Mapping

import numpy as np
import xxhash
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.keys import low_keys
from benchmarks.evaluation.detectors.one_by_one import OneByOneSigner
from benchmarks.evaluation.terms import DocumentFrequencies, term_counts
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document


class IMatchSigner(OneByOneSigner):
    """One hash of the distinct terms whose IDF is in a band, see `IMatchDetector`."""

    def __init__(
        self, stage: str, frequencies: DocumentFrequencies, *, min_idf: float, max_idf: float
    ) -> None:
        if not 0 <= min_idf <= max_idf:
            raise ValueError(f"min_idf must be 0 to max_idf, {max_idf!r}, got {min_idf!r}")
        super().__init__(stage)
        self._frequencies = frequencies
        self._min_idf = min_idf
        self._max_idf = max_idf

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "digest": "xxh3-32",
            "frequencies": self._frequencies.digest,
            "idf": [self._min_idf, self._max_idf],
        }

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        terms, _ = term_counts(document.normal_text, unspaced=document.is_unspaced)
        shares = self._frequencies.idf(terms) / (self._frequencies.greatest or 1.0)
        kept = terms[(shares >= self._min_idf) & (shares <= self._max_idf)]
        digests = [xxhash.xxh3_64_intdigest(kept.tobytes())] if len(kept) else []
        return low_keys(np.array(digests, np.uint64))


class IMatchDetector(KeyedDetector):
    """Finds the documents that have exactly the same terms in a band of IDF.

    The inverse document frequency of a term over the greatest of the table, 0 to 1, must be at
    least `min_idf` and at most `max_idf`: function words, names and misspellings do not
    count, nor does the order or the number of the others. The distinct terms left are hashed into
    one value. One such term more or less hides a near duplicate: of those with a resemblance of at
    least 0.8, 76% of English news are found and 15% of long Chinese laws, with frequencies counted
    in the collection; narrower bands find up to 90% and 43%, but four in ten wrong pairs among
    short forms. Two lists of the same words in another order are found.

    Documents without a term in the band are not for this detector. 8 bytes a document.

    Source: Chowdhury, Frieder, Grossman, McCabe, Collection statistics for fast duplicate document
    detection, ACM TOIS 20(2), 2002.
    """

    def __init__(
        self,
        check: SecondCheck,
        frequencies: DocumentFrequencies,
        *,
        min_idf: float = 0.3,
        max_idf: float = 0.9,
        max_candidates: int = 64,
        stage: str = "i-match",
    ) -> None:
        signer = IMatchSigner(stage, frequencies, min_idf=min_idf, max_idf=max_idf)
        super().__init__(check, signer, max_candidates=max_candidates)
