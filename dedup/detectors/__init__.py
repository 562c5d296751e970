"""Detectors: each finds, by one method, the earlier document that a document duplicates."""

from collections.abc import Callable

from dedup.config import DedupConfig
from dedup.detectors.base import Detector, Originals
from dedup.detectors.bloom import BloomDetector
from dedup.detectors.body import BodyDetector
from dedup.detectors.checks import Check, ContainmentCheck, CosineCheck, Unverified
from dedup.detectors.files import FileSimhashDetector
from dedup.detectors.imatch import IMatchDetector
from dedup.detectors.minhash import MinHashDetector
from dedup.detectors.minwise import BottomDetector, PermutationsDetector
from dedup.detectors.nilsimsa import NilsimsaDetector
from dedup.detectors.registry import DETECTORS, DetectorFactory
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import JoinedSentencesDetector, SentencesDetector
from dedup.detectors.shingling import ShinglingDetector
from dedup.detectors.short_text import ShortTextDetector
from dedup.detectors.simhash import SimhashDetector
from dedup.detectors.text import TextDetector

__all__ = [
    "DETECTORS",
    "BloomDetector",
    "BodyDetector",
    "BottomDetector",
    "Check",
    "ContainmentCheck",
    "CosineCheck",
    "Detector",
    "DetectorFactory",
    "FileSimhashDetector",
    "IMatchDetector",
    "JoinedSentencesDetector",
    "MinHashDetector",
    "NilsimsaDetector",
    "Originals",
    "PermutationsDetector",
    "SecondCheck",
    "SentencesDetector",
    "ShinglingDetector",
    "ShortTextDetector",
    "SimhashDetector",
    "TextDetector",
    "Unverified",
    "default_detectors",
]


def default_detectors(
    originals: Originals,
    config: DedupConfig | None = None,
    *,
    check: SecondCheck | None = None,
    bodies: Callable[[int], bytes | None] | None = None,
) -> list[Detector]:
    """Return the default cascade: from equal bodies to similar texts, cheap before dear.

    `check` decides on candidates instead of the one that `config` describes. `bodies` fetches the
    bodies of originals, where they are kept.

    The index takes at most 200 bytes a document: body 16, text 8, sentences 24, simhash 48 and
    minhash 88.
    """
    config = config or DedupConfig()
    limit = config.max_candidates
    check = check or SecondCheck(
        originals,
        near_resemblance=config.near_resemblance,
        short_shingles=config.short_shingles,
        names=config.near_names,
    )
    return [
        BodyDetector(originals, bodies=bodies, max_candidates=limit),
        TextDetector(check, max_candidates=limit),
        SentencesDetector(check, sentences_count=config.sentences_count, max_candidates=limit),
        SimhashDetector(
            check,
            n_bits=config.simhash_bits,
            max_distance=config.simhash_distance,
            unspaced_features=config.simhash_unspaced_features,
            max_candidates=limit,
        ),
        MinHashDetector(
            check, bands=config.minhash_bands, rows=config.minhash_rows, max_candidates=limit
        ),
    ]
