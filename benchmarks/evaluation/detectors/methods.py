"""Every detector by name, so that methods can be compared: `DETECTORS`."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from benchmarks.evaluation.detectors.bloom import BloomDetector
from benchmarks.evaluation.detectors.checks import ContainmentCheck, CosineCheck, Unverified
from benchmarks.evaluation.detectors.file_simhash import FileSimhashDetector
from benchmarks.evaluation.detectors.i_match import IMatchDetector
from benchmarks.evaluation.detectors.minwise import BottomDetector, PermutationsDetector
from benchmarks.evaluation.detectors.nilsimsa import NilsimsaDetector
from benchmarks.evaluation.detectors.sentences import (
    JoinedSentencesDetector,
    SharedSentencesDetector,
)
from benchmarks.evaluation.detectors.shingling import ShinglingDetector
from benchmarks.evaluation.detectors.short_text import ShortTextDetector
from benchmarks.evaluation.detectors.weighted_simhash import WeightedSimhashDetector
from benchmarks.evaluation.fingerprints.nilsimsa import INDEPENDENT_SCORE
from benchmarks.evaluation.terms import DocumentFrequencies, jieba_frequencies
from benchmarks.evaluation.weighting import Keywords, Levels, TfIdf
from dedup.config import DedupConfig
from dedup.detectors.base import Detector, Originals
from dedup.detectors.body import BodyDetector
from dedup.detectors.minhash import MinHashDetector
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.sentences import SentencesDetector
from dedup.detectors.simhash import SimhashDetector
from dedup.detectors.text import TextDetector

_SHORT_TEXT_KEYWORDS = 5
_MIN_COSINE = 0.9


class DetectorFactory(Protocol):
    """Makes a detector for a store whose documents `originals` fetches.

    `frequencies` tell how rare words are, for the methods that weigh words by it; best counted in
    the collection itself, with `DocumentFrequencies.count`. None: jieba's table, in which all
    English words are equally rare. Methods whose decision is not a matter of resemblance document
    what it is.
    """

    def __call__(
        self,
        originals: Originals,
        config: DedupConfig | None = None,
        *,
        frequencies: DocumentFrequencies | None = None,
    ) -> Detector: ...


_Make = Callable[["_Parts"], Detector]


class _Parts:
    """What detectors are made of."""

    def __init__(
        self,
        stage: str,
        originals: Originals,
        config: DedupConfig,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.originals = originals
        self.config = config
        self.short = config.short_shingles
        self.common: dict[str, Any] = {"stage": stage, "max_candidates": config.max_candidates}
        self._frequencies = frequencies

    @property
    def frequencies(self) -> DocumentFrequencies:
        return self._frequencies or jieba_frequencies()

    @property
    def check(self) -> SecondCheck:
        return SecondCheck(
            self.originals,
            near_resemblance=self.config.near_resemblance,
            short_shingles=self.short,
            names=self.config.near_names,
        )

    @property
    def unverified(self) -> Unverified:
        return Unverified(short_shingles=self.short)

    @property
    def containment(self) -> ContainmentCheck:
        return ContainmentCheck(
            self.originals,
            min_containment=self.config.near_resemblance,
            short_shingles=self.short,
        )

    @property
    def weighted(self) -> dict[str, Any]:
        return {
            "n_bits": self.config.simhash_bits,
            "max_distance": self.config.simhash_distance,
            **self.common,
        }

    @property
    def simhash(self) -> dict[str, Any]:
        return {"unspaced_features": self.config.simhash_unspaced_features, **self.weighted}

    @property
    def wide(self) -> dict[str, Any]:
        """Twice the bits, and twice the distance: the same angle between the vectors."""
        return {"n_bits": 128, "max_distance": min(2 * self.config.simhash_distance, 20)}

    @property
    def sentences(self) -> dict[str, Any]:
        return {"sentences_count": self.config.sentences_count, **self.common}


def _minhash(parts: _Parts) -> Detector:
    config = parts.config
    return MinHashDetector(
        parts.check,
        bands=config.minhash_bands,
        rows=config.minhash_rows,
        max_candidates=config.max_candidates,
    )


def _short_text(parts: _Parts) -> Detector:
    keywords = Keywords(parts.frequencies, _SHORT_TEXT_KEYWORDS)
    check = CosineCheck(parts.originals, parts.frequencies, min_cosine=_MIN_COSINE)
    return ShortTextDetector(check, keywords, **parts.common)


_METHODS: dict[str, _Make] = {
    "body": lambda p: BodyDetector(p.originals, max_candidates=p.config.max_candidates),
    "text": lambda p: TextDetector(p.check, max_candidates=p.config.max_candidates),
    # Baidu: any of the longest sentences, two of them, all; the last also without a second check
    "sentences": lambda p: SentencesDetector(p.check, **p.sentences),
    "sentences-2": lambda p: SharedSentencesDetector(
        p.check, min_shared=min(2, p.config.sentences_count), **p.sentences
    ),
    "sentences-joined": lambda p: JoinedSentencesDetector(p.check, **p.sentences),
    "sentences-joined-unverified": lambda p: JoinedSentencesDetector(p.unverified, **p.sentences),
    # Charikar: widths and weights
    "simhash": lambda p: SimhashDetector(p.check, **p.simhash),
    "simhash-unverified": lambda p: SimhashDetector(p.unverified, **p.simhash),
    "simhash-128": lambda p: SimhashDetector(p.check, **{**p.simhash, **p.wide}),
    "simhash-tf-idf": lambda p: WeightedSimhashDetector(
        p.check, TfIdf(p.frequencies), **p.weighted
    ),
    "simhash-keywords": lambda p: WeightedSimhashDetector(
        p.check, Keywords(p.frequencies), **p.weighted
    ),
    "simhash-levels": lambda p: WeightedSimhashDetector(
        p.check, Levels(Keywords(p.frequencies)), **p.weighted
    ),
    # Broder: samples of shingles
    "shingling": lambda p: ShinglingDetector(p.check, **p.common),
    "containment": lambda p: ShinglingDetector(p.containment, **p.common),
    "minhash": _minhash,
    "minhash-permutations": lambda p: PermutationsDetector(p.check, **p.common),
    "minhash-bottom": lambda p: BottomDetector(p.check, **p.common),
    "bloom": lambda p: BloomDetector(p.check, **p.common),
    # others
    "i-match": lambda p: IMatchDetector(p.check, p.frequencies, **p.common),
    "nilsimsa": lambda p: NilsimsaDetector(p.check, **p.common),
    "nilsimsa-unverified": lambda p: NilsimsaDetector(
        p.unverified, min_score=INDEPENDENT_SCORE, **p.common
    ),
    "short-text": _short_text,
    "file-simhash": lambda p: FileSimhashDetector(p.check, **p.common),
}


def _make(
    name: str,
    originals: Originals,
    config: DedupConfig | None = None,
    *,
    frequencies: DocumentFrequencies | None = None,
) -> Detector:
    return _METHODS[name](_Parts(name, originals, config or DedupConfig(), frequencies))


DETECTORS: Mapping[str, DetectorFactory] = MappingProxyType(
    {name: partial(_make, name) for name in _METHODS}
)
"""Makes each detector by its name, which is also its stage."""
