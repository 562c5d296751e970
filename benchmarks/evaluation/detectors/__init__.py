"""Published methods as they were published, to compare the default cascade with."""

from benchmarks.evaluation.detectors.methods import DETECTORS, DetectorFactory

__all__ = ["DETECTORS", "DetectorFactory"]
