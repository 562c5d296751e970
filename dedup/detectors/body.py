"""Exact copies: the same bytes under another URL."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.batch import Batch, Portion, Signatures
from dedup.detectors.base import Originals
from dedup.detectors.keyed import LookupDetector
from dedup.detectors.proposals import Proposals
from dedup.detectors.signing import Signer
from dedup.document import Document, Match


class BodySigner(Signer):
    """The 128-bit XXH3 of the body, after the document's key.

    Of the digest, 64 bits are indexed, as two keys: 16 bytes a document.
    """

    unit = "bytes"
    key_bytes = 8

    def __init__(self) -> None:
        super().__init__("body")

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"digest": "xxh3-128"}

    def compute(self, portion: Portion) -> Signatures:
        if all(document.body is None for document in portion.documents):
            return Signatures.none(len(portion))
        return Signatures.of(list(map(_digest, portion.documents)))

    def why_unsigned(self, document: Document) -> str:
        return "its body was not kept" if document.body is None else "its body is empty"


class BodyDetector(LookupDetector[BodySigner]):
    """Finds the document with the same body.

    The signature is the 128-bit XXH3 of the body. A candidate shares 64 bits of it. Its body must
    be equal, byte by byte; where the store does not keep bodies, its text must be.
    Documents without a body, or with one of no bytes, are not for this detector.

    Args:
        originals: fetches a candidate.
        bodies: fetches its body; None, or where that gives None: it was not kept.
        max_candidates: that are compared, at most.
    """

    def __init__(
        self,
        originals: Originals,
        *,
        bodies: Callable[[int], bytes | None] | None = None,
        max_candidates: int = 64,
    ) -> None:
        super().__init__(BodySigner())
        self._originals = originals
        self._bodies = bodies
        self._max_candidates = max_candidates

    def propose(
        self, batch: Batch, is_asked: NDArray[np.bool_], is_candidate: NDArray[np.bool_]
    ) -> Proposals:
        keys, owners = self._keys_of(batch)
        is_open = np.zeros(len(batch), np.bool_)
        is_open[owners[self._index.contains(keys)]] = True
        among = is_candidate[owners]
        order = np.argsort(keys[among], kind="stable")
        keys, places = keys[among][order], owners[among][order]
        is_open[places[1:][keys[1:] == keys[:-1]]] = True
        return Proposals(len(batch), is_open=is_open & is_asked)

    def choose(
        self, document: Document, numbers: Sequence[int], distances: Sequence[int]
    ) -> Match | None:
        raise NotImplementedError("documents with equal bodies are looked up one by one")

    def find(self, document: Document) -> Match | None:
        keys = self.signer.keys(document)
        numbers, shared = self._index.find(keys, at_most=self._max_candidates)
        for number in numbers[shared >= len(keys)].tolist():  # more: of a page that was signed anew
            if self._is_copy(document, number):
                return Match(number, self.stage, resemblance=1.0)
        return None

    def _is_copy(self, document: Document, number: int) -> bool:
        if document.key and document.key != self._originals(number).key:
            return False
        body = None if self._bodies is None else self._bodies(number)
        if body is not None:
            return document.body == body
        original = self._originals(number)
        is_body_kept = original.body is not None
        return document.text == original.text and (
            not is_body_kept or document.body == original.body
        )


def _digest(document: Document) -> bytes | None:
    if not document.body:
        return None
    key = document.key.encode(errors="surrogatepass")
    return xxhash.xxh3_128_digest(key + document.body if key else document.body)
