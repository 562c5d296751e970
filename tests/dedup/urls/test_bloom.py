import random

import pytest
from pybloom_live import BloomFilter

from dedup.urls.bloom import BloomPart, HashMaker, any_has

KEYS = [random.Random(number).randbytes(16) for number in range(2_000)]


def test_fewer_hashes_of_a_key_are_the_first_of_more():
    assert HashMaker(4)(b"key") == HashMaker(30)(b"key")[:4]
    assert len(set(HashMaker(30)(b"key"))) == 30


@pytest.mark.parametrize("others", [0, 3])
def test_what_was_added_is_found_whatever_filters_stand_before_it(others):
    part, empty = BloomPart(1_000, 1e-6), BloomPart(500, 1e-4)
    hashes = [HashMaker(part.n_hashes)(key) for key in KEYS]
    for one in hashes[:1_000]:
        part.add(one)
    found = [any_has([*[empty] * others, part], one) for one in hashes]
    assert found[:1_000] == [True] * 1_000
    assert sum(found[1_000:]) == 0
    assert part.count == 1_000


@pytest.mark.parametrize("capacity", [1, 100, 1_024, 5_000])
@pytest.mark.parametrize("error_rate", [1 / 8, 0.01, 1e-7])
def test_sizes_are_those_of_pybloom(capacity, error_rate):
    part, sized = BloomPart(capacity, error_rate), BloomFilter(capacity, error_rate)
    assert part.size_bytes == sized.num_bits // 8
    assert part.n_hashes == sized.num_slices


def test_bits_of_a_key_lie_one_in_each_slice():
    part = BloomPart(100, 1e-3)
    part.add(HashMaker(part.n_hashes)(b"key"))
    width = part.slice_bits
    slices = [part.bits[start : start + width] for start in range(0, len(part.bits), width)]
    assert [one.count() for one in slices] == [1] * part.n_hashes
    assert part.false_positive_rate == pytest.approx(width**-part.n_hashes)


def test_all_bits_have_to_be_set():
    part = BloomPart(100, 1e-3)
    hashes = HashMaker(part.n_hashes)(b"key")
    part.add(hashes)
    part.bits[part._places(hashes)[-1]] = 0
    assert not any_has([part], hashes)


@pytest.mark.parametrize("rate", [0, 0.126, 1, -1])
def test_error_rate_is_checked(rate):
    with pytest.raises(ValueError, match="error_rate must be above 0 and at most 1/8, got"):
        BloomPart(10, rate)
