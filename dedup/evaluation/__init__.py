"""How good the detectors are: their answers against the exact truth of a labelled corpus."""

from dedup.evaluation.corpus import read_corpus, read_pairs
from dedup.evaluation.measure import CASCADE, Measurement, measure, methods
from dedup.evaluation.truth import LEAST_RESEMBLANCE, Truth, exact_truth

__all__ = [
    "CASCADE",
    "LEAST_RESEMBLANCE",
    "Measurement",
    "Truth",
    "exact_truth",
    "measure",
    "methods",
    "read_corpus",
    "read_pairs",
]
