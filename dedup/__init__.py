"""Finds duplicates and near duplicates among documents from anywhere; knows no Scrapy."""

from dedup.config import DedupConfig
from dedup.deduplicator import Deduplicator
from dedup.detectors import (
    BodyDetector,
    Detector,
    MinHashDetector,
    SecondCheck,
    SentencesDetector,
    SimhashDetector,
    TextDetector,
    default_detectors,
)
from dedup.document import Document, Match, Verdict
from dedup.errors import SchemeError, StateError
from dedup.frames import deduplicate
from dedup.resemblance import containment, resemblance
from dedup.store.memory import MemoryStore

__all__ = [
    "BodyDetector",
    "DedupConfig",
    "Deduplicator",
    "Detector",
    "Document",
    "Match",
    "MemoryStore",
    "MinHashDetector",
    "SchemeError",
    "SecondCheck",
    "SentencesDetector",
    "SimhashDetector",
    "StateError",
    "TextDetector",
    "Verdict",
    "containment",
    "deduplicate",
    "default_detectors",
    "resemblance",
]
