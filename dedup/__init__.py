"""Finds duplicates and near duplicates among documents from anywhere; knows no Scrapy.

A name is imported when it is first asked for, so that a command that only prints its help, or an
add-on that is switched off, does not load numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from dedup.similarity import containment, resemblance
    from dedup.store.memory import MemoryStore

_MODULES = {
    "BodyDetector": "detectors",
    "DedupConfig": "config",
    "Deduplicator": "deduplicator",
    "Detector": "detectors",
    "Document": "document",
    "Match": "document",
    "MemoryStore": "store.memory",
    "MinHashDetector": "detectors",
    "SchemeError": "errors",
    "SecondCheck": "detectors",
    "SentencesDetector": "detectors",
    "SimhashDetector": "detectors",
    "StateError": "errors",
    "TextDetector": "detectors",
    "Verdict": "document",
    "containment": "similarity",
    "deduplicate": "frames",
    "default_detectors": "detectors",
    "resemblance": "similarity",
}
"""Where each public name is defined, below this package."""

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


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
