import numpy as np
import pytest

from benchmarks.evaluation.fingerprints.bloom import bloom_filter, bloom_similarities

pytestmark = pytest.mark.slow

MEMBERS = np.random.default_rng(1).integers(0, 2**64, 200, np.uint64)


def ones(words):
    return {
        64 * place + bit
        for place, word in enumerate(words.tolist())
        for bit in range(64)
        if word >> bit & 1
    }


@pytest.mark.parametrize("n_hashes", [1, 2, 4])
def test_filter_has_the_ones_of_its_members_and_no_others(n_hashes):
    words = bloom_filter(MEMBERS, n_bits=1024, n_hashes=n_hashes)
    expected = {int(x) >> 16 * place & 1023 for x in MEMBERS for place in range(n_hashes)}
    assert words.shape == (16,)
    assert ones(words) == expected


@pytest.mark.parametrize("n_bits", [64, 512, 65_536])
def test_empty_set_gives_an_empty_filter(n_bits):
    words = bloom_filter(MEMBERS[:0], n_bits=n_bits)
    assert not words.any()
    assert bloom_similarities(words, words[np.newaxis]).tolist() == [0.0]


def test_similarity_is_shared_ones_over_those_of_the_fuller():
    whole, part = (bloom_filter(members, n_bits=4096) for members in (MEMBERS, MEMBERS[:100]))
    filters = np.array([whole, part])
    share = len(ones(part)) / len(ones(whole))
    assert bloom_similarities(whole, filters).tolist() == [1.0, share]
    assert bloom_similarities(part, filters).tolist() == [share, 1.0]


def test_unrelated_filters_share_what_chance_gives_them():
    """A fifth of the bits is set in both: so many ones of either are shared; 50 pairs."""
    sets = np.random.default_rng(2).integers(0, 2**64, (51, 128), np.uint64)
    filters = np.array([bloom_filter(members, n_bits=512) for members in sets])
    assert bloom_similarities(filters[0], filters[1:]).mean() == pytest.approx(0.21, abs=0.02)


@pytest.mark.parametrize(("n_bits", "n_hashes"), [(0, 1), (100, 1), (1 << 17, 1), (64, 0), (64, 5)])
def test_wrong_sizes_are_refused(n_bits, n_hashes):
    name = "n_hashes" if n_bits == 64 else "n_bits"
    with pytest.raises(ValueError, match=f"{name} must be"):
        bloom_filter(MEMBERS, n_bits=n_bits, n_hashes=n_hashes)
