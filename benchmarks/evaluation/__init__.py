"""How good the detectors are: their answers against the exact truth of a labelled corpus."""

from benchmarks.evaluation.corpus import read_corpus, read_pairs
from benchmarks.evaluation.measure import CASCADE, Measurement, measure, methods
from benchmarks.evaluation.truth import LEAST_RESEMBLANCE, Truth, exact_truth

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
