"""Fingerprints: a few bits that stay nearly the same when a document changes a little."""

from dedup.fingerprints.simhash import (
    simhash,
    simhash_many,
    simhash_of_occurrences,
    weighted_bit_sums,
)

__all__ = ["simhash", "simhash_many", "simhash_of_occurrences", "weighted_bit_sums"]
