"""Baidu's method with more in common than the default cascade asks for."""

from collections.abc import Mapping

import numpy as np
import xxhash
from numpy.typing import NDArray

from benchmarks.evaluation.detectors.keys import low_keys
from benchmarks.evaluation.detectors.one_by_one import OneByOneSigner
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import SentencesDetector
from dedup.document import Document
from dedup.text import longest_sentences


class SharedSentencesDetector(SentencesDetector):
    """Finds near duplicates among the documents that share `min_shared` long sentences.

    All of them, of a text with fewer.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        min_shared: int,
        sentences_count: int = 3,
        max_candidates: int = 64,
        stage: str = "sentences-2",
    ) -> None:
        if not 1 <= min_shared <= sentences_count:
            raise ValueError(
                f"min_shared must be 1 to sentences_count, {sentences_count!r}, got {min_shared!r}"
            )
        super().__init__(
            check, sentences_count=sentences_count, max_candidates=max_candidates, stage=stage
        )
        self._min_shared = min_shared

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        numbers, shared = self._index.find(keys)
        return numbers[shared >= min(self._min_shared, len(keys))]


class JoinedSentencesSigner(OneByOneSigner):
    """One hash of the longest sentences together, 32 bits of XXH3.

    Args:
        sentences_count: how many sentences count.
    """

    def __init__(self, sentences_count: int, stage: str = "sentences-joined") -> None:
        super().__init__(stage)
        self._sentences_count = sentences_count

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "digest": "xxh3-32-joined",
            "sentences": 1,
            "sentences_count": self._sentences_count,
        }

    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        longest = longest_sentences(document.normal_text, self._sentences_count)
        # A sentence has no line end, so that no two lists give the same joined text.
        joined = "\n".join(longest).encode(errors="surrogatepass")
        digests = [xxhash.xxh3_64_intdigest(joined)] if longest else []
        return low_keys(np.array(digests, np.uint64))


class JoinedSentencesDetector(KeyedDetector):
    """Finds near duplicates among the documents that share all of their longest sentences.

    The method as it is told: the longest sentences, joined, give one hash. 8 bytes a document, and
    one edit in any of the sentences hides it.

    Source: as `SentencesDetector`.
    """

    def __init__(
        self,
        check: SecondCheck,
        *,
        sentences_count: int = 3,
        max_candidates: int = 64,
        stage: str = "sentences-joined",
    ) -> None:
        signer = JoinedSentencesSigner(sentences_count, stage)
        super().__init__(check, signer, max_candidates=max_candidates)
