"""Ways to weigh the features of a simhash, besides their frequency (`dedup.text.features`).

Each is called with a normal text and returns the hashes of its features and their weights. None
of them finds more near duplicates than plain frequencies do (the table is there); they are here
because published recipes use them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluation.terms import DocumentFrequencies, jieba_keywords, term_counts

WeightedFeatures = tuple[NDArray[np.uint64], NDArray[Any]]


class Weighting(Protocol):
    """Makes weighted features of a text."""

    @property
    def scheme(self) -> Mapping[str, object]:
        """What must be equal for two fingerprints to be comparable; plain JSON values."""

    def __call__(self, normal_text: str, *, unspaced: bool) -> WeightedFeatures:
        """Return the hashes of distinct features and the weight of each; a text may have none."""


@dataclass(frozen=True)
class TfIdf:
    """Every term weighs log (1 + its frequency) × its inverse document frequency."""

    frequencies: DocumentFrequencies

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"weights": "log tf x idf", "frequencies": self.frequencies.digest}

    def __call__(self, normal_text: str, *, unspaced: bool) -> WeightedFeatures:
        terms, counts = term_counts(normal_text, unspaced=unspaced)
        return terms, np.log1p(counts) * self.frequencies.idf(terms)


@dataclass(frozen=True)
class Keywords:
    """The `count` terms of highest frequency × IDF, by that.

    In an unspaced text they are those of `jieba.analyse.extract_tags`; `frequencies` are for the
    words of a spaced one. Of words equally heavy, those with the smaller hashes are taken.
    """

    frequencies: DocumentFrequencies
    count: int = 20

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count!r}")

    @property
    def scheme(self) -> Mapping[str, object]:
        return {"keywords": self.count, "frequencies": self.frequencies.digest}

    def __call__(self, normal_text: str, *, unspaced: bool) -> WeightedFeatures:
        if unspaced:
            return jieba_keywords(normal_text, self.count)
        terms, counts = term_counts(normal_text, unspaced=False)
        shares = counts / max(1, int(counts.sum()))
        weights = shares * self.frequencies.idf(terms)
        heaviest = np.argsort(-weights, kind="stable")[: self.count]
        return terms[heaviest], weights[heaviest]


@dataclass(frozen=True)
class Levels:
    """Keywords with whole weights from 1 to `levels`, in equal steps from lightest to heaviest.

    Small changes of frequency then change no weight. All weigh 1 where all are equally heavy.

    Source: the widely copied account of simhash whose keywords have weights of 1 to 5, among them
    CSDN(4) and 博客(5).
    """

    keywords: Keywords
    levels: int = 5

    def __post_init__(self) -> None:
        if self.levels < 1:
            raise ValueError(f"levels must be at least 1, got {self.levels!r}")

    @property
    def scheme(self) -> Mapping[str, object]:
        return {**self.keywords.scheme, "levels": self.levels}

    def __call__(self, normal_text: str, *, unspaced: bool) -> WeightedFeatures:
        terms, weights = self.keywords(normal_text, unspaced=unspaced)
        return terms, quantise(weights, self.levels)


def quantise(weights: NDArray[np.float64], levels: int) -> NDArray[np.int64]:
    """Return the level of each weight, 1 to `levels`.

    >>> quantise(np.array([1.0, 2.0, 3.0, 5.0, 11.0]), 5).tolist()
    [1, 1, 2, 3, 5]
    """
    if not len(weights):
        return np.empty(0, np.int64)
    least, width = weights.min(), np.ptp(weights)
    if not width:
        return np.ones(len(weights), np.int64)
    places = np.floor((weights - least) / width * levels).astype(np.int64)
    found: NDArray[np.int64] = np.minimum(places, levels - 1) + 1
    return found
