"""All options of the detectors, in one place."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from dedup.text import UNSPACED_FEATURES, UnspacedFeatures

NearNames = Literal["agree", "ignore"]
NEAR_NAMES: tuple[str, ...] = get_args(NearNames)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupConfig:
    """What a near duplicate is, and how the detectors look for it.

    Attributes:
        near_resemblance: the resemblance to an earlier document from which on a document is
            dropped; above 0, at most 1.
        near_names: "agree": near duplicates of one host have the same title and heading, except
            for versions; "ignore": titles and headings do not count.
        short_shingles: a document of fewer shingles is compared exactly; at least 1.
        sentences_count: longest sentences of a document that are indexed; 1 to 100.
        simhash_bits: width of the fingerprints, 64 or 128.
        simhash_distance: the bits in which candidates may differ; 0 to 9, with 128 bits to 20.
        simhash_unspaced_features: what counts in Chinese; see `dedup.text.features`.
        minhash_bands: keys of a document, of which a candidate shares one; 1 to 100.
        minhash_rows: minima that make up a key; 1 to 100.
        max_candidates: the number of most promising candidates that are compared for each document
            and detector; at least 1.
        cache_bytes: memory for the originals that were compared last; at least 0.
        index_bytes: memory for the indexes of all detectors; at least 0. Beyond it they are in
            temporary files, and answer the same. Sketches are not counted.
        index_folder: of these files; None: the system's folder for temporary files.

    Raises:
        ValueError: one of them is out of its range.
    """

    near_resemblance: float = 0.8
    near_names: NearNames = "agree"
    short_shingles: int = 50
    sentences_count: int = 3
    simhash_bits: int = 64
    simhash_distance: int = 3
    simhash_unspaced_features: UnspacedFeatures = "characters"
    minhash_bands: int = 11
    minhash_rows: int = 4
    max_candidates: int = 64
    cache_bytes: int = 64 * 2**20
    index_bytes: int = 2_000 * 2**20
    index_folder: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.near_resemblance <= 1:
            _reject("near_resemblance", "above 0 and at most 1", self.near_resemblance)
        if self.near_names not in NEAR_NAMES:
            _reject("near_names", " or ".join(NEAR_NAMES), self.near_names)
        if self.simhash_bits not in (64, 128):
            _reject("simhash_bits", "64 or 128", self.simhash_bits)
        if self.simhash_unspaced_features not in UNSPACED_FEATURES:
            rule = " or ".join(UNSPACED_FEATURES)
            _reject("simhash_unspaced_features", rule, self.simhash_unspaced_features)
        _check_whole("simhash_distance", self.simhash_distance, 0, self._greatest_distance)
        for name in ("sentences_count", "minhash_bands", "minhash_rows"):
            _check_whole(name, getattr(self, name), 1, 100)
        for name in ("short_shingles", "max_candidates"):
            _check_whole(name, getattr(self, name), 1, None)
        for name in ("cache_bytes", "index_bytes"):
            _check_whole(name, getattr(self, name), 0, None)

    @property
    def _greatest_distance(self) -> int:
        return 9 if self.simhash_bits == 64 else 20


def _check_whole(name: str, value: object, least: int, greatest: int | None) -> None:
    rule = f"a whole number of at least {least}"
    if greatest is not None:
        rule += f" and at most {greatest}"
    if not isinstance(value, int) or value < least or (greatest is not None and value > greatest):
        _reject(name, rule, value)


def _reject(name: str, rule: str, value: object) -> None:
    raise ValueError(f"{name} must be {rule}, got {value!r}")
