"""Exact copies: the same bytes under another URL."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.detectors.base import IndexedDetector, Originals
from dedup.detectors.batch import shared_keys
from dedup.detectors.signing import Signer, keys_in
from dedup.document import Document, Match
from dedup.index.multimap import Multimap

_KEYS = 2
"""Of the digest, 64 bits are indexed, as two keys: 16 bytes a document."""


class BodySigner(Signer):
    """The 128-bit XXH3 of the body, after the document's key."""

    unit = "bytes"

    def __init__(self) -> None:
        super().__init__("body")

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"digest": "xxh3-128"}

    def compute(self, document: Document) -> bytes | None:
        if not document.body:
            return None
        key = document.key.encode(errors="surrogatepass")
        return xxhash.xxh3_128_digest(key + document.body if key else document.body)

    def why_unsigned(self, document: Document) -> str:
        return "its body was not kept" if document.body is None else "its body is empty"


class BodyDetector(IndexedDetector[BodySigner, Multimap]):
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
        super().__init__(BodySigner(), Multimap())
        self._originals = originals
        self._bodies = bodies
        self._max_candidates = max_candidates

    def may_match(
        self,
        documents: Sequence[Document],
        among: NDArray[np.bool_],  # noqa: ARG002 -- to tell of all costs little
    ) -> NDArray[np.bool_]:
        signatures = self._signer.sign_many(documents)
        owners = np.array([i for i, each in enumerate(signatures) if each is not None], np.intp)
        digests = np.frombuffer(b"".join(filter(None, signatures)), "<u4").reshape(-1, 4)
        keys = digests[:, :_KEYS].ravel()
        return shared_keys(self._index, keys, np.repeat(owners, _KEYS), len(documents))

    def find(self, document: Document) -> Match | None:
        signature = self.signature(document)
        if signature is None:
            return None
        numbers, shared = self._index.find(_keys(signature), at_most=self._max_candidates)
        for number in numbers[shared >= _KEYS].tolist():  # more: of a page that was signed anew
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

    def add(self, document: Document, number: int) -> None:
        signature = self.signature(document)
        if signature is not None:
            self._index.add(_keys(signature), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        digests = np.frombuffer(b"".join(signatures), "<u4").reshape(len(numbers), -1)
        self._index.add_many(digests[:, :_KEYS], numbers)


def _keys(signature: bytes) -> NDArray[np.uint32]:
    return keys_in(signature)[:_KEYS]
