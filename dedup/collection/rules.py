"""What counts as a duplicate in a collection, and which row of several stays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dedup.collection.survivor import FIRST, Criterion, read_keep
from dedup.config import DedupConfig
from dedup.detectors import STAGES, Signer, default_signers
from dedup.store.records import KEY_STAGE

_MISSED = 0.003
"""Share of the pairs right at the threshold that MinHash may not propose; less above it."""

_MOST_BANDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the rows of a collection are judged.

    Attributes:
        threshold: the resemblance from which on two texts are near duplicates; above 0, to 1.
        stages: of the cascade, those that are asked.
        within: the column in which duplicates must agree; None: none.
        compare: the columns that count beside the text: rows that differ in one are two.
        keep: which row stays, see `read_keep`. Every other row is compared with rows that stay.

    Raises:
        ValueError: one of them is out of its range.
    """

    threshold: float = 0.8
    stages: tuple[str, ...] = STAGES
    within: str | None = None
    compare: tuple[str, ...] = ()
    keep: str = FIRST
    criteria: tuple[Criterion, ...] = field(init=False)
    config: DedupConfig = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0 and at most 1, got {self.threshold!r}")
        unknown = [stage for stage in self.stages if stage not in STAGES]
        if unknown or not self.stages:
            raise ValueError(f"stages must be some of {', '.join(STAGES)}, got {unknown or 'none'}")
        bands, rows = bands_for(self.threshold)
        config = DedupConfig(
            near_resemblance=self.threshold, minhash_bands=bands, minhash_rows=rows
        )
        object.__setattr__(self, "config", config)
        object.__setattr__(self, "criteria", read_keep(self.keep))

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that the rules need."""
        named = (self.within, *(each.column for each in self.criteria))
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def is_in_order(self) -> bool:
        """Are rows judged in the order in which they come?"""
        return self.within is None and not self.criteria

    def signers(self) -> list[Signer]:
        """What computes the signatures of the stages that are asked."""
        return [each for each in default_signers(self.config) if each.stage in self.stages]

    @property
    def judging_stages(self) -> tuple[str, ...]:
        """The stages in the order of the cascade, after the record of keys where there are any."""
        asked = tuple(stage for stage in STAGES if stage in self.stages)
        return (KEY_STAGE, *asked) if self.compare else asked


def read_stages(given: Sequence[str]) -> tuple[str, ...]:
    """The stages named, in the order of the cascade; names it does not know stay at the end."""
    known = [stage for stage in STAGES if stage in given]
    return (*known, *(stage for stage in given if stage not in STAGES))


def bands_for(threshold: float) -> tuple[int, int]:
    """Return how many bands of how many minima propose the pairs of a resemblance.

    A pair of resemblance r shares one of b bands of k minima with a probability of 1 - (1 - r^k)^b.
    As few bands as propose all but 0.3% of the pairs at the threshold; the more minima a band has,
    the fewer other pairs are proposed.

    >>> bands_for(0.8), bands_for(0.5), bands_for(1.0)
    ((11, 4), (44, 3), (11, 4))
    """
    if threshold >= 0.8:
        return 11, 4
    for rows in (4, 3, 2, 1):
        if threshold**rows < 1:
            bands = math.ceil(math.log(_MISSED) / math.log1p(-(threshold**rows)))
            if bands <= _MOST_BANDS // 2 or rows == 1:
                break
    return min(bands, _MOST_BANDS), rows
