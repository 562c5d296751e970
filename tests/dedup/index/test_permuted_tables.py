import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dedup.index import Layout, PermutedTables, permuted_tables
from dedup.index.arrays import Arrays
from dedup.index.permuted_tables import TAIL_CAPACITY
from tests.dedup.index.in_files import small_parts

ALL_ONES = 2**64 - 1

# (n_bits, max_distance, name): every standard layout that the tests below go through.
STANDARD = [
    (n_bits, max_distance, name)
    for n_bits, max_distance in [(64, 0), (64, 1), (64, 3), (64, 6), (128, 3), (128, 6)]
    for name in Layout.standard(n_bits, max_distance)
    if int(name) < 60  # 84 tables take seconds and show nothing that 28 and 49 do not
]


def random_fingerprints(count: int, n_bits: int = 64, seed: int = 1) -> NDArray[np.uint64]:
    shape = (count,) if n_bits == 64 else (count, 2)
    return np.random.default_rng(seed).integers(0, 2**64, shape, dtype=np.uint64)


def with_neighbours(count: int, n_bits: int, farthest: int) -> NDArray[np.uint64]:
    """Random fingerprints, then copies of some with 0 to `farthest` bits flipped anywhere."""
    rng = np.random.default_rng(2)
    originals = random_fingerprints(count, n_bits).reshape(count, -1)
    copies = np.repeat(originals[: count // 20], farthest + 1, axis=0)
    for row in range(len(copies)):
        for bit in rng.choice(n_bits, row % (farthest + 1), replace=False):
            copies[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return np.concatenate((originals, copies)).reshape(-1, *((2,) if n_bits == 128 else ()))


def as_int(fingerprint: NDArray[np.uint64] | np.uint64) -> int:
    return int("".join(f"{word:016x}" for word in np.atleast_1d(fingerprint).tolist()), 16)


def scan(
    fingerprints: NDArray[np.uint64], query: NDArray[np.uint64] | np.uint64, limit: int
) -> list[tuple[int, int]]:
    """The oracle: compare the query with all."""
    rows = fingerprints.reshape(len(fingerprints), -1)
    distances = np.bitwise_count(rows ^ np.atleast_1d(query)).sum(axis=1)
    near = np.flatnonzero(distances <= limit).tolist()
    return sorted(((row, int(distances[row])) for row in near), key=lambda match: match[::-1])


def build(fingerprints: NDArray[np.uint64], **arguments: object) -> PermutedTables:
    index = PermutedTables(**arguments)  # type: ignore[arg-type]
    index.add_many(fingerprints, np.arange(len(fingerprints)))
    return index


def answers(index: PermutedTables, queries: NDArray[np.uint64], limit: int | None = None) -> list:
    """The result of `find_many` in the form of `find`."""
    found: list[list[tuple[int, int]]] = [[] for _ in queries]
    for query, number, distance in zip(*index.find_many(queries, limit), strict=True):
        found[query].append((int(number), int(distance)))
    return found


@pytest.mark.parametrize(("n_bits", "max_distance", "name"), STANDARD)
def test_every_layout_and_distance_agree_with_a_scan(n_bits, max_distance, name):
    fingerprints = with_neighbours(3_000, n_bits, max_distance + 2)
    index = build(fingerprints, n_bits=n_bits, max_distance=max_distance, layout=name)
    queries = fingerprints[:: len(fingerprints) // 40]
    index._check()
    for limit in range(max_distance + 1):
        expected = [scan(fingerprints, query, limit) for query in queries]
        assert [index.find(as_int(query), limit) for query in queries] == expected
        assert answers(index, queries, limit) == expected


@pytest.mark.parametrize("distance", range(5))
def test_finds_neighbours_at_the_greatest_distance_and_none_beyond(distance):
    index = build(random_fingerprints(20_000))
    query = int(random_fingerprints(1, seed=3)[0])
    for first_bit in range(0, 60, 7):
        flipped = sum(1 << (first_bit + 13 * i) % 64 for i in range(distance))
        index.add(query ^ flipped, 50_000 + first_bit)
    found = [number - 50_000 for number, _ in index.find(query)]
    assert found == (list(range(0, 60, 7)) if distance <= 3 else [])


# Block structure that no random fingerprint has.
ADVERSARIAL = {
    "all equal": np.full(3_000, 0x0123_4567_89AB_CDEF, np.uint64),
    "all zeros": np.zeros(3_000, np.uint64),
    "all ones": np.full(3_000, ALL_ONES, np.uint64),
    "zeros and ones": np.array([0, ALL_ONES] * 1_500, np.uint64),
    "one block differs": np.arange(3_000, dtype=np.uint64) << np.uint64(16),
    "first block differs": np.arange(3_000, dtype=np.uint64) << np.uint64(48),
    "one bit each": np.uint64(1) << np.arange(64, dtype=np.uint64),
    "few": np.array([5, 7], np.uint64),
}


@pytest.mark.parametrize("layout", ["4", "10", "16", "20"])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_adversarial_sets_agree_with_a_scan(name, layout):
    fingerprints = ADVERSARIAL[name]
    index = build(fingerprints, layout=layout)
    queries = np.append(fingerprints[:: len(fingerprints) // 2], np.array([0, 3], np.uint64))
    expected = [scan(fingerprints, query, 3) for query in queries]
    index._check()
    assert [index.find(int(query)) for query in queries] == expected
    assert answers(index, queries) == expected


def test_equal_fingerprints_are_found_and_the_limit_is_inclusive():
    index = PermutedTables()
    for number, fingerprint in enumerate([0, 0, 0b1, 0b11, 0b111, 0b1111]):
        index.add(fingerprint, number)
    assert index.find(0) == [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3)]
    assert index.find(0, max_distance=0) == [(0, 0), (1, 0)]


def test_matches_come_nearest_first_then_by_number():
    index = PermutedTables()
    for number, fingerprint in [(9, 0b1), (2, 0b111), (5, 0), (4, 0b10), (1, 0b101)]:
        index.add(fingerprint, number)
    assert index.find(0) == [(5, 0), (4, 1), (9, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(("n_bits", "n_equal"), [(64, 510), (64, 515), (64, 6_000), (128, 6_000)])
def test_many_equal_fingerprints_among_others(n_bits, n_equal):
    fingerprints = random_fingerprints(8_000, n_bits)
    fingerprints[:n_equal] = fingerprints[0]
    fingerprints[7_900:7_990] = fingerprints[0]
    index = build(fingerprints[:7_500], n_bits=n_bits)
    index.add_many(fingerprints[7_500:], np.arange(7_500, 8_000))  # these stay in the tail
    expected = scan(fingerprints, fingerprints[0], 3)
    assert index.find(as_int(fingerprints[0])) == expected
    assert answers(index, fingerprints[:1]) == [expected]


@pytest.mark.parametrize("batch", [1, 7, TAIL_CAPACITY, 5_000, 20_000])
def test_batch_size_of_adding_changes_no_answer(batch):
    fingerprints = with_neighbours(3_000, 64, 4)
    index = PermutedTables()
    for start in range(0, len(fingerprints), batch):
        stop = min(start + batch, len(fingerprints))
        index.add_many(fingerprints[start:stop], np.arange(start, stop))
    index._check()
    queries = fingerprints[::100]
    assert answers(index, queries) == [scan(fingerprints, query, 3) for query in queries]
    assert len(index) == len(fingerprints)


def test_single_and_batch_adding_make_the_same_index():
    fingerprints = with_neighbours(8_000, 64, 4)
    index = PermutedTables()
    for number, fingerprint in enumerate(fingerprints.tolist()):
        index.add(fingerprint, number)
    index._check()
    queries = fingerprints[-300:]
    assert answers(index, queries) == answers(build(fingerprints), queries)
    assert [index.find(query) for query in queries.tolist()] == answers(index, queries)


@pytest.mark.parametrize(("n_bits", "name"), [(64, "4"), (64, "20"), (128, "4")])
def test_answers_stay_the_same_while_runs_are_merged(n_bits, name, monkeypatch):
    monkeypatch.setattr(permuted_tables, "YOUNG_ROWS", 4_096)
    monkeypatch.setattr(permuted_tables, "MERGE_ROWS", 2)  # so few that merges are left unfinished
    fingerprints = np.random.default_rng(8).permutation(with_neighbours(24_000, n_bits, 4))
    index, n_unfinished = PermutedTables(n_bits, layout=name), 0
    for start in range(0, len(fingerprints), 2_048):
        stop = min(start + 2_048, len(fingerprints))
        index.add_many(fingerprints[start:stop], np.arange(start, stop))
        n_unfinished += index._merge is not None
        index._check()
        queries = fingerprints[: stop : stop // 8]
        expected = [scan(fingerprints[:stop], query, 3) for query in queries]
        assert answers(index, queries) == expected
        assert [index.find(as_int(query)) for query in queries] == expected
    assert 0 < n_unfinished < 14


def test_no_single_insert_waits_for_a_rebuild(monkeypatch):
    monkeypatch.setattr(permuted_tables, "YOUNG_ROWS", 4_096)
    monkeypatch.setattr(permuted_tables, "MERGE_ROWS", 16)
    index, unfinished = build(random_fingerprints(100_000)), []
    for number, fingerprint in enumerate(random_fingerprints(8 * 2_048, seed=9).tolist()):
        index.add(fingerprint, 100_000 + number)
        if len(index._tail) == 0:
            unfinished.append(index._merge is not None)
    # A long run is merged with the next once that has 6,250 rows: from the fifth full tail on,
    # 32,768 rows of each table at a time.
    assert unfinished == [False] * 4 + [True] * 3 + [False]
    assert [len(run) for run in index._runs] == [108_192, 4_096, 4_096]


def test_running_out_of_memory_while_merging_loses_nothing(monkeypatch):
    monkeypatch.setattr(permuted_tables, "YOUNG_ROWS", 4_096)
    fingerprints = random_fingerprints(16_384)
    index = build(fingerprints[:10_240])

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(permuted_tables.Merge, "advance", fail)
        for start in range(10_240, 16_384, 2_048):
            with contextlib.suppress(MemoryError):
                index.add_many(fingerprints[start : start + 2_048], np.arange(start, start + 2_048))
    assert [len(found) for found in answers(index, fingerprints)] == [1] * len(fingerprints)
    index.add_many(random_fingerprints(2_048, seed=5), np.arange(20_000, 22_048))
    index._check()
    assert [len(found) for found in answers(index, fingerprints)] == [1] * len(fingerprints)


def test_what_is_added_between_batches_is_found():
    index = PermutedTables()
    for number in range(4):  # all in the tail, which is kept sorted between lookups
        if number % 2:
            index.add(7, number)
        else:
            index.add_many(np.uint64([7]), np.uint32([number]))
        assert index.find_many(np.uint64([7]))[1].tolist() == [*range(number + 1)]


def test_answers_over_several_runs_and_the_tail(monkeypatch):
    monkeypatch.setattr(permuted_tables, "YOUNG_ROWS", 4_096)
    fingerprints = np.random.default_rng(7).permutation(with_neighbours(16_500, 64, 3))
    whole, index = build(fingerprints), build(fingerprints[:17_000])
    for number, fingerprint in enumerate(fingerprints[17_000:].tolist(), start=17_000):
        index.add(fingerprint, number)
    assert len(index._runs) == 2
    assert len(index._tail) > 0
    assert answers(index, fingerprints[::50]) == answers(whole, fingerprints[::50])


@pytest.mark.parametrize("limit", [0, 3])
@pytest.mark.parametrize("n_ones", [0, 7, 300])
def test_batches_over_long_buckets_agree_with_a_scan(n_ones, limit):
    crowded = with_neighbours(2_000, 64, 4) | np.uint64(0xFFE0 << 48)  # 32 values of block 1
    ones = np.full(n_ones, ALL_ONES, np.uint64)  # in every table's last bucket, with digest 0
    fingerprints = np.concatenate((crowded, ones))
    indices, numbers, distances = build(fingerprints).find_many(fingerprints, limit)
    expected = np.bitwise_count(fingerprints[:, np.newaxis] ^ fingerprints)
    assert np.count_nonzero(expected <= limit) == len(indices)
    assert np.array_equal(expected[indices, numbers], distances)
    assert len(np.unique(indices * len(fingerprints) + numbers)) == len(indices)
    assert (distances <= limit).all()


@pytest.mark.parametrize("at_once", [1, 999, 1_000, 2_000])
def test_how_many_queries_are_looked_up_at_once_changes_nothing(at_once, monkeypatch):
    fingerprints = with_neighbours(800, 64, 4)[:1_000]
    index = build(fingerprints)
    expected = index.find_many(fingerprints)
    monkeypatch.setattr(permuted_tables, "_QUERIES_AT_ONCE", at_once)
    found = index.find_many(fingerprints)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(("n_bits", "layout"), [(64, "4"), (64, "20"), (128, None)])
def test_stress(n_bits, layout):
    rng = np.random.default_rng(4)
    index = PermutedTables(n_bits, layout=layout)
    kept: dict[int, int] = {}
    centres = [as_int(one) for one in random_fingerprints(20, n_bits, seed=5)]
    for number in range(9_000):
        flipped = sum(1 << int(bit) for bit in rng.choice(n_bits, number % 6, replace=False))
        kept[number] = centres[number % 17] ^ flipped
        index.add(kept[number], number)
        if number % 1_500 == 0:
            index._check()
            query = centres[number % 20]
            near = [(one, (f ^ query).bit_count()) for one, f in kept.items()]
            expected = sorted((d, one) for one, d in near if d <= 3)
            assert [(d, one) for one, d in index.find(query)] == expected
    assert len(index) == len(kept)


def test_lookups_change_no_memory():
    fingerprints = random_fingerprints(5_000)
    index = build(fingerprints)
    index.add(1, 5_000)
    before = (index.size_bytes, [run.words.tobytes() for run in index._runs], len(index._tail))
    for query in random_fingerprints(2_000, seed=6).tolist():
        index.find(query)
    index.find_many(fingerprints)
    after = (index.size_bytes, [run.words.tobytes() for run in index._runs], len(index._tail))
    assert before == after


def test_four_tables_take_48_bytes_a_document_at_most():
    index = build(random_fingerprints(20_000), layout="4")
    empty = PermutedTables().size_bytes
    assert index.layout.bytes_per_document == 44
    assert (index.size_bytes - empty) / 20_000 < 44 + 4 * 2  # directories of 1 to 2 bytes a row


@pytest.mark.parametrize(
    ("damage", "invariant"),
    [
        (lambda run: run.tables[2].rows.__setitem__(5, 6), "each row once"),
        (lambda run: run.tables[1].digests.__setitem__(5, 6), "digests are the rows' own"),
        (lambda run: run.tables[0].directory.__setitem__(5, 6_000), "the directory"),
        (lambda run: run.tables[3].rows.sort(), "sorted by bucket"),
    ],
)
def test_check_notices_damage(damage, invariant):
    index = build(random_fingerprints(5_000))
    index._check()
    damage(index._runs[0])
    with pytest.raises(AssertionError, match=invariant):
        index._check()


def test_empty_index():
    index = PermutedTables()
    assert len(index) == 0
    assert index.find(0) == []
    assert [len(column) for column in index.find_many(random_fingerprints(3))] == [0, 0, 0]
    assert [len(column) for column in index.find_many(random_fingerprints(0))] == [0, 0, 0]
    index.add_many(random_fingerprints(0), np.empty(0, int))
    index._check()


def test_adds_numpy_integers_too():
    index = PermutedTables()
    index.add(np.uint64(ALL_ONES), np.int64(7))  # type: ignore[arg-type]
    assert index.find(np.uint64(ALL_ONES - 1)) == [(7, 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fingerprint", "number", "message"),
    [
        (2**64, 0, "fingerprint must be 0 to"),
        (-1, 0, "fingerprint must be 0 to"),
        (0, -1, "number must be 0 to 4294967295, got -1"),
        (0, 2**32, "number must be 0 to 4294967295, got 4294967296"),
    ],
)
def test_rejects_invalid_fingerprint_or_number(fingerprint, number, message):
    index = PermutedTables()
    with pytest.raises(ValueError, match=message):
        index.add(fingerprint, number)
    assert len(index) == 0


def test_rejects_wrong_arrays():
    index = PermutedTables()
    with pytest.raises(TypeError, match="fingerprints must be an array of uint64, got dtype int64"):
        index.add_many(np.array([1]), np.array([1]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must have shape \(n,\), got \(3, 2\)"):
        index.find_many(random_fingerprints(3, 128))
    with pytest.raises(ValueError, match=r"must have shape \(n, 2\), got \(3,\)"):
        PermutedTables(128).find_many(random_fingerprints(3))
    with pytest.raises(ValueError, match="numbers must have one value for each of 3 fingerprints"):
        index.add_many(random_fingerprints(3), np.array([1]))
    with pytest.raises(ValueError, match="numbers must be 0 to 4294967295, got"):
        index.add_many(random_fingerprints(2), np.array([1, -1]))
    with pytest.raises(TypeError, match="numbers must be an array of integers"):
        index.add_many(random_fingerprints(1), np.array([1.0]))


@pytest.mark.parametrize("limit", [-1, 4])
def test_rejects_a_distance_it_was_not_made_for(limit):
    with pytest.raises(ValueError, match="max_distance must be 0 to 3, for which the index was"):
        PermutedTables().find(0, limit)


def test_rejects_a_layout_for_other_fingerprints():
    with pytest.raises(ValueError, match="layout must be for 64 bits and distance 2"):
        PermutedTables(64, 2, layout=Layout.from_blocks(64, 3, blocks=4))


@given(
    st.lists(st.integers(0, ALL_ONES) | st.integers(0, 255), min_size=1, max_size=60),
    st.integers(0, ALL_ONES) | st.integers(0, 255),
    st.integers(0, 6).flatmap(
        lambda k: st.sampled_from(
            sorted(Layout.standard(64, k).values(), key=lambda one: one.n_tables)[:3]
        )
    ),
)
@settings(deadline=None, max_examples=150)
def test_any_set_agrees_with_a_scan(fingerprints, query, layout):
    index = PermutedTables(64, layout.max_distance, layout=layout)
    array = np.array(fingerprints, np.uint64)
    index._flush((array.reshape(-1, 1), np.arange(len(array), dtype=np.uint32)))
    expected = scan(array, np.uint64(query), layout.max_distance)
    assert index.find(query) == expected
    assert answers(index, np.array([query], np.uint64)) == [expected]


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(1, 5_000)), min_size=1, max_size=8),
    st.sampled_from([(64, 0, "1"), (64, 3, "4"), (64, 3, "10"), (128, 3, "4")]),
    st.integers(0, 900_000),
)
@settings(deadline=None, max_examples=25)
def test_answers_are_the_same_where_runs_are_in_files(batches, layout, bound):
    n_bits, max_distance, name = layout
    with small_parts():
        indexes = [
            PermutedTables(n_bits, max_distance, layout=name, arrays=arrays)
            for arrays in (Arrays(bound), Arrays())
        ]
        first = 0
        for seed, count in batches:
            added = random_fingerprints(count, n_bits, seed)
            for index in indexes:
                index.add_many(added, np.arange(first, first + count))
            first += count
            queries = with_neighbours(40, n_bits, max_distance + 1)
            queries[::2] = (
                added[: len(queries[::2]) * 3 : 3][: len(queries[::2])] if count > 200 else 0
            )
            in_files, in_memory = [answers(index, queries) for index in indexes]
            assert in_files == in_memory
            assert in_memory == [indexes[0].find(as_int(query)) for query in queries]
        indexes[0]._check()


def test_answers_are_the_same_while_runs_in_files_are_merged(monkeypatch):
    fingerprints = with_neighbours(20_000, 64, 4)
    with small_parts():
        monkeypatch.setattr(permuted_tables, "MERGE_ROWS", 2)  # merges are left unfinished
        arrays = Arrays(200_000)
        index = PermutedTables(arrays=arrays)
        for start in range(0, len(fingerprints), 2_048):
            added = fingerprints[start : start + 2_048]
            index.add_many(added, np.arange(start, start + len(added)))
            index._check()
            expected = [
                scan(fingerprints[: start + len(added)], query, 3) for query in added[::400]
            ]
            assert answers(index, added[::400]) == expected
        assert arrays.has_files
