import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.text import longest_sentences, normalise, sentences

quick = settings(deadline=None, max_examples=150)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t", []),
        ("one. two! three? four; five", ["one.", "two!", "three?", "four;", "five"]),
        ("一。二！三？四；五…六", ["一。", "二!", "三?", "四;", "五...", "六"]),
        ("line one\nline two\r\nthree", ["lineone", "linetwo", "three"]),
        ("pi is 3.14 at example.com", ["piis.atexample.com"]),  # no dot ends anything here
        ("第三条 本条例所称", ["第三条", "本条例所称"]),  # a number of a paragraph is apart
        ("12 of 34 pages", ["ofpages"]),  # digits go
        ("hello. Copyright 2020 me", ["hello."]),  # notices go
        ("正文。版权所有某公司。京ICP备0号", ["正文。"]),
    ],
)
def test_sentences_cases(text, expected):
    assert sentences(normalise(text)) == expected


def test_longest_sentences_come_first_and_ties_by_code_point():
    assert longest_sentences("bb. aaaa. cc. aaaa. d", 3) == ["aaaa.", "bb.", "cc."]


def test_longest_sentences_do_not_count_digits():
    assert longest_sentences("1234567890 a\nbcd", 1) == ["bcd"]


@quick
@given(st.text("ab1。.\n 中©", max_size=60), st.integers(1, 4))
def test_longest_sentences_are_those_of_a_full_sort(text, count):
    every = sorted(set(sentences(text)), key=lambda sentence: (-len(sentence), sentence))
    assert longest_sentences(text, count) == every[:count]


def test_a_million_sentences_take_linear_time():
    assert longest_sentences("ab. " * 1_000_000, 3) == ["ab."]
