"""Near duplicates by MinHash bands: what a simhash within 3 bits does not see."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Portion
from dedup.detectors.keyed import KeyedDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.signing import KeySigner
from dedup.text.codepoints import mix

_DONORS = 64
"""Bins that an empty bin tries, one after the other, before it takes the first filled one."""


class MinHashSigner(KeySigner):
    """One key for each band of minima, see `MinHashDetector`.

    Args:
        short_shingles: documents of fewer shingles have no signature.
    """

    shared = "{} of {} bands agree"

    def __init__(self, *, bands: int, rows: int, short_shingles: int) -> None:
        super().__init__("minhash")
        self._bands = bands
        self._rows = rows
        self._short_shingles = short_shingles

    @property
    def scheme(self) -> Mapping[str, object]:
        return {
            "bands": self._bands,
            "rows": self._rows,
            "shingles": 1,
            "short_shingles": self._short_shingles,
        }

    def compute_keys(self, portion: Portion) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        is_long = portion.sizes >= max(self._short_shingles, 1)
        keys = band_keys(
            portion.shingles,
            portion.owners,
            len(portion),
            bands=self._bands,
            rows=self._rows,
            is_asked=is_long,
        )
        return keys, np.where(is_long, self._bands, 0)


class MinHashDetector(KeyedDetector):
    """Finds near duplicates among the documents that share a band of minima.

    The range of the shingles' hashes is cut into `bands` times `rows` bins of equal width, and the
    smallest hash of each bin is a sample of the set: two documents have the same one with the
    probability of their resemblance. Bins without a shingle borrow from another bin, the same in
    every document. Each band of `rows` bins is hashed into one 32-bit key, and one shared key makes
    a candidate: with 11 bands of 4, at resemblance 0.8 with probability 0.997, at 0.5 with 0.51,
    at 0.2 with 0.02. Those that share most keys come first; the second check decides.

    Short documents are not for this detector.

    Source: Li, Owen, Zhang, One permutation hashing, NIPS 2012; Shrivastava, Optimal densification
    for fast and accurate minwise hashing, ICML 2017; bands: Leskovec, Rajaraman, Ullman, Mining of
    massive datasets, section 3.4.
    """

    def __init__(
        self, check: SecondCheck, *, bands: int = 11, rows: int = 4, max_candidates: int = 64
    ) -> None:
        signer = MinHashSigner(bands=bands, rows=rows, short_shingles=check.short_shingles)
        super().__init__(check, signer, max_candidates=max_candidates)


def band_keys(
    shingles: NDArray[np.uint64],
    owners: NDArray[np.intp],
    count: int,
    *,
    bands: int,
    rows: int,
    is_asked: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint32]:
    """Return one key for each band of some sets; shape (count, bands).

    Sets with resemblance r share the key of a given band with a probability of about r**rows. The
    keys of an empty set say nothing.

    Args:
        shingles: the ascending hashes of the sets, one set after the other.
        owners: the set of each hash, ascending.
        count: of the sets.
        bands: how many.
        rows: minima of a band.
        is_asked: the keys of other sets say nothing; None: all are asked for. Of a set with fewer
            shingles than bins, most donors of a bin are empty, too, and it takes long to find one.
    """
    n_bins = bands * rows
    cells = _bins(shingles, n_bins)
    cells += owners * n_bins
    is_first = np.ones(len(cells), np.bool_)
    np.not_equal(cells[1:], cells[:-1], out=is_first[1:])
    places = np.flatnonzero(is_first)
    filled = cells[places]
    minima = np.zeros((count, n_bins), np.uint64)
    is_filled = np.zeros((count, n_bins), np.bool_)
    minima.ravel()[filled] = shingles[places]
    is_filled.ravel()[filled] = True
    is_empty = ~is_filled if is_asked is None else ~is_filled & is_asked[:, np.newaxis]
    in_row, empty = np.nonzero(is_empty)
    if len(empty):
        minima[in_row, empty] = minima[in_row, _taken(is_filled, in_row, empty)]
    # The sum is a new one for each order, and for each band, so that no two share their keys.
    factors = _factors(n_bins).reshape(bands, rows)
    sums = (minima.reshape(count, bands, rows) * factors).sum(axis=2)
    return (mix(sums) >> _HALF).astype(np.uint32)


def _taken(
    is_filled: NDArray[np.bool_], in_row: NDArray[np.intp], empty: NDArray[np.intp]
) -> NDArray[np.intp]:
    """From which bin of its row each empty bin borrows.

    The first donor that is filled; hardly any bin asks more than a few of them.
    """
    first_filled = np.argmax(is_filled, axis=1)  # taken where no donor is filled
    taken: NDArray[np.intp] = first_filled[in_row]
    donors = _donors(is_filled.shape[1])
    left = np.arange(len(empty))
    for turn in range(_DONORS):
        offered = donors[empty[left], turn]
        is_taken = is_filled[in_row[left], offered]
        taken[left[is_taken]] = offered[is_taken]
        left = left[~is_taken]
        if not len(left):
            break
    return taken


def _bins(hashes: NDArray[np.uint64], n_bins: int) -> NDArray[np.int64]:
    """The bin of each hash: the upper 64 bits of `n_bins * hash + n_bins - 1`.

    Bin `i` begins at `floor(i * 2^64 / n_bins)`, of which this is the inverse. The lower half of a
    hash hardly ever counts: only where it carries into the upper half.
    """
    factor = np.uint64(n_bins)
    bins = hashes >> _HALF
    bins *= factor
    if int((bins & _LOW_HALF).max(initial=0)) + n_bins > int(_LOW_HALF):
        bins += ((hashes & _LOW_HALF) * factor + (factor - np.uint64(1))) >> _HALF
    bins >>= _HALF
    return bins.view(np.int64)


_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFF_FFFF)


@cache
def _donors(n_bins: int) -> NDArray[np.int64]:
    """Return, for each bin, the bins that it borrows from: random ones, the same for all sets."""
    draws = _factors(n_bins * _DONORS) >> np.uint64(20)
    return (draws % np.uint64(n_bins)).astype(np.int64).reshape(n_bins, _DONORS)


@cache
def _factors(count: int) -> NDArray[np.uint64]:
    """Return fixed odd numbers that look random."""
    return mix(np.arange(1, count + 1, dtype=np.uint64) << np.uint64(32)) | np.uint64(1)
