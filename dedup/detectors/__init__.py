"""Detectors: each finds, by one method, the earlier document that a document duplicates."""

from dedup.detectors.base import Detector, Originals
from dedup.detectors.body import BodyDetector
from dedup.detectors.cascade import (
    CASCADE,
    EXACT_STAGES,
    STAGES,
    default_detectors,
    default_signers,
)
from dedup.detectors.minhash import MinHashDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import SentencesDetector
from dedup.detectors.signing import Signer
from dedup.detectors.simhash import SimhashDetector
from dedup.detectors.text import TextDetector

__all__ = [
    "CASCADE",
    "EXACT_STAGES",
    "STAGES",
    "BodyDetector",
    "Detector",
    "MinHashDetector",
    "Originals",
    "SecondCheck",
    "SentencesDetector",
    "Signer",
    "SimhashDetector",
    "TextDetector",
    "default_detectors",
    "default_signers",
]
