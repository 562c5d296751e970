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
    from dedup.errors import CrawlError, SchemeError, StateError
    from dedup.frames import deduplicate
    from dedup.jobs.crawling import crawl
    from dedup.jobs.job import Job, open_job
    from dedup.similarity import containment, resemblance
    from dedup.store.memory import MemoryStore

_MODULES = {
    "BodyDetector": "detectors",
    "CrawlError": "errors",
    "DedupConfig": "config",
    "Deduplicator": "deduplicator",
    "Detector": "detectors",
    "Document": "document",
    "Job": "jobs.job",
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
    "crawl": "jobs.crawling",
    "deduplicate": "frames",
    "default_detectors": "detectors",
    "open_job": "jobs.job",
    "resemblance": "similarity",
}
"""Where each public name is defined, below this package."""

__all__ = [
    "BodyDetector",
    "CrawlError",
    "DedupConfig",
    "Deduplicator",
    "Detector",
    "Document",
    "Job",
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
    "crawl",
    "deduplicate",
    "default_detectors",
    "open_job",
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
