"""Keys of documents, kept with their signatures: see `Document.key`."""

from collections.abc import Mapping, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.detectors.keyed import LookupDetector
from dedup.detectors.proposals import Proposals
from dedup.detectors.second_check import comparable_text
from dedup.detectors.signing import Signer
from dedup.document import Document, Match
from dedup.store.records import KEY_OFFSET, KEY_STAGE

_NO_TEXT = bytes(KEY_OFFSET)


class _KeyRecordSigner(Signer):
    """A digest of the text, 8 bytes, and the key; None: there is no key."""

    key_bytes = 4

    def __init__(self) -> None:
        super().__init__(KEY_STAGE)

    @property
    def scheme(self) -> Mapping[str, object]:
        return {}

    def compute(self, portion: Portion) -> Signatures:
        return Signatures.of(list(map(_record, portion.documents)))


class KeyRecord(LookupDetector[Signer]):
    """Has the store keep the key of each document among its signatures; finds no duplicates.

    It also knows which document was the first with a text, whatever its key: 8 bytes of memory for
    each document that has a key.
    """

    def __init__(self) -> None:
        super().__init__(_KeyRecordSigner())

    def propose(
        self,
        batch: Batch,
        is_asked: NDArray[np.bool_],  # noqa: ARG002 -- no document has a candidate
        is_candidate: NDArray[np.bool_],  # noqa: ARG002
    ) -> Proposals:
        return Proposals(len(batch))

    def choose(
        self, document: Document, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        raise NotImplementedError("it proposes no candidates")

    def find(self, document: Document) -> Match | None:  # noqa: ARG002 -- it never does
        return None

    def first_of_text(self, document: Document) -> int | None:
        """The number of the first document that has a key and probably the same text, or None."""
        digest = _text_digest(document)
        numbers, _ = self._index.find(self.signer.keys_in(digest), at_most=1)
        return int(numbers[0]) if len(numbers) and digest != _NO_TEXT else None


def _record(document: Document) -> bytes | None:
    if not document.key:
        return None
    return _text_digest(document) + document.key.encode(errors="surrogatepass")


def _text_digest(document: Document) -> bytes:
    if len(document.shingles):  # equal texts have equal shingles
        return xxhash.xxh3_64_digest(document.shingles.tobytes())
    text = comparable_text(document, with_title=False)
    return _NO_TEXT if text is None else xxhash.xxh3_64_digest(text.encode(errors="surrogatepass"))
