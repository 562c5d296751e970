"""Simhash of other features and weights than the default cascade's."""

from collections.abc import Mapping
from typing import Any

from benchmarks.evaluation.weighting import WeightedFeatures, Weighting
from dedup.batch import Portion
from dedup.detectors.second_check import SecondCheck
from dedup.detectors.simhash import SimhashDetector, SimhashSigner
from dedup.document import Document


class WeightedSimhashSigner(SimhashSigner):
    """The simhash of what a weighting makes of a text."""

    def __init__(self, weighting: Weighting, **options: Any) -> None:
        super().__init__(unspaced_features="characters", **options)
        self._weighting = weighting

    @property
    def scheme(self) -> Mapping[str, object]:
        ours = {name: value for name, value in super().scheme.items() if "features" not in name}
        return {**ours, **self._weighting.scheme}

    def _is_by_occurrence(self, portion: Portion) -> bool:  # noqa: ARG002 -- never
        return False

    def _weighted(self, document: Document) -> WeightedFeatures:
        return self._weighting(document.normal_text, unspaced=document.is_unspaced)


class WeightedSimhashDetector(SimhashDetector):
    """Finds near duplicates as `SimhashDetector` does, by the features of a `weighting`."""

    def __init__(
        self,
        check: SecondCheck,
        weighting: Weighting,
        *,
        n_bits: int = 64,
        max_distance: int = 3,
        max_candidates: int = 64,
        stage: str = "simhash",
    ) -> None:
        super().__init__(
            check,
            n_bits=n_bits,
            max_distance=max_distance,
            max_candidates=max_candidates,
            stage=stage,
        )
        self.signer = WeightedSimhashSigner(
            weighting, n_bits=n_bits, short_shingles=check.short_shingles, stage=stage
        )
