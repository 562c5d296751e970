"""What a stage of the cascade keeps of a document, computed from the document alone.

A detector contains a signer, and looks up what it computes. Where nothing is to be looked up, the
signer is enough: in a process that reads pages, or on another machine.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.config import DedupConfig
from dedup.document import Document


class Signer(ABC):
    """Computes signatures; those that a document has from elsewhere are taken as they are.

    Args:
        stage: the name under which signatures are filed.

    Attributes:
        unit: what signatures are made of.
        key_type: of the keys by which an index finds a signature: 32-bit integers.
        key_bytes: the bytes of a signature that are these keys, from its beginning; None: all.
    """

    unit: ClassVar[str] = "words"
    key_type: ClassVar[str] = "<u4"
    key_bytes: ClassVar[int | None] = None

    def __init__(self, stage: str) -> None:
        self.stage = stage

    @property
    @abstractmethod
    def scheme(self) -> Mapping[str, object]:
        """What must be equal for two signatures to be comparable; plain JSON values."""

    @abstractmethod
    def compute(self, document: Document) -> bytes | None:
        """The signature of a document; None: the stage does not look at it."""

    def compute_many(self, documents: Sequence[Document]) -> Sequence[bytes | None]:
        """The signatures of many documents, in their order."""
        return list(map(self.compute, documents))

    @cached_property
    def key(self) -> str:
        """Under which documents remember the signature: stage and scheme."""
        return f"{self.stage} {json.dumps(self.scheme, sort_keys=True)}"

    def sign(self, document: Document) -> bytes | None:
        """The signature of a document, which remembers it."""
        if self.key not in document.signatures:
            document.signatures[self.key] = self.compute(document)
        return document.signatures[self.key]

    def sign_many(self, documents: Sequence[Document]) -> list[bytes | None]:
        """The signatures of many documents, several times as fast as one by one."""
        missing = [each for each in documents if self.key not in each.signatures]
        for document, signature in zip(missing, self.compute_many(missing), strict=True):
            document.signatures[self.key] = signature
        return [each.signatures[self.key] for each in documents]

    def keys(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document."""
        return self.keys_in(self.sign(document))

    def keys_in(self, signature: bytes | None) -> NDArray[np.uint32]:
        """The keys of a signature; no keys without a signature."""
        return np.frombuffer((signature or b"")[: self.key_bytes], self.key_type)

    def keys_of_many(
        self, signatures: Sequence[bytes | None]
    ) -> tuple[NDArray[np.uint32], list[int]]:
        """The keys of many signatures, one after the other, and how many each has."""
        parts = [(each or b"")[: self.key_bytes] for each in signatures]
        return np.frombuffer(b"".join(parts), self.key_type), [len(each) // 4 for each in parts]

    def show(self, document: Document) -> Any:
        """The signature of a document as a person can read it; JSON values."""
        return (self.sign(document) or b"").hex()

    def why_unsigned(self, document: Document) -> str:
        """Why there is no signature of `document`."""
        if not document.text.strip():
            return "it has no text"
        size, short = len(document.shingles), self.scheme.get("short_shingles", 0)
        if isinstance(short, int) and size < short:
            return f"{size} shingles, fewer than {short}: too short for a fingerprint"
        return f"it has no {self.unit}"

    def compare(self, first: bytes, second: bytes, _config: DedupConfig, /) -> tuple[bool, str]:
        """Does one signature make the other's document a candidate? And why, in words."""
        is_same = first == second
        return is_same, f"the {self.unit} {'are the same' if is_same else 'differ'}"


def mask_of(document: Document, n_bits: int) -> int:
    """What signatures are mixed with, by `Document.key`; 0: the document has none.

    Signatures of one key differ in the same bits as without; those of two keys are as of any two
    documents. So what is looked up is found among the documents of one key, however many others
    have the same text.
    """
    if not document.key:
        return 0
    digest = xxhash.xxh3_128_intdigest(document.key.encode(errors="surrogatepass"))
    return digest & ((1 << n_bits) - 1)


class KeySigner(Signer):
    """Computes signatures that are a few 32-bit keys each, little-endian.

    Attributes:
        shared: says how many keys of how many two documents share.
    """

    shared: ClassVar[str] = "{} of {} keys shared"

    @abstractmethod
    def compute_keys(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document, each once; none: the stage does not look at it."""

    def compute_keys_of_many(self, documents: Sequence[Document]) -> list[NDArray[np.uint32]]:
        """The keys of many documents, in their order."""
        return list(map(self.compute_keys, documents))

    def compute(self, document: Document) -> bytes | None:
        return _packed(document, self.compute_keys(document))

    def compute_many(self, documents: Sequence[Document]) -> Sequence[bytes | None]:
        return list(map(_packed, documents, self.compute_keys_of_many(documents)))

    def show(self, document: Document) -> Any:
        return [f"{key:08x}" for key in self.keys(document).tolist()]

    def compare(self, first: bytes, second: bytes, _config: DedupConfig, /) -> tuple[bool, str]:
        keys = [set(self.keys_in(each).tolist()) for each in (first, second)]
        shared = len(keys[0] & keys[1])
        return shared > 0, self.shared.format(shared, max(map(len, keys)))


def _packed(document: Document, keys: NDArray[np.uint32]) -> bytes | None:
    if document.key:
        keys = keys ^ np.uint32(mask_of(document, 32))
    return keys.astype("<u4").tobytes() or None
