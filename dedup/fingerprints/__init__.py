"""Fingerprints: a few bits that stay nearly the same when a document changes a little."""

from dedup.fingerprints.hamming import hamming_distance
from dedup.fingerprints.simhash import simhash, simhash_many, weighted_bit_sums

__all__ = ["hamming_distance", "simhash", "simhash_many", "weighted_bit_sums"]
