"""Published methods as they were published: `dedup eval` compares the cascade with them."""

from dedup.detectors.compared.methods import DETECTORS, DetectorFactory

__all__ = ["DETECTORS", "DetectorFactory"]
