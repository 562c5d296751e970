"""What detectors look at, computed for many documents at once.

A numpy call on the 400 words of one page costs as much as on 10,000 words. So documents in spaced
scripts are joined, in text_portions of some 60,000 characters, and cut apart again at the end. What
comes out is bit for bit what each document computes for itself.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dedup.document import Document
from dedup.text.character_kinds import character_kinds
from dedup.text.codepoints import (
    code_points,
    hash_windows,
    hash_words,
    joined,
    text_portions,
)
from dedup.text.shingles import WORDS_A_SHINGLE


def analyse(documents: Sequence[Document]) -> None:
    """Compute the shingles and the words of all documents that have spaces between words."""
    spaced = [document for document in documents if not document.is_unspaced]
    for portion in text_portions([document.normal_text for document in spaced]):
        _analyse(spaced[portion])


def _analyse(documents: list[Document]) -> None:
    text, text_starts = joined([document.normal_text for document in documents])
    codes = code_points(text)
    is_word = character_kinds(codes) != 0
    words = hash_words(codes, is_word)
    is_start = is_word.copy()
    is_start[1:] &= ~is_word[:-1]
    bounds = np.searchsorted(np.flatnonzero(is_start), text_starts)
    shingles, shingle_bounds = _windows(words, bounds)
    shingles, _, shingle_bounds = _distinct(shingles, shingle_bounds)
    words, counts, bounds = _distinct(words, bounds)
    of_shingles, of_words = pairwise(shingle_bounds.tolist()), pairwise(bounds.tolist())
    for document, (start, stop), (first, last) in zip(
        documents, of_shingles, of_words, strict=True
    ):
        document.take(shingles=shingles[start:stop], words=(words[first:last], counts[first:last]))


def _windows(
    words: NDArray[np.uint64], bounds: NDArray[np.intp]
) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """The shingles of each document, those left out that begin in one and end in another."""
    hashes = hash_windows(words, WORDS_A_SHINGLE)
    is_inside = np.ones(len(words), np.bool_)
    for back in range(1, WORDS_A_SHINGLE):
        crossing = bounds[1:] - back
        is_inside[crossing[crossing >= bounds[:-1]]] = False
    shingle_bounds = np.zeros_like(bounds)
    np.cumsum(np.maximum(np.diff(bounds) - WORDS_A_SHINGLE + 1, 0), out=shingle_bounds[1:])
    return hashes[is_inside[: len(hashes)]], shingle_bounds


def _distinct(
    values: NDArray[np.uint64], bounds: NDArray[np.intp]
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Of each part the distinct values, ascending, how often each occurs, and the new bounds."""
    values = values.copy()
    for start, stop in pairwise(bounds.tolist()):
        values[start:stop].sort()
    is_first = np.ones(len(values) + 1, np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:-1])
    is_first[bounds] = True
    places = np.flatnonzero(is_first)
    return values[places[:-1]], np.diff(places), np.searchsorted(places, bounds)
