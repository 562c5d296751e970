"""Terms of a text, how rare they are, and its keywords: what the weights of simhash are made of."""

import logging
import warnings
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup.text.chinese_words import inverse_document_frequencies, usual_inverse_document_frequency
from dedup.text.codepoints import code_points, hash_pieces
from dedup.text.features import features

_JIEBA_CHARACTERS = 1 << 17
"""Of a longer text, keywords are those of its start: jieba takes 2 µs a character."""


def term_counts(
    normal_text: str, *, unspaced: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of the distinct terms of a text, ascending, and how often each occurs.

    Terms are words, or those of jieba's dictionary, of two characters or more, in an `unspaced`
    text.
    """
    return features(normal_text, unspaced=unspaced, unspaced_features="segments")


class DocumentFrequencies:
    """How rare terms are: their inverse document frequencies (IDF), natural logarithms.

    Args:
        terms: hashes as `term_counts` gives them, ascending, each once.
        values: the IDF of each.
        usual: the IDF of any other term.
    """

    def __init__(
        self, terms: NDArray[np.uint64], values: NDArray[np.float64], *, usual: float
    ) -> None:
        self._terms = terms
        self._values = values
        self._usual = usual

    @classmethod
    def count(cls, documents: Iterable[NDArray[np.uint64]]) -> "DocumentFrequencies":
        """Return the IDF of the terms of a corpus: the logarithm of (N + 1) / (documents + 1).

        A term that is in none of the N documents is as rare as can be: log (N + 1).

        >>> rare, frequent, unknown = np.uint64([1, 2, 3])
        >>> table = DocumentFrequencies.count([np.uint64([1, 2]), np.uint64([2]), np.uint64([2])])
        >>> table.idf(np.array([rare, frequent, unknown])).round(2).tolist()
        [0.69, 0.0, 1.39]
        """
        sets = list(documents)
        every = np.concatenate([np.empty(0, np.uint64), *sets])
        terms, counts = np.unique(every, return_counts=True)
        size = len(sets) + 1
        return cls(terms, np.log(size / (counts + 1)), usual=float(np.log(size)))

    def idf(self, terms: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the IDF of each term."""
        if not len(self._terms):
            return np.full(len(terms), self._usual)
        places = np.minimum(np.searchsorted(self._terms, terms), len(self._terms) - 1)
        return np.where(self._terms[places] == terms, self._values[places], self._usual)

    @cached_property
    def greatest(self) -> float:
        """The IDF of the rarest term."""
        return float(self._values.max(initial=self._usual))

    @cached_property
    def digest(self) -> str:
        """Tells tables apart: signatures made by two different ones cannot be compared."""
        values = np.append(self._values, self._usual).round(6)
        return xxhash.xxh3_64_hexdigest(self._terms.tobytes() + values.astype("<f8").tobytes())


@cache
def jieba_frequencies() -> DocumentFrequencies:
    """Return jieba's table for Chinese words; any other word is as rare as its median word."""
    table = inverse_document_frequencies()
    terms, places = np.unique(hash_each(list(table)), return_index=True)
    values = np.fromiter(table.values(), np.float64, len(table))
    return DocumentFrequencies(terms, values[places], usual=usual_inverse_document_frequency())


def jieba_keywords(normal_text: str, count: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the keywords of a Chinese text by `jieba.analyse.extract_tags`: hashes and weights.

    The `count` words of highest term frequency × IDF; fewer where the text has fewer. Words that
    are not in the dictionary are guessed by jieba's hidden Markov model.

    Source: fxsj/jieba, `analyse/tfidf.py`.
    """
    tags = _jieba_analyse().extract_tags(
        normal_text[:_JIEBA_CHARACTERS], topK=count, withWeight=True
    )
    weights = np.array([weight for _, weight in tags], np.float64)
    return hash_each([word for word, _ in tags]), weights


def hash_each(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hash of each word, the same as where it stands in a text."""
    ends = np.cumsum([len(word) for word in words], dtype=np.intp)
    starts = np.concatenate((np.zeros(1, np.intp), ends[:-1]))[: len(words)]
    return hash_pieces(code_points("".join(words)), starts, ends)


@cache
def _jieba_analyse() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and a deprecated import, in jieba itself
        import jieba
        import jieba.analyse
    jieba.setLogLevel(logging.WARNING)  # it reports the building of its dictionary otherwise
    return jieba.analyse
