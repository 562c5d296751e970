"""What detectors have in common that find signatures by 32-bit keys."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.detectors.base import IndexedDetector, SignerT
from dedup.detectors.proposals import Pairs, Proposals, counts_of, pairs_within
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import KeySigner
from dedup.document import Document, Match
from dedup.index.multimap import AT_MOST, Multimap


class LookupDetector(IndexedDetector[SignerT, Multimap]):
    """Indexes the keys of signatures; an entry of the index takes 8 bytes."""

    def __init__(self, signer: SignerT) -> None:
        super().__init__(signer, Multimap())

    def add(self, document: Document, number: int) -> None:
        self._index.add(self.signer.keys(document), number)

    def add_many(self, batch: Batch, places: NDArray[np.intp], numbers: NDArray[np.int64]) -> None:
        keys, counts = self.signer.keys_of_many(batch.signatures(self.signer).take(places))
        if len(keys):
            self._index.add_many(keys, np.repeat(numbers, counts))

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        keys, counts = self.signer.keys_of_stored(signatures)
        self._index.add_many(keys, np.repeat(numbers, counts))

    def _keys_of(self, batch: Batch) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """The keys of a batch, and the place of each key's document."""
        keys, counts = self.signer.keys_of_many(batch.signatures(self.signer))
        return keys, np.repeat(np.arange(len(batch)), counts)


class KeyedDetector(LookupDetector[KeySigner]):
    """Proposes the documents that share keys with a document; a check decides.

    Those that share most keys come first.

    Args:
        check: decides on the candidates.
        signer: computes the keys; its stage is the detector's.
        max_candidates: handed to the check, at most.
    """

    def __init__(self, check: SecondCheck, signer: KeySigner, *, max_candidates: int = 64) -> None:
        super().__init__(signer)
        self._check = check
        self._max_candidates = max_candidates
        self.limit_reached = 0
        """Documents that had more candidates than were compared."""

    def propose(
        self, batch: Batch, is_asked: NDArray[np.bool_], is_candidate: NDArray[np.bool_]
    ) -> Proposals:
        keys, owners = self._keys_of(batch)
        is_key_asked = is_asked[owners]
        parts = [*self._indexed(keys[is_key_asked], owners[is_key_asked])]
        crowded = np.empty(0, np.intp)
        if is_candidate.any():
            among = (is_asked | is_candidate)[owners]
            later, earlier, crowded = pairs_within(keys[among], owners[among])
            is_pair = is_asked[later] & is_candidate[earlier]
            parts.append(Pairs.of(later[is_pair], -1 - earlier[is_pair]))
        is_open = counts_of(parts, len(batch)) >= AT_MOST  # some were cut off
        is_open[crowded] = is_asked[crowded]
        left = [self._check.left_of(batch, part) for part in parts]
        is_open |= counts_of(left, len(batch)) > self._max_candidates
        return Proposals(len(batch), left, is_open)

    def _indexed(self, keys: NDArray[np.uint32], owners: NDArray[np.intp]) -> Iterator[Pairs]:
        """Yield the indexed documents that share a key with some documents, which ascend."""
        for start in range(0, int(owners[-1]) + 1 if len(owners) else 0, _DOCUMENTS_AT_ONCE):
            first, last = owners.searchsorted([start, start + _DOCUMENTS_AT_ONCE])
            order = np.argsort(keys[first:last]) + first  # what is near is in the cache
            yield Pairs.of(*self._index.find_many(keys[order], owners[order]))

    def choose(
        self,
        document: Document,
        numbers: Sequence[int],
        distances: Sequence[int],  # noqa: ARG002 -- there are none
    ) -> Match | None:
        nearest = self._check.nearest(document, numbers)
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def find(self, document: Document) -> Match | None:
        numbers = self._proposed(self.signer.keys(document))
        is_cut = len(numbers) >= AT_MOST
        numbers = self._check.promising(document, numbers)
        self.limit_reached += is_cut or len(numbers) > self._max_candidates
        return self.choose(document, numbers[: self._max_candidates].tolist(), ())

    def _proposed(self, keys: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the documents that share some of `keys`, those that share most first."""
        return self._index.find(keys)[0]


_DOCUMENTS_AT_ONCE = 256
"""Each may have a thousand candidates for each of its keys."""
