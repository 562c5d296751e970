from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.index import Block, Layout
from dedup.index.layouts import directory_bits

# The example of the paper, section 3.1: tables and equal bits for 64 bits and k = 3.
PAPER = [("4", 16, 16), ("10", 25, 26), ("16", 28, 28), ("20", 31, 33)]


@pytest.mark.parametrize(("name", "least", "most"), PAPER)
def test_layouts_of_the_paper(name, least, most):
    layout = Layout.named(name, 64, 3)
    assert layout.n_tables == int(name)
    assert (min(layout.equal_bits), max(layout.equal_bits)) == (least, most)


@pytest.mark.parametrize("name", ["4", "10", "16", "20"])
def test_three_differing_bits_always_leave_a_table_equal(name):
    layout = Layout.named(name, 64, 3)
    masks = [mask for (mask,) in layout.masks.tolist()]
    # A bit of each block and its bounds is enough, the others behave the same.
    bits = sorted(
        {edge % 64 for table in layout.tables for b in table for edge in (b.start, sum(b) - 1)}
    )
    for flipped in combinations(bits, 3):
        differing = sum(1 << (63 - bit) for bit in flipped)
        assert any(mask & differing == 0 for mask in masks)


def test_blocks_are_cut_from_the_most_significant_bit():
    assert Layout.from_blocks(64, 3, blocks=4).tables == (
        (Block(0, 16),),
        (Block(16, 16),),
        (Block(32, 16),),
        (Block(48, 16),),
    )
    assert [sum(b.width for b in t) for t in Layout.from_blocks(64, 4, blocks=5).tables] == [
        13, 13, 13, 13, 12,
    ]  # fmt: skip


def test_adjacent_equal_blocks_are_one():
    assert Layout.from_blocks(64, 1, blocks=4, equal=3).tables[0] == (Block(0, 48),)


def test_fewer_blocks_than_possible_may_be_equal():
    layout = Layout.from_blocks(64, 3, blocks=6, equal=2)
    assert layout.n_tables == 15


def test_levels_cut_the_other_bits_again():
    layout = Layout.from_levels(64, 3, blocks=(4, 4))
    assert layout.tables[0] == (Block(0, 28),)
    assert layout.tables[7] == (Block(16, 16), Block(52, 12))
    assert layout.tables[4] == (Block(16, 16), Block(0, 12))


@given(st.integers(0, 2**128 - 1), st.sampled_from([(64, 3), (64, 6), (128, 3), (128, 6)]))
@settings(deadline=None, max_examples=60)
def test_keys_are_the_equal_bits_in_their_order(fingerprint, width):
    fingerprint %= 2 ** width[0]
    digits = f"{fingerprint:0{width[0]}b}"
    words = np.array([[int(digits[at : at + 64], 2) for at in range(0, width[0], 64)]], np.uint64)
    for name in list(Layout.standard(*width))[:3]:
        layout = Layout.named(name, *width)
        expected = [
            int("".join(digits[b.start : b.start + b.width] for b in table)[:32], 2)
            for table in layout.tables
        ]
        assert layout.keys(fingerprint) == expected
        columns = [layout.key_column(words, table)[0] for table in range(layout.n_tables)]
        assert columns == expected


# Chosen for so many documents: (bits, distance, documents, tables). More documents, more tables.
CHOICES = [
    (64, 3, 1_000, "4"),
    (64, 3, 10**7, "4"),
    (64, 3, 10**9, "10"),
    (64, 6, 10**6, "7"),
    (64, 6, 10**8, "28"),
    (64, 6, 10**9, "84"),
    (128, 3, 10**9, "4"),
    (64, 0, 10**6, "1"),
]


@pytest.mark.parametrize(("n_bits", "max_distance", "documents", "name"), CHOICES)
def test_automatic_choice(n_bits, max_distance, documents, name):
    assert Layout.automatic(n_bits, max_distance, documents).name == name


@pytest.mark.parametrize("documents", [1, 10**5, 10**6, 10**7, 10**8, 10**9])
@pytest.mark.parametrize("max_distance", [1, 3, 5, 9])
def test_automatic_choice_is_the_smallest_of_the_fast_ones(max_distance, documents):
    chosen = Layout.automatic(64, max_distance, documents)
    layouts = Layout.standard(64, max_distance).values()
    limit = 2 * min(layout.lookup_cost(documents) for layout in layouts)
    fast = [layout for layout in layouts if layout.lookup_cost(documents) <= limit]
    assert chosen.bytes_per_document == min(layout.bytes_per_document for layout in fast)


def test_candidates_and_memory_of_four_tables():
    layout = Layout.named("4", 64, 3)
    assert layout.candidates(10_000_000) == 4 * 10_000_000 / 2**16
    assert layout.bytes_per_document == 8 + 4 + 4 * 8


# (documents, bits of the directory): buckets of 2 to 4 documents, around powers of two.
@pytest.mark.parametrize(
    ("documents", "bits"),
    [(0, 0), (1, 0), (3, 0), (4, 1), (7, 1), (8, 2), (2**17, 16), (2**18 - 1, 16), (2**30, 20)],
)
def test_directory_bits(documents, bits):
    assert directory_bits(20, documents) == bits


@pytest.mark.parametrize(
    ("n_bits", "max_distance", "message"),
    [
        (32, 3, "n_bits must be 64 or 128, got 32"),
        (64, -1, "max_distance must be 0 to 9 for 64 bits, got -1"),
        (64, 10, "max_distance must be 0 to 9 for 64 bits, got 10; farther away"),
        (128, 21, "max_distance must be 0 to 20 for 128 bits, got 21"),
    ],
)
def test_rejects_impossible_layout(n_bits, max_distance, message):
    for make in (Layout.standard, lambda *size: Layout.automatic(*size, 1)):
        with pytest.raises(ValueError, match=message):
            make(n_bits, max_distance)


def test_rejects_cuts_missing_pairs():
    with pytest.raises(ValueError, match="blocks must be 4 to 64, got 3"):
        Layout.from_blocks(64, 3, blocks=3)
    with pytest.raises(ValueError, match="equal must be 1 to 2, got 3"):
        Layout.from_blocks(64, 3, blocks=5, equal=3)
    with pytest.raises(ValueError, match=r"blocks must be 4 to 32 on each level, got \(4, 3\)"):
        Layout.from_levels(64, 3, blocks=(4, 3))


def test_unknown_name_lists_the_known_names():
    with pytest.raises(
        ValueError, match="layout must be one of 4, 10, 16, 20 for distance 3, got '5'"
    ):
        Layout.named("5", 64, 3)


def test_expected_documents_must_be_positive():
    with pytest.raises(ValueError, match="expected_documents must be at least 1, got 0"):
        Layout.automatic(64, 3, 0)
