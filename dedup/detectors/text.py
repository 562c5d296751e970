"""Equal texts, whatever their markup: the only rule for documents too short for fingerprints."""

from collections.abc import Mapping

import xxhash

from dedup.detectors.keyed import LookupDetector
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

    def compute(self, document: Document) -> bytes | None:
        key = document.key.encode(errors="surrogatepass")
        if len(document.shingles) >= self._short_shingles:  # equal texts have equal shingles
            return xxhash.xxh3_64_digest(key + document.shingles.tobytes())
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

    def find(self, document: Document) -> Match | None:
        keys = self.signer.keys(document)
        numbers, _ = self._index.find(keys, at_most=self._max_candidates)
        for number in numbers.tolist():
            original = self._check.original(number)
            if not self._check.is_equal(document, original):
                continue
            if not self._check.is_told_apart(document, number, original):
                return Match(number, self.stage, resemblance=1.0)
        return None
