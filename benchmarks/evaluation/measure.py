"""What a detector, or a cascade of them, makes of a corpus whose truth is known.

Each is measured in two passes over the corpus, in its order.

**All pairs**, for precision and recall: each document is looked up among all earlier ones and then
added, whatever was found. A flagged pair is a document with the original reported for it, so there
is one at most for each document.

- precision: the flagged pairs of resemblance 0.5 and more over all flagged pairs; None where
  nothing was flagged.
- recall of pairs: the true pairs of resemblance 0.8 (0.9) and more that are found, over all of
  them. A pair is found when its later document is flagged, and not wrongly: for the earlier one,
  or for another original of 0.5 and more. Either way one of the two is dropped.
- F1: the harmonic mean of precision and the recall of pairs of 0.8 and more.

**Streaming**, for what a crawl would lose: a document for which an original is found is dropped and
never an original itself, all others are kept.

- unique dropped: the dropped documents whose resemblance to every earlier document, kept or
  dropped, is under 0.5; their share is that of all such documents.
- caught: of the documents with an earlier one of 0.8 (0.9) and more, kept or dropped, the share
  that is dropped. An original that was dropped itself thus counts by way of its survivor. This
  may be below 1 for a perfect detector: of a chain a-b-c in which only neighbours are alike, b is
  dropped for a, and c is rightly kept.
- documents per second: from the text to the verdict, with the store in memory; extraction of text
  from markup is left out.
- bytes per document: memory of the indexes over documents kept.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.evaluation.detectors import DETECTORS, DetectorFactory
from benchmarks.evaluation.terms import DocumentFrequencies
from benchmarks.evaluation.truth import LEAST_RESEMBLANCE, Truth
from dedup.config import DedupConfig
from dedup.deduplicator import Deduplicator, OriginalsCache
from dedup.detectors import Detector, Originals, default_detectors
from dedup.document import Document
from dedup.store.memory import MemoryStore

CASCADE = "default cascade"

NEAR = 0.8
VERY_NEAR = 0.9

Method = Callable[[Originals], Sequence[Detector]]
"""Makes the detectors that are asked one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One row of the table; the module tells what each figure is. Shares are 0 to 1."""

    method: str
    flagged: int
    precision: float | None
    recall_near: float | None
    recall_very_near: float | None
    f1: float | None
    dropped: int
    unique_dropped: int
    unique_dropped_share: float | None
    caught_near: float | None
    caught_very_near: float | None
    documents_per_second: float
    bytes_per_document: float


def methods(
    config: DedupConfig | None = None, *, frequencies: DocumentFrequencies | None = None
) -> dict[str, Method]:
    """Return what there is to measure: each detector alone, then the default cascade.

    `frequencies`, for the detectors that weigh words by their rarity, are best those of the corpus.
    """
    found: dict[str, Method] = {
        name: partial(_alone, factory, config, frequencies) for name, factory in DETECTORS.items()
    }
    found[CASCADE] = lambda originals: default_detectors(originals, config)
    return found


def _alone(
    factory: DetectorFactory,
    config: DedupConfig | None,
    frequencies: DocumentFrequencies | None,
    originals: Originals,
) -> Sequence[Detector]:
    return [factory(originals, config, frequencies=frequencies)]


def measure(
    name: str,
    method: Method,
    documents: Sequence[Document],
    truth: Truth,
    *,
    advance: Callable[[], object] = lambda: None,
) -> Measurement:
    """Measure one method; `advance` is called twice for each document."""
    flagged = _flagged_pairs(method, documents, advance)
    rightly = {later for earlier, later in flagged if truth.of(earlier, later) >= LEAST_RESEMBLANCE}
    precision = _share(len(rightly), len(flagged))
    recalls = [
        _share(sum(later in rightly for _, later in pairs), len(pairs))
        for pairs in (truth.at_least(NEAR), truth.at_least(VERY_NEAR))
    ]
    is_dropped, seconds, bytes_per_document = _stream(method, documents, advance)
    unique = [resemblance < LEAST_RESEMBLANCE for resemblance in truth.highest]
    unique_dropped = sum(map(_both, unique, is_dropped))
    caught = [
        _share(sum(map(_both, needed, is_dropped)), sum(needed))
        for needed in (
            [resemblance >= least for resemblance in truth.highest] for least in (NEAR, VERY_NEAR)
        )
    ]
    return Measurement(
        method=name,
        flagged=len(flagged),
        precision=precision,
        recall_near=recalls[0],
        recall_very_near=recalls[1],
        f1=_f1(precision, recalls[0]),
        dropped=sum(is_dropped),
        unique_dropped=unique_dropped,
        unique_dropped_share=_share(unique_dropped, sum(unique)),
        caught_near=caught[0],
        caught_very_near=caught[1],
        documents_per_second=len(documents) / seconds,
        bytes_per_document=bytes_per_document,
    )


def _flagged_pairs(
    method: Method, documents: Sequence[Document], advance: Callable[[], object]
) -> list[tuple[int, int]]:
    deduplicator = _new_deduplicator(method)
    flagged = []
    for later, document in enumerate(map(_afresh, documents)):
        if match := deduplicator.find(document):
            flagged.append((match.original, later))  # all are added: numbers are positions
        deduplicator.add(document)
        advance()
    return flagged


def _stream(
    method: Method, documents: Sequence[Document], advance: Callable[[], object]
) -> tuple[list[bool], float, float]:
    """Return which documents were dropped, the seconds taken, and the bytes a document kept."""
    deduplicator = _new_deduplicator(method)
    is_dropped = []
    start = time.perf_counter()
    for verdict in deduplicator.process_many(map(_afresh, documents)):
        is_dropped.append(verdict.is_duplicate)
        advance()
    seconds = time.perf_counter() - start
    return is_dropped, seconds, deduplicator.size_bytes / is_dropped.count(False)


def _new_deduplicator(method: Method) -> Deduplicator:
    store = MemoryStore()
    originals = OriginalsCache(store.document, size_bytes=DedupConfig().cache_bytes)
    return Deduplicator(method(originals), store=store)


def _afresh(document: Document) -> Document:
    """The same document, with nothing computed yet."""
    return replace(document)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _f1(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None or precision + recall == 0:
        return None
    return 2 * precision * recall / (precision + recall)


def _both(first: bool, second: bool) -> bool:
    return first and second
