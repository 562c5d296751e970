"""What a stage of the cascade keeps of a document, computed from the document alone.

A detector contains a signer, and looks up what it computes. Where nothing is to be looked up, the
signer is enough: in a process that reads pages, or on another machine.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document


class Signer(ABC):
    """Computes signatures; those that a document has from elsewhere are taken as they are.

    Args:
        stage: the name under which signatures are filed.
    """

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


class KeySigner(Signer):
    """Computes signatures that are a few 32-bit keys each, little-endian."""

    @abstractmethod
    def compute_keys(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document, each once; none: the stage does not look at it."""

    def compute_keys_of_many(self, documents: Sequence[Document]) -> list[NDArray[np.uint32]]:
        """The keys of many documents, in their order."""
        return list(map(self.compute_keys, documents))

    def compute(self, document: Document) -> bytes | None:
        return self.compute_keys(document).astype("<u4").tobytes() or None

    def compute_many(self, documents: Sequence[Document]) -> Sequence[bytes | None]:
        found = self.compute_keys_of_many(documents)
        return [each.astype("<u4").tobytes() or None for each in found]

    def keys(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document, which remembers them."""
        return keys_in(self.sign(document))


def keys_in(signature: bytes | None) -> NDArray[np.uint32]:
    """The 32-bit keys that a signature consists of."""
    return np.frombuffer(signature or b"", "<u4")
