"""Equal texts, whatever their markup: the only rule for documents too short for fingerprints."""

from collections.abc import Mapping, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.detectors.keyed import LookupDetector
from dedup.detectors.proposals import Pairs, Proposals, counts_of
from dedup.detectors.second_check import SecondCheck, comparable_text
from dedup.detectors.signing import Signer
from dedup.document import Document, Match


class TextSigner(Signer):
    """The 64-bit XXH3 of the text as it is compared, after the document's key.

    Args:
        short_shingles: texts of fewer shingles are short, and compared with their titles.
    """

    unit = "texts"
    key_type = ">u4"
    key_bytes = 4

    def __init__(self, short_shingles: int) -> None:
        super().__init__("text")
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"digest": "xxh3-64", "shingles": 1, "short_shingles": self._short_shingles}

    def compute(self, portion: Portion) -> Signatures:
        return Signatures.of(list(map(self._digest, portion.documents)))

    def _digest(self, document: Document) -> bytes | None:
        key = document.key.encode(errors="surrogatepass")
        if len(document.shingles) >= self._short_shingles:  # equal texts have equal shingles
            shingles = document.shingles
            return xxhash.xxh3_64_digest(key + shingles.tobytes() if key else shingles.data)
        text = comparable_text(document, with_title=True)
        if text is None:
            return None
        return xxhash.xxh3_64_digest(key + text.encode(errors="surrogatepass"))


class TextDetector(LookupDetector[TextSigner]):
    """Finds the document with the same text, after normalisation and up to white space.

    Short documents must also have the same title, except for version numbers: it distinguishes
    pages that only say "Page not found" or "Sold out". Two pages of one host must have the same
    heading. An empty text equals nothing.
    """

    def __init__(self, check: SecondCheck, *, max_candidates: int = 64) -> None:
        super().__init__(TextSigner(check.short_shingles))
        self._check = check
        self._max_candidates = max_candidates

    def propose(
        self, batch: Batch, is_asked: NDArray[np.bool_], is_candidate: NDArray[np.bool_]
    ) -> Proposals:
        keys, owners = self._keys_of(batch)
        is_key_asked = is_asked[owners]
        limit = self._max_candidates
        indexed = Pairs.of(
            *self._index.find_many(keys[is_key_asked], owners[is_key_asked], at_most=limit)
        )
        is_open = counts_of([indexed], len(batch)) >= limit
        later, first = _firsts(keys[is_candidate[owners]], owners[is_candidate[owners]])
        is_copy = np.zeros(len(batch), np.bool_)
        is_copy[later] = is_asked[later]
        copies = Pairs.of(later[is_asked[later]], -1 - first[is_asked[later]])
        return Proposals(len(batch), [indexed, copies], is_open, is_copy)

    def find(self, document: Document) -> Match | None:
        keys = self.signer.keys(document)
        numbers, _ = self._index.find(keys, at_most=self._max_candidates)
        return self.choose(document, numbers.tolist(), ())

    def choose(
        self,
        document: Document,
        numbers: Sequence[int],
        distances: Sequence[int],  # noqa: ARG002 -- there are none
    ) -> Match | None:
        for number in numbers:
            original = self._check.original(number)
            if not self._check.is_equal(document, original):
                continue
            if not self._check.is_told_apart(document, number, original):
                return Match(number, self.stage, resemblance=1.0)
        return None


def _firsts(
    keys: NDArray[np.uint32], owners: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The owners whose key an earlier one has, and the first one that has it."""
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    firsts = owners[np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))]
    return owners[~is_first], firsts[~is_first]
