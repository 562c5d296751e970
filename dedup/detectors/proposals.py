"""What a stage proposes for a batch: candidates, found by array operations for all at once."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup.text.shingles import count_distinct

_MOST_SHARING = 256
"""Documents of a batch that share a key and are paired. Their pairs grow with the square; each
further one is looked up by itself."""

_OWNER = 0xFFFF_FFFF
"""The half of a 64-bit integer that holds an owner."""


class Pairs(NamedTuple):
    """Documents of a batch with earlier documents.

    Attributes:
        places: of the documents in the batch.
        numbers: of documents in the index; or, below 0, `-1 - place` of one earlier in the batch.
        distances: of their fingerprints in bits; 0 where the stage has none.
    """

    places: NDArray[np.intp]
    numbers: NDArray[np.int64]
    distances: NDArray[np.int64]

    @classmethod
    def of(cls, places: NDArray[np.intp], numbers: NDArray[np.int64]) -> "Pairs":
        """Pairs without distances."""
        return cls(places, numbers, np.zeros(len(places), np.int64))

    def take(self, which: NDArray[Any]) -> "Pairs":
        """Some of the pairs, by a mask or by their places."""
        return Pairs(*(column[which] for column in self))


NO_PAIRS = Pairs.of(np.empty(0, np.intp), np.empty(0, np.int64))


def counts_of(parts: Iterable[Pairs], count: int) -> NDArray[np.intp]:
    """How many candidates each of `count` documents has."""
    empty = np.zeros(count, np.intp)
    return sum((np.bincount(part.places, minlength=count) for part in parts), empty)


class Proposals:
    """The candidates of a batch's documents in one stage.

    Args:
        count: documents of the batch.
        pairs: with documents of the index, and of the batch.
        is_open: which documents have so many candidates, or such ones, that the detector has to be
            asked about them one by one, when those before them are indexed.
        is_copy: which documents are surely no candidates of later ones, as long as the document
            stays that they are paired with.

    Attributes:
        has_any: which documents have candidates.
    """

    def __init__(
        self,
        count: int,
        pairs: Sequence[Pairs] = (),
        is_open: NDArray[np.bool_] | None = None,
        is_copy: NDArray[np.bool_] | None = None,
    ) -> None:
        self.is_open = np.zeros(count, np.bool_) if is_open is None else is_open
        self.is_copy = np.zeros(count, np.bool_) if is_copy is None else is_copy
        joined = Pairs(*map(np.concatenate, zip(NO_PAIRS, *pairs, strict=True)))
        joined = joined.take(~self.is_open[joined.places])
        places, numbers, distances = joined.take(np.argsort(joined.places, kind="stable"))
        bounds = np.searchsorted(places, np.arange(count + 1))
        self.has_any = self.is_open | (np.diff(bounds) > 0)
        self.are_open: list[bool] = self.is_open.tolist()
        self._bounds: list[int] = bounds.tolist()
        self._numbers: list[int] = numbers.tolist()
        self._distances: list[int] = distances.tolist()

    def of(self, place: int) -> tuple[list[int], list[int]]:
        """The numbers of a document's candidates, as in `Pairs`, and their distances."""
        part = slice(self._bounds[place], self._bounds[place + 1])
        return self._numbers[part], self._distances[part]


def pairs_within(
    keys: NDArray[np.uint32], owners: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The pairs of owners that share a key, later and earlier one, each pair once.

    Also the owners, some of them more than once, that share a key with too many to be paired.

    Args:
        keys: of the owners.
        owners: of the keys, ascending.
    """
    # The keys are below 2^32, so one sort orders both, in a tenth of a stable `argsort`'s time.
    entries = np.sort(keys.astype(np.uint64) << np.uint64(32) | owners.view(np.uint64))
    keys, owners = (entries >> np.uint64(32)).astype(np.uint32), entries.view(np.int64) & _OWNER
    is_first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    begins = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    ranks = np.arange(len(keys)) - begins
    is_paired = (ranks > 0) & (ranks < _MOST_SHARING)
    places = np.flatnonzero(is_paired)
    counts = ranks[places]
    later = np.repeat(owners[places], counts)
    steps = np.arange(len(later)) - np.repeat(np.cumsum(counts) - counts, counts)
    earlier = owners[np.repeat(begins[places], counts) + steps]
    pairs = (later << 32 | earlier)[later > earlier].view(np.uint64)
    pairs = count_distinct(pairs)[0].view(np.int64)
    return pairs >> 32, pairs & _OWNER, owners[ranks >= _MOST_SHARING]
