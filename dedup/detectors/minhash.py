"""Near duplicates by MinHash bands: what a simhash within 3 bits does not see."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dedup.detectors.base import Check
from dedup.detectors.batch import shared_keys
from dedup.detectors.latest import Latest, as_keys
from dedup.document import Document, Match
from dedup.index.multimap import Multimap
from dedup.text.codepoints import mix

_DONORS = 64
"""Bins that an empty bin tries, one after the other, before it takes the first filled one."""


class MinHashDetector:
    """Finds near duplicates among the documents that share a band of minima.

    The range of the shingles' hashes is cut into `bands` times `rows` bins of equal width, and the
    smallest hash of each bin is a sample of the set: two documents have the same one with the
    probability of their resemblance. As the hashes are sorted already, it is found by one binary
    search. Bins without a shingle borrow from another bin, the same in every document. Each band
    of `rows` bins is hashed into one 32-bit key, and one shared key makes a candidate: with 11
    bands of 4, at resemblance 0.8 with probability 0.997, at 0.5 with 0.51, at 0.2 with 0.02.
    Those that share most keys come first; the second check decides.

    Short documents are not for this detector.

    Source: Li, Owen, Zhang, One permutation hashing, NIPS 2012; Shrivastava, Optimal densification
    for fast and accurate minwise hashing, ICML 2017; bands: Leskovec, Rajaraman, Ullman, Mining of
    massive datasets, section 3.4.
    """

    stage = "minhash"

    def __init__(
        self, check: Check, *, bands: int = 11, rows: int = 4, max_candidates: int = 64
    ) -> None:
        self._check = check
        self._bands = bands
        self._rows = rows
        self._max_candidates = max_candidates
        self._index = Multimap()
        self._keys = Latest(self._compute_keys, self.stage, as_keys)

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bands": self._bands,
            "rows": self._rows,
            "shingles": 1,
            "short_shingles": self._check.short_shingles,
        }

    @property
    def size_bytes(self) -> int:
        return self._index.size_bytes

    def signature(self, document: Document) -> bytes | None:
        return None if self._check.is_short(document) else self._keys(document).tobytes()

    def find(self, document: Document) -> Match | None:
        if self._check.is_short(document):
            return None
        numbers, _ = self._index.find(self._keys(document))
        nearest = self._check.nearest(document, numbers[: self._max_candidates].tolist())
        return nearest and Match(nearest[0], self.stage, resemblance=nearest[1])

    def add(self, document: Document, number: int) -> None:
        if not self._check.is_short(document):
            self._index.add(self._keys(document), number)

    def load(self, numbers: NDArray[np.int64], signatures: Sequence[bytes]) -> None:
        self._index.add_many(np.frombuffer(b"".join(signatures), "<u4"), numbers)

    def prepare(self, documents: Sequence[Document]) -> NDArray[np.bool_]:
        places = [i for i, each in enumerate(documents) if not self._check.is_short(each)]
        longer = [documents[place] for place in places]
        keys = self._keys.of_many(longer, self._compute_keys_of_many)
        every = np.concatenate([np.empty(0, "<u4"), *keys])
        owners = np.repeat(np.array(places, np.intp), self._bands)
        return shared_keys(self._index, every, owners, len(documents))

    def _compute_keys_of_many(self, documents: Sequence[Document]) -> list[NDArray[np.uint32]]:
        shingles = [document.shingles for document in documents]
        return list(band_keys_of_many(shingles, bands=self._bands, rows=self._rows))

    def _compute_keys(self, document: Document) -> NDArray[np.uint32]:
        return band_keys(document.shingles, bands=self._bands, rows=self._rows)


def band_keys(shingles: NDArray[np.uint64], *, bands: int, rows: int) -> NDArray[np.uint32]:
    """Return one key for each band, from the ascending hashes of a set that is not empty.

    Sets with resemblance r share the key of a given band with a probability of about r**rows.
    """
    minima = _bin_minima(shingles, bands * rows).reshape(bands, rows)
    # The sum is a new one for each order, and for each band, so that no two share their keys.
    sums = (minima * _factors(bands * rows).reshape(bands, rows)).sum(axis=1)
    return (mix(sums) >> np.uint64(32)).astype("<u4")


def band_keys_of_many(
    sets: Sequence[NDArray[np.uint64]], *, bands: int, rows: int
) -> NDArray[np.uint32]:
    """Return for each set, as a row, what `band_keys` returns."""
    n_bins = bands * rows
    shingles = np.concatenate([np.empty(0, np.uint64), *sets])
    owners = np.repeat(np.arange(len(sets)), np.fromiter(map(len, sets), np.intp, len(sets)))
    bins = np.searchsorted(_bin_starts(n_bins), shingles, side="right") - 1
    cells = owners * n_bins + bins
    is_first = np.ones(len(cells), np.bool_)
    np.not_equal(cells[1:], cells[:-1], out=is_first[1:])
    minima = np.zeros((len(sets), n_bins), np.uint64)
    is_filled = np.zeros((len(sets), n_bins), np.bool_)
    minima.ravel()[cells[is_first]] = shingles[is_first]
    is_filled.ravel()[cells[is_first]] = True
    in_row, empty = np.nonzero(~is_filled)
    if len(empty):
        donors = _donors(n_bins)[empty]
        offers = is_filled[in_row[:, np.newaxis], donors]
        taken = donors[np.arange(len(empty)), np.argmax(offers, axis=1)]
        first_filled = np.argmax(is_filled, axis=1)[in_row]
        taken = np.where(is_filled[in_row, taken], taken, first_filled)
        minima[in_row, empty] = minima[in_row, taken]
    factors = _factors(n_bins).reshape(bands, rows)
    sums = (minima.reshape(len(sets), bands, rows) * factors).sum(axis=2)
    return (mix(sums) >> np.uint64(32)).astype("<u4")


def _bin_minima(shingles: NDArray[np.uint64], n_bins: int) -> NDArray[np.uint64]:
    bounds = np.searchsorted(shingles, _bin_starts(n_bins))
    is_filled = np.concatenate((bounds[1:], [len(shingles)])) > bounds
    empty = np.flatnonzero(~is_filled)
    if len(empty):
        donors = _donors(n_bins)[empty]
        chosen = np.argmax(is_filled[donors], axis=1)
        taken = donors[np.arange(len(empty)), chosen]
        bounds[empty] = bounds[np.where(is_filled[taken], taken, np.argmax(is_filled))]
    return shingles[bounds]


@cache
def _bin_starts(n_bins: int) -> NDArray[np.uint64]:
    return np.array([(place << 64) // n_bins for place in range(n_bins)], np.uint64)


@cache
def _donors(n_bins: int) -> NDArray[np.int64]:
    """Return, for each bin, the bins that it borrows from: random ones, the same for all sets."""
    draws = _factors(n_bins * _DONORS) >> np.uint64(20)
    return (draws % np.uint64(n_bins)).astype(np.int64).reshape(n_bins, _DONORS)


@cache
def _factors(count: int) -> NDArray[np.uint64]:
    """Return fixed odd numbers that look random."""
    return mix(np.arange(1, count + 1, dtype=np.uint64) << np.uint64(32)) | np.uint64(1)
