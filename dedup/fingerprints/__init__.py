"""Fingerprints: a few bits that stay nearly the same when a document changes a little."""

from dedup.fingerprints.bloom import bloom_filter, bloom_similarities
from dedup.fingerprints.file_simhash import linear_keys, sum_table, sum_table_distances
from dedup.fingerprints.hamming import hamming_distance
from dedup.fingerprints.minhash import (
    band_hashes,
    bottom_resemblance,
    minhash,
    minhash_resemblance,
)
from dedup.fingerprints.nilsimsa import nilsimsa, nilsimsa_score
from dedup.fingerprints.simhash import simhash, simhash_many, weighted_bit_sums

__all__ = [
    "band_hashes",
    "bloom_filter",
    "bloom_similarities",
    "bottom_resemblance",
    "hamming_distance",
    "linear_keys",
    "minhash",
    "minhash_resemblance",
    "nilsimsa",
    "nilsimsa_score",
    "simhash",
    "simhash_many",
    "sum_table",
    "sum_table_distances",
    "weighted_bit_sums",
]
