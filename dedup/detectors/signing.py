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

from dedup.batch import Portion, Signatures
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
    def compute(self, portion: Portion) -> Signatures:
        """The signatures of some documents; none for those that the stage does not look at."""

    @cached_property
    def key(self) -> str:
        """Under which documents remember the signature: stage and scheme."""
        return f"{self.stage} {json.dumps(self.scheme, sort_keys=True)}"

    def sign(self, document: Document) -> bytes | None:
        """The signature of a document, which remembers it."""
        if document.needs_rendering:
            return None
        if self.key not in document.signatures:
            document.signatures[self.key] = self.compute(Portion([document]))[0]
        return document.signatures[self.key]

    def keys(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document."""
        return self.keys_in(self.sign(document))

    def keys_in(self, signature: bytes | None) -> NDArray[np.uint32]:
        """The keys of a signature; no keys without a signature."""
        return np.frombuffer((signature or b"")[: self.key_bytes], self.key_type)

    def keys_of_many(self, signatures: Signatures) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The keys of many signatures, one after the other, and how many each has."""
        rows, lengths = signatures.rows, signatures.lengths
        if self.key_bytes is not None:
            rows, lengths = rows[:, : self.key_bytes], np.minimum(lengths, self.key_bytes)
        keys = np.ascontiguousarray(rows).view(self.key_type)
        counts = lengths // 4
        return keys[np.arange(keys.shape[1]) < counts[:, np.newaxis]], counts

    def keys_of_stored(self, signatures: Sequence[bytes]) -> tuple[NDArray[np.uint32], list[int]]:
        """The same of signatures as the store has them.

        Raises:
            ValueError: their lengths are none that signatures have.
        """
        parts = [each[: self.key_bytes] for each in signatures]
        return np.frombuffer(b"".join(parts), self.key_type), [len(each) // 4 for each in parts]

    def show(self, document: Document) -> Any:
        """The signature of a document as a person can read it; JSON values."""
        return (self.sign(document) or b"").hex()

    def why_unsigned(self, document: Document) -> str:
        """Why there is no signature of `document`."""
        if document.needs_rendering:
            return "it needs a browser to show its text"
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


def masks_of(portion: Portion) -> NDArray[np.uint64] | None:
    """`mask_of` each document, 64 bits; None: no document has a key."""
    if not portion.has_keys:
        return None
    return np.array([mask_of(document, 64) for document in portion.documents], np.uint64)


class KeySigner(Signer):
    """Computes signatures that are a few 32-bit keys each, little-endian.

    Attributes:
        shared: says how many keys of how many two documents share.
    """

    shared: ClassVar[str] = "{} of {} keys shared"

    @abstractmethod
    def compute_keys(self, portion: Portion) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The keys of documents, one document a row, and how many each has, from the left."""

    def compute(self, portion: Portion) -> Signatures:
        keys, counts = self.compute_keys(portion)
        masks = masks_of(portion)
        if masks is not None:
            keys = keys ^ masks.astype(np.uint32)[:, np.newaxis]
        return Signatures.of_keys(keys.astype("<u4", copy=False), counts)

    def show(self, document: Document) -> Any:
        return [f"{key:08x}" for key in self.keys(document).tolist()]

    def compare(self, first: bytes, second: bytes, _config: DedupConfig, /) -> tuple[bool, str]:
        keys = [set(self.keys_in(each).tolist()) for each in (first, second)]
        shared = len(keys[0] & keys[1])
        return shared > 0, self.shared.format(shared, max(map(len, keys)))
