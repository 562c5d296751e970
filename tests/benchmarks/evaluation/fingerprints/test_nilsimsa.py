import importlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.evaluation.fingerprints.nilsimsa import (
    _transition_table,
    nilsimsa,
    nilsimsa_score,
    nilsimsa_scores,
)

pytestmark = pytest.mark.slow

MODULE = importlib.import_module("benchmarks.evaluation.fingerprints.nilsimsa")

ZERO, ONES = bytes(32), b"\xff" * 32

# Digests by another implementation (the package nilsimsa 0.3.8).
DIGESTS = [
    (b"", "0" * 64, "nothing"),
    (b"ab", "0" * 64, "no triple"),
    (b"abc", "004" + "0" * 61, "one triple, the least that says anything"),
    (b"abcdefgh", "14c8118000000000030800000004042004189020001308014088003280000078", "short"),
]


def slow_digest(data):
    """The published loop, byte by byte."""
    table = _transition_table().tolist()

    def transition(a, b, c, n):
        return ((table[(a + n) & 255] ^ (table[b] * (n + n + 1))) + table[c ^ table[n]]) & 255

    counters, window = [0] * 256, []
    for c in data:
        if len(window) > 1:
            counters[transition(c, window[0], window[1], 0)] += 1
        if len(window) > 2:
            counters[transition(c, window[0], window[2], 1)] += 1
            counters[transition(c, window[1], window[2], 2)] += 1
        if len(window) > 3:
            counters[transition(c, window[0], window[3], 3)] += 1
            counters[transition(c, window[1], window[3], 4)] += 1
            counters[transition(c, window[2], window[3], 5)] += 1
            counters[transition(window[3], window[0], c, 6)] += 1
            counters[transition(window[3], window[2], c, 7)] += 1
        window = [c, *window[:3]]
    mean = sum(counters) / 256
    return sum(1 << bit for bit in range(256) if counters[bit] > mean).to_bytes(32)


@pytest.mark.parametrize(("data", "digest", "why"), DIGESTS)
def test_reference_digests(data, digest, why):
    assert nilsimsa(data).hex() == digest, why


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=60))
def test_digest_agrees_with_published_loop(data):
    assert nilsimsa(data) == slow_digest(data)


def test_blocks_do_not_show(monkeypatch):
    data = random.Random(1).randbytes(3_000)
    whole = nilsimsa(data)
    for block in (1, 4, 5, 1_000):
        monkeypatch.setattr(MODULE, "_BLOCK_BYTES", block)
        assert nilsimsa(data) == whole


def test_table_is_a_permutation_that_starts_as_published():
    table = _transition_table().tolist()
    assert sorted(table) == list(range(256))
    assert table[:8] == [0x02, 0xD6, 0x9E, 0x6F, 0xF9, 0x1D, 0x04, 0xAB]


def test_published_pair_scores_92():
    first = bytes.fromhex("773e2df0a02a319ec34a0b71d54029111da90838cbc20ecd3d2d4e18c25a3025")
    second = bytes.fromhex("47182cf0802a11dec24a3b75d5042d310ca90838c9d20ecc3d610e98560a3645")
    assert nilsimsa_score(first, second) == nilsimsa_score(second, first) == 92


@pytest.mark.parametrize(("first", "second", "score"), [(ZERO, ZERO, 128), (ZERO, ONES, -128)])
def test_scores_reach_from_minus_128_to_128(first, second, score):
    assert nilsimsa_score(first, second) == score


def test_scores_of_many_are_the_scores_of_each():
    digests = [random.Random(seed).randbytes(32) for seed in range(9)]
    words = np.array([np.frombuffer(digest, "<u8") for digest in digests]).astype(np.uint64)
    expected = [nilsimsa_score(digests[0], digest) for digest in digests]
    assert nilsimsa_scores(words[0], words).tolist() == expected


def test_independent_digests_score_within_three_standard_deviations():
    """2,000 pairs of coin tosses: one standard deviation is 8, and 0.2% score above 24."""
    toss = random.Random(2).randbytes
    scores = [nilsimsa_score(toss(32), toss(32)) for _ in range(2_000)]
    assert np.std(scores) == pytest.approx(8, abs=0.5)  # standard error: 8 / sqrt(4,000) = 0.13
    assert np.mean(np.array(scores) > 24) < 0.005  # expected 0.001; standard error 0.0007


def test_digest_of_wrong_width_is_refused():
    with pytest.raises(ValueError, match="second must be 32 bytes, got b'x'"):
        nilsimsa_score(ZERO, b"x")
