import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.similarity import containment, resemblance
from dedup.text import normalise, shingle_hashes
from dedup.text.codepoints import hash_windows
from dedup.text.joined_texts import JoinedTexts
from dedup.text.shingles import count_distinct

quick = settings(deadline=None, max_examples=150)
few_letters = st.text("ab中文, \n😀_1", max_size=80)


def shingle_set(text, unspaced):
    """The definition, by Python's own means."""
    if unspaced:
        characters = re.findall(r"\w", text)
        return {tuple(characters[i : i + 5]) for i in range(len(characters) - 4)}
    words = re.findall(r"\w+", text)
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


@quick
@given(few_letters, few_letters, st.booleans())
def test_resemblance_of_hashes_is_that_of_the_shingles(first, second, unspaced):
    a, b = shingle_set(first, unspaced), shingle_set(second, unspaced)
    hashed = [shingle_hashes(text, unspaced=unspaced) for text in (first, second)]
    assert [len(hashes) for hashes in hashed] == [len(a), len(b)]
    assert resemblance(*hashed) == (len(a & b) / len(a | b) if a | b else 0)
    assert containment(*hashed) == (len(a & b) / len(a) if a else 0)


@quick
@given(st.text(st.characters(codec=None), max_size=40), st.booleans())
def test_hashes_ascend_without_repeats(text, unspaced):
    hashes = shingle_hashes(normalise(text), unspaced=unspaced)
    assert hashes.dtype == np.uint64
    assert np.all(hashes[1:] > hashes[:-1])


def test_hashes_are_the_same_on_every_machine():
    assert shingle_hashes("a rose is", unspaced=False).tolist() == [15170677331238389251]
    assert shingle_hashes("一二三四五", unspaced=True).tolist() == [9125536150510208772]


def word_hashes(text):
    return JoinedTexts([text], unspaced=False).units


@quick
@given(st.lists(few_letters, max_size=6), st.booleans())
def test_sets_of_joined_texts_are_those_of_each(texts, unspaced):
    found = JoinedTexts(texts, unspaced=unspaced).sets()
    for text, shingles in zip(texts, found, strict=True):
        assert np.array_equal(shingles, shingle_hashes(text, unspaced=unspaced))


def test_a_rose_is_a_rose():
    """Broder's example, with w = 4: of 5 windows, 3 are distinct."""
    windows = hash_windows(word_hashes("a rose is a rose is a rose"), 4)
    assert (len(windows), len(set(windows.tolist()))) == (5, 3)


def test_words_hash_alike_wherever_they_stand():
    alone = word_hashes("page")[0]
    for text in ("the page", "x" * 70_000 + " page", "中 page"):  # beyond the powers kept, too
        assert word_hashes(text)[-1] == alone


@pytest.mark.parametrize("count", [0, 1, 2, 511, 512, 513, 514, 5_000])
def test_count_distinct_agrees_with_numpy(count):
    values = np.random.default_rng(1).integers(0, 1 << 40, count, np.uint64) << np.uint64(23)
    values = np.concatenate((values, values[::3]))
    for got, expected in zip(count_distinct(values), np.unique_counts(values), strict=True):
        assert np.array_equal(got, expected)


def test_huge_texts_take_linear_time():
    assert len(shingle_hashes("word " * 1_000_000, unspaced=False)) == 1
    assert len(shingle_hashes("x" * 10_000_000, unspaced=False)) == 0
    assert len(shingle_hashes("好" * 1_000_000, unspaced=True)) == 1


def test_resemblance_below_the_threshold_may_be_left_out():
    few, many = np.arange(3, dtype=np.uint64), np.arange(10, dtype=np.uint64)
    assert resemblance(few, many) == 0.3
    assert resemblance(few, many, at_least=0.3) == 0.3
    assert resemblance(few, many, at_least=0.31) == 0.0
