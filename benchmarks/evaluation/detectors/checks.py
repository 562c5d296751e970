"""What may decide on candidates besides the second check: published methods as they were published.

Every detector proposes candidates and leaves the decision to a `SecondCheck`; with one of these the
same detector is another method.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.terms import DocumentFrequencies, term_counts
from dedup.detectors.base import Originals
from dedup.detectors.second_check import SecondCheck
from dedup.document import Document
from dedup.similarity import containment, resemblance
from dedup.text import normalise


def _not_fetched(number: int) -> Document:
    raise KeyError(number)


class Unverified(SecondCheck):
    """Takes the most promising candidate at its word, as most published methods do.

    For comparison: with it, what looks alike to a fingerprint is dropped, unique or not.
    """

    def __init__(self, *, short_shingles: int) -> None:
        super().__init__(_not_fetched, near_resemblance=1.0, short_shingles=short_shingles)

    def nearest(
        self,
        document: Document,  # noqa: ARG002 -- that of all checks
        numbers: Iterable[int],
    ) -> tuple[int, None] | None:
        for number in numbers:
            return number, None
        return None


class ContainmentCheck(SecondCheck):
    """Accepts an original that contains the document: what it adds itself is no matter.

    The containment of a document in an original is the share of its shingles that the original
    has too. Where it is at least `min_containment`, nothing is lost with the document, however
    much longer the original is; their resemblance may be far below that of near duplicates.

    Source: Broder, On the resemblance and containment of documents, SEQUENCES 1997.
    """

    def __init__(
        self, originals: Originals, *, min_containment: float, short_shingles: int
    ) -> None:
        super().__init__(originals, near_resemblance=min_containment, short_shingles=short_shingles)
        self._min_containment = min_containment

    def nearest(self, document: Document, numbers: Iterable[int]) -> tuple[int, float] | None:
        shares = [
            (-containment(document.shingles, self.original(number).shingles), number)
            for number in numbers
        ]
        if self.is_short(document) or not shares or -min(shares)[0] < self._min_containment:
            return None
        number = min(shares)[1]
        return number, resemblance(document.shingles, self.original(number).shingles)


class CosineCheck(SecondCheck):
    """Accepts an original whose term vector points the same way, for texts of any length.

    The vectors weigh the terms of title and text by frequency × IDF; their cosine must be at least
    `min_cosine`. In a text of ten words one other word changes three of eight shingles, but the
    cosine by a tenth or so: for short texts this is the finer measure. It ignores order.

    Source: Salton, Wong, Yang, A vector space model for automatic indexing, CACM 18(11), 1975.
    """

    def __init__(
        self, originals: Originals, frequencies: DocumentFrequencies, *, min_cosine: float
    ) -> None:
        super().__init__(originals, near_resemblance=min_cosine, short_shingles=0)
        self._frequencies = frequencies
        self._min_cosine = min_cosine

    def nearest(self, document: Document, numbers: Iterable[int]) -> tuple[int, None] | None:
        vector = self._vector(document)
        cosines = [
            (-cosine(vector, self._vector(self.original(number))), number) for number in numbers
        ]
        if not cosines or -min(cosines)[0] < self._min_cosine:
            return None
        return min(cosines)[1], None

    def _vector(self, document: Document) -> "Vector":
        text = document.normal_text
        if document.title:
            text = normalise(document.title) + "\n" + text
        terms, counts = term_counts(text, unspaced=document.is_unspaced)
        return terms, counts * self._frequencies.idf(terms)


Vector = tuple[NDArray[np.uint64], NDArray[np.float64]]


def cosine(first: Vector, second: Vector) -> float:
    """Return the cosine of two vectors, 0 to 1; 0 where one has no term.

    A vector is its terms, ascending, and the weight of each.

    >>> terms = np.uint64([1, 2])
    >>> cosine((terms, np.array([3.0, 4.0])), (terms[:1], np.array([7.0])))
    0.6
    """
    _, places, other_places = np.intersect1d(
        first[0], second[0], assume_unique=True, return_indices=True
    )
    product = float(first[1][places] @ second[1][other_places])
    squares = float(first[1] @ first[1]) * float(second[1] @ second[1])
    return min(1.0, product / squares**0.5) if squares else 0.0
