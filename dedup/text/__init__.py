"""From a text to what is compared: normal form, words, sentences, shingles, weighted features."""

from dedup.text.chinese_words import segments
from dedup.text.features import UNSPACED_FEATURES, UnspacedFeatures, features
from dedup.text.normal import is_traditional, is_unspaced, normalise, words
from dedup.text.sentences import longest_sentences, sentences
from dedup.text.shingles import shingle_hashes

__all__ = [
    "UNSPACED_FEATURES",
    "UnspacedFeatures",
    "features",
    "is_traditional",
    "is_unspaced",
    "longest_sentences",
    "normalise",
    "segments",
    "sentences",
    "shingle_hashes",
    "words",
]
