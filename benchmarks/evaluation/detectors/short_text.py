"""Short texts: the same keywords in the same order, then the cosine of their term vectors."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.keys import low_keys
from benchmarks.evaluation.detectors.one_by_one import OneByOneSigner
from benchmarks.evaluation.weighting import Keywords
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document
from dedup.fingerprints.simhash import simhash


class ShortTextSigner(OneByOneSigner):
    """The simhash of a text's first keywords, weighted by rank, see `ShortTextDetector`."""

    def __init__(self, stage: str, keywords: Keywords, *, max_length: int) -> None:
        super().__init__(stage)
        self._keywords = keywords
        self._max_length = max_length

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"bits": 32, "max_length": self._max_length, **self._keywords.scheme}

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        if len(document.normal_text) > self._max_length:
            return low_keys(np.empty(0, np.uint64))
        terms, _ = self._keywords(document.normal_text, unspaced=document.is_unspaced)
        ranks = np.arange(len(terms), 0, -1)
        fingerprints = [simhash(terms, ranks)] if len(terms) else []
        return low_keys(np.array(fingerprints, np.uint64))


class ShortTextDetector(KeyedDetector):
    """Finds the texts whose few heaviest keywords come in the same order of weight.

    Of a text of ten words one other word changes many of the 64 bits of a simhash, so that
    distances say nothing. Instead the simhash of the first keywords alone, weighted by rank, must
    be equal; a `CosineCheck` over all terms then decides. A text of the same keywords that differs
    in a particle, in punctuation or in the order of its words is found, where an exact comparison
    finds none and resemblance is low.

    Texts of more than `max_length` characters are not for this detector, nor are those
    without keywords: laws of one kind have the same five keywords, and particles enough for a
    cosine of 0.9. 8 bytes a document.

    Source: the usual remedy for simhash on short texts, which has no one paper; cosine of term
    vectors: see `CosineCheck`.
    """

    def __init__(
        self,
        check: SecondCheck,
        keywords: Keywords,
        *,
        max_length: int = 500,
        max_candidates: int = 64,
        stage: str = "short-text",
    ) -> None:
        signer = ShortTextSigner(stage, keywords, max_length=max_length)
        super().__init__(check, signer, max_candidates=max_candidates)
