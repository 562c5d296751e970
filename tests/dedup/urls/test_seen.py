import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.urls import SeenUrls
from dedup.urls import seen as seen_module


class FakeStore:
    """An exact set that counts how often it is asked."""

    def __init__(self):
        self.keys = set()
        self.calls = []

    def __len__(self):  # an empty store is a store nonetheless
        return len(self.keys)

    def known(self, keys):
        self.calls.append(list(keys))
        return self.keys.intersection(keys)


def distinct_keys(count, seed=0):
    generator = random.Random(seed)
    return [generator.randbytes(16) for _ in range(count)]


keys = st.integers(0, 60).map(lambda number: number.to_bytes(16, "big"))
batches = st.lists(st.tuples(st.booleans(), st.lists(keys, max_size=12)), max_size=12)


@settings(max_examples=150, deadline=None)
@given(batches, st.sampled_from([0.9, 0.5, 0.001]), st.integers(1, 8))
def test_answers_are_those_of_a_set_however_bad_the_filter(steps, error_rate, capacity):
    store = FakeStore()
    seen = SeenUrls(store, error_rate_target=error_rate, initial_capacity=capacity)
    for is_marked, batch in steps:
        expected = [key for key in dict.fromkeys(batch) if key not in store.keys]
        assert seen.unseen(batch) == expected
        assert seen.unseen(batch) == expected
        if is_marked:
            seen.mark(expected)
            store.keys.update(expected)


@settings(max_examples=50, deadline=None)
@given(batches)
def test_without_a_store_nothing_seen_is_ever_new(steps):
    seen = SeenUrls(None, error_rate_target=0.3, initial_capacity=2)
    oracle = set()
    for _, batch in steps:
        seen.mark(batch)
        oracle.update(batch)
        assert not oracle.intersection(seen.unseen(sorted(oracle)))


def test_false_positives_do_happen_in_the_test_above_and_are_confirmed_away():
    store = FakeStore()
    seen = SeenUrls(store, error_rate_target=0.9, initial_capacity=1)
    seen.mark(distinct_keys(50))
    fresh = distinct_keys(200, seed=1)
    assert seen.unseen(fresh) == fresh
    assert len(store.calls[0]) > 20
    assert SeenUrls(None).unseen(fresh) == fresh


def test_forgetting_recent_answers_changes_none(monkeypatch):
    monkeypatch.setattr(seen_module, "_RECENT_KEYS", 3)
    store, marked = FakeStore(), distinct_keys(100)
    store.keys.update(marked)
    seen = SeenUrls(store)
    seen.load([marked])
    for start in (*range(0, 90, 7), *range(0, 90, 5)):
        assert seen.unseen(marked[start : start + 10]) == []
    assert len(seen._recent) + len(seen._older) <= 2 * (3 + 10)


def test_the_store_is_asked_once_a_batch_and_not_again_for_what_it_confirmed():
    store, marked, fresh = FakeStore(), distinct_keys(30), distinct_keys(30, seed=1)
    store.keys.update(marked)
    seen = SeenUrls(store)
    seen.load([marked[:10], marked[10:]])
    page = [key for pair in zip(marked, fresh, strict=True) for key in pair]
    assert seen.unseen(page) == seen.unseen(page) == fresh
    assert store.calls == [marked]


def test_a_new_page_costs_the_store_nothing():
    store = FakeStore()
    SeenUrls(store).unseen(distinct_keys(100))
    assert store.calls == []


def test_what_was_marked_but_not_stored_is_unseen():
    store, lost = FakeStore(), distinct_keys(1)
    seen = SeenUrls(store)
    seen.mark(lost)
    assert seen.unseen(lost) == lost


def test_repeats_in_a_batch_are_given_once_in_the_order_of_the_first():
    assert SeenUrls(None).unseen([b"b", b"a", b"b", b"a"]) == [b"b", b"a"]


def test_unseen_marks_nothing():
    seen = SeenUrls(None)
    assert seen.unseen([b"a"]) == seen.unseen([b"a"]) == [b"a"]
    assert seen.count == 0


@pytest.mark.parametrize("fill", [SeenUrls.mark, lambda seen, keys: seen.load([keys])])
def test_filter_grows_by_itself(fill):
    seen, marked = SeenUrls(None, initial_capacity=100), distinct_keys(701)
    fill(seen, marked[:100])
    assert (seen.count, seen.capacity) == (100, 100)
    fill(seen, marked[100:101])
    assert (seen.count, seen.capacity) == (101, 100 + 70)
    fill(seen, marked[101:])
    assert (seen.count, seen.capacity) == (701, 170 + 119 + 202 + 344)
    assert seen.unseen(marked) == []


def test_mark_takes_no_room_for_repeats():
    seen = SeenUrls(None)
    seen.mark([b"a", b"b", b"a"])
    seen.mark([b"b"])
    assert seen.count == 2


# Full sub-filters, powers of two, their neighbours, and one size between.
SIZES = [1, 100, 101, 491, 1023, 1024, 1025, 1419, 1420, 4096, 5000, 11_853]
PROBES = 10_000


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [0.1, 0.01])
def test_measured_error_rate_is_below_the_target_and_agrees_with_the_estimate(size, target):
    seen = SeenUrls(None, error_rate_target=target, initial_capacity=100)
    seen.load([distinct_keys(size)])
    measured = 1 - len(seen.unseen(distinct_keys(PROBES, seed=1))) / PROBES
    # Probes are independent given the filter: the deviation of their mean is sqrt(p(1-p)/n). Four
    # of them: 1 in 30,000 by chance, and the seeds are fixed.
    estimate = seen.error_rate_estimate
    assert abs(measured - estimate) <= 4 * math.sqrt(estimate * (1 - estimate) / PROBES) + 1e-9
    # The estimate knows the bits; the target bounds it outright.
    assert estimate <= target


@pytest.mark.parametrize("capacity", [15_000, 17_000, 20_000])
def test_error_rate_holds_where_16_bit_hashes_would_be_uneven(capacity):
    # At these sizes a slice has 21,000 to 29,000 bits; pybloom's own hashes there give a full
    # filter 1.3 to 1.5 times its nominal rate. The first sub-filter has a tenth of the target.
    seen = SeenUrls(None, error_rate_target=1e-6, initial_capacity=capacity)
    seen.load([distinct_keys(capacity)])
    # ln of the product of 24 fills: each fill is 0.511 with deviation below 0.003 (m > 20,000), so
    # the sum's is below 24**0.5 * 0.003 / 0.511 = 0.029; four of them are 12 %.
    assert seen.error_rate_estimate == pytest.approx(1e-7, rel=0.12)


def test_estimate_of_an_empty_filter_is_zero():
    assert SeenUrls(None).error_rate_estimate == 0


def test_memory_stays_below_eight_bytes_a_key_at_one_in_a_million():
    assert SeenUrls(None, initial_capacity=10**6).filter_bytes < 4.3 * 10**6
    seen, worst = SeenUrls(None, initial_capacity=1000), 0.0
    for number, key in enumerate(distinct_keys(118_600), start=1):  # of 11.86 million by default
        seen.load([[key]])
        if number >= 1000:
            worst = max(worst, seen.filter_bytes / number)
    assert seen.capacity == 201_595  # it grew a moment ago: there is new room for 0.7 as many
    assert 7.0 < worst < 7.6
    assert 4.2 < (seen.filter_bytes - seen._filters[0].size_bytes) / 118_585 < 4.5


def test_size_counts_recent_answers():
    seen = SeenUrls(None)
    seen.load([distinct_keys(1000)])
    before = seen.size_bytes
    seen.unseen(distinct_keys(1000))
    assert seen.size_bytes - before > 1000 * 16


@pytest.mark.parametrize("rate", [0, 1, -0.1, 1.5, math.nan])
def test_error_rate_target_is_checked(rate):
    with pytest.raises(ValueError, match="error_rate_target must be between 0 and 1, got"):
        SeenUrls(None, error_rate_target=rate)


@pytest.mark.parametrize("capacity", [0, -1])
def test_initial_capacity_is_checked(capacity):
    with pytest.raises(ValueError, match="initial_capacity must be at least 1, got"):
        SeenUrls(None, initial_capacity=capacity)
