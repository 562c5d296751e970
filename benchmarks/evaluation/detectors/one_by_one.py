"""Signers of keys that work on one document after the other."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Portion
from dedup.detectors.signing import KeySigner
from dedup.document import Document


class OneByOneSigner(KeySigner):
    """Computes the keys of each document by itself."""

    @abstractmethod
    def keys_of(self, document: Document) -> NDArray[np.uint32]:
        """The keys of a document, each once; none: the stage does not look at it."""

    def compute_keys(self, portion: Portion) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        found = list(map(self.keys_of, portion.documents))
        counts = np.array(list(map(len, found)), np.int64)
        keys = np.zeros((len(found), int(counts.max(initial=0))), np.uint32)
        keys[np.arange(keys.shape[1]) < counts[:, np.newaxis]] = np.concatenate(found)
        return keys, counts
