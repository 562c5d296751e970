"""The stages of the default cascade: the one table of what they are called, do and are made by."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dedup.config import DedupConfig
from dedup.detectors.base import Detector, IndexedDetector, Originals
from dedup.detectors.body import BodyDetector
from dedup.detectors.minhash import MinHashDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import SentencesDetector
from dedup.detectors.signing import Signer
from dedup.detectors.simhash import SimhashDetector
from dedup.detectors.text import TextDetector
from dedup.document import Document
from dedup.index.arrays import UNBOUNDED, Arrays

Bodies = Callable[[int], bytes | None]


class Parts(NamedTuple):
    """What detectors are made of."""

    config: DedupConfig
    originals: Originals
    check: SecondCheck
    bodies: Bodies | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A detector of the cascade.

    Attributes:
        finds: what duplicates have in common, for the report.
        shares: what candidates have in common with a page, after "3 stored pages".
        is_exact: its duplicates are equal; exact stages come before all others.
        pipelines: of a crawl's, those that ask it.
        detector: makes the detector.
    """

    finds: str
    shares: str
    is_exact: bool = False
    pipelines: tuple[Literal["exact", "near"], ...]
    detector: Callable[[Parts], IndexedDetector[Any, Any]]


CASCADE = {
    "body": Stage(
        finds="the same bytes",
        shares="with the same digest of its bytes",
        is_exact=True,
        pipelines=("exact",),
        detector=lambda parts: BodyDetector(
            parts.originals, bodies=parts.bodies, max_candidates=parts.config.max_candidates
        ),
    ),
    "text": Stage(
        finds="the same text, ignoring case and width",
        shares="with the same digest of its text",
        is_exact=True,
        pipelines=("exact", "near"),
        detector=lambda parts: TextDetector(
            parts.check, max_candidates=parts.config.max_candidates
        ),
    ),
    "sentences": Stage(
        finds="the same longest sentences, then compared",
        shares="with one of its longest sentences",
        pipelines=("exact",),
        detector=lambda parts: SentencesDetector(
            parts.check,
            sentences_count=parts.config.sentences_count,
            max_candidates=parts.config.max_candidates,
        ),
    ),
    "simhash": Stage(
        finds="close fingerprints, then compared",
        shares="with a fingerprint within that distance",
        pipelines=("near",),
        detector=lambda parts: SimhashDetector(
            parts.check,
            n_bits=parts.config.simhash_bits,
            max_distance=parts.config.simhash_distance,
            unspaced_features=parts.config.simhash_unspaced_features,
            max_candidates=parts.config.max_candidates,
        ),
    ),
    "minhash": Stage(
        finds="shared MinHash bands, then compared",
        shares="with a band in common",
        pipelines=("near",),
        detector=lambda parts: MinHashDetector(
            parts.check,
            bands=parts.config.minhash_bands,
            rows=parts.config.minhash_rows,
            max_candidates=parts.config.max_candidates,
        ),
    ),
}
"""By name, in the order in which they are asked: from equal bodies to similar texts, cheap before
dear. A new detector is a file beside this one and a row here. The switch of a stage in a crawl is
`DEDUP_<NAME>_ENABLED`. On Spark, keys have room for eight stages."""

STAGES = tuple(CASCADE)
EXACT_STAGES = tuple(name for name, stage in CASCADE.items() if stage.is_exact)


def default_signers(config: DedupConfig | None = None) -> list[Signer]:
    """Return what computes the signatures of the default cascade, stage by stage."""
    return [each.signer for each in _cascade(_not_fetched, config or DedupConfig())]


def default_detectors(
    originals: Originals,
    config: DedupConfig | None = None,
    *,
    check: SecondCheck | None = None,
    bodies: Bodies | None = None,
    arrays: Arrays = UNBOUNDED,
) -> list[Detector]:
    """Return the default cascade.

    `check` decides on candidates instead of the one that `config` describes. `bodies` fetches the
    bodies of originals, where they are kept. `arrays` bounds the memory of all indexes.

    The index takes at most 200 bytes a document: body 16, text 8, sentences 24, simhash 48 and
    minhash 88.
    """
    detectors = list(_cascade(originals, config or DedupConfig(), check, bodies))
    for detector in detectors:
        detector.use(arrays)
    return [*detectors]


def _cascade(
    originals: Originals,
    config: DedupConfig,
    check: SecondCheck | None = None,
    bodies: Bodies | None = None,
) -> Iterator[IndexedDetector[Any, Any]]:
    parts = Parts(config, originals, check or SecondCheck.of(originals, config), bodies)
    return (stage.detector(parts) for stage in CASCADE.values())


def _not_fetched(number: int) -> Document:
    raise KeyError(number)  # a signer compares nothing
