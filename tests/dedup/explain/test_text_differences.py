from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.explain import text_differences as module
from dedup.explain.text_differences import differences

CASES = [
    # first, second, expected, why
    ("The same.", "The same.", ["The same."], "nothing differs"),
    ("", "", [], "nothing is there"),
    ("", "All new.", [("", "All new.")], "one is empty"),
    ("A red car.", "A red bus.", ["A red ", ("car", "bus"), "."], "a word is the unit"),
    ("One. Two. Three.", "One. Three.", ["One", (". Two", ""), ". Three."], "words are gone"),
    (
        "the old man",
        "the one boy",
        ["the ", ("old man", "one boy")],
        "over a blank they are joined",
    ),
    ("茶馆在河边。", "茶楼在河边。", ["茶", ("馆", "楼"), "在河边。"], "a character is the unit"),
    ("喝Oolong茶", "喝Assam茶", ["喝", ("Oolong", "Assam"), "茶"], "scripts side by side"),
    ("<b>a</b> c", "<b>a</b> d", ["<b>a</b> ", ("c", "d")], "markup is text"),
]


@pytest.mark.parametrize(("first", "second", "expected", "why"), CASES)
def test_differences_are_what_a_reader_would_mark(first, second, expected, why):
    assert differences(first, second) == expected, why


def test_what_is_shared_is_cut_to_its_ends():
    middle = "x" * 500 + " "
    found = differences(f"{middle}old {middle}here", f"{middle}new {middle}there")
    assert found[0] == 501 - 80
    assert [part for part in found if isinstance(part, tuple)] == [
        ("old", "new"),
        ("here", "there"),
    ]
    assert sum(part for part in found if isinstance(part, int)) == 421 + 502 - 160


def test_equal_texts_are_cut_to_their_beginning():
    assert differences("word " * 100, "word " * 100) == [("word " * 100)[:400], 100]


def test_a_long_rest_is_left_out():
    first = "".join(f"This is line {n}.\n" for n in range(5_000))
    found = differences(first, first.replace("is line", "was row"))
    assert isinstance(found[-1], int)
    assert sum(module._size(part) for part in found[:-1] if not isinstance(part, int)) < 4_000


words = st.sampled_from(
    ["tea ", "is ", "hot. ", "茶", "很", "热。", "\n", "é", "<", "\ud800", "ſ", "0"]
)
texts = st.one_of(st.lists(words, max_size=40).map("".join), st.text(max_size=40))


@settings(max_examples=200, deadline=None)
@given(texts, texts)
def test_both_texts_can_be_put_together_again(first, second):
    parts = module._joined(module._by_sentences(first, second))
    pairs = [(part, part) if isinstance(part, str) else part for part in parts]
    assert "".join(pair[0] for pair in pairs) == first
    assert "".join(pair[1] for pair in pairs) == second
    changes = [isinstance(part, tuple) for part in parts]
    assert not any(a and b for a, b in pairwise(changes))
