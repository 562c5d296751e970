"""Detectors: each finds, by one method, the earlier document that a document duplicates."""

from collections.abc import Callable

from dedup.config import DedupConfig
from dedup.detectors.base import Check, Detector, Originals
from dedup.detectors.body import BodyDetector, BodySigner
from dedup.detectors.minhash import MinHashDetector, MinHashSigner
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import SentencesDetector, SentencesSigner
from dedup.detectors.signing import Signer
from dedup.detectors.simhash import SimhashDetector, SimhashSigner
from dedup.detectors.text import TextDetector, TextSigner

__all__ = [
    "BodyDetector",
    "Check",
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


def default_signers(config: DedupConfig | None = None) -> list[Signer]:
    """Return what computes the signatures of the default cascade, stage by stage."""
    config = config or DedupConfig()
    short = config.short_shingles
    return [
        BodySigner(),
        TextSigner(short),
        SentencesSigner(config.sentences_count),
        SimhashSigner(
            n_bits=config.simhash_bits,
            short_shingles=short,
            unspaced_features=config.simhash_unspaced_features,
        ),
        MinHashSigner(bands=config.minhash_bands, rows=config.minhash_rows, short_shingles=short),
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
