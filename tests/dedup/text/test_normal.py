import unicodedata
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opencc import OpenCC

from dedup.text import is_unspaced, normalise, words

texts = st.text(st.characters(codec=None), max_size=60)
quick = settings(deadline=None, max_examples=150)
simplify = OpenCC("t2s").convert


def by_the_book(text):
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    return "".join(map(simplified, folded))


@cache
def simplified(character):
    is_surrogate = "\ud800" <= character <= "\udfff"  # which no converter takes
    return character if is_surrogate else simplify(simplify(character))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Plain ASCII", "plain ascii"),
        ("ＡＢＣ，１２３！", "abc,123!"),  # full width to half width
        ("Straße ﬁx", "strasse fix"),  # characters that become several
        ("e\u0301", "é"),  # a mark composes with the character before it
        ("E\u0301 中", "é 中"),
        ("\u1100\u1161\u11a8", "각"),  # Hangul letters compose by arithmetic
        ("漢字與軟體", "汉字与软体"),  # traditional to simplified, character by character
        ("薴", "苎"),  # in two steps
        ("日本の学校", "日本の学校"),
        ("İ", "i\u0307"),
        ("\ud800x\udfff\x00", "\ud800x\udfff\x00"),  # lone surrogates, NUL
        ("𝐀😀中", "a😀中"),  # beyond the first plane
    ],
)
def test_normalise_cases(text, expected):
    assert normalise(text) == expected


@quick
@given(texts)
def test_normalise_is_nfkc_case_folding_and_simplification(text):
    assert normalise(text) == by_the_book(text)
    assert normalise("中文" * 300 + "\n" + text) == "中文" * 300 + "\n" + by_the_book(text)


@quick
@given(texts)
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


def test_every_character_among_simple_ones():
    """The table's way and the book's way agree on each character and on its neighbours."""
    for start in range(0, 0x30000, 64):
        block = [chr(code) for code in range(start, start + 64)]
        for text in (
            "中" * 9 + "文".join(block[::16]) + "中" * 60,
            "a" * 70 + block[7] + "e\u0301",
        ):
            assert normalise(text) == by_the_book(text)


def test_normalise_takes_linear_time_for_marks_alone():
    marks = "a" + "\u0315\u0300" * 500_000  # by the book, an hour
    assert len(normalise(marks)) <= 31


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("...", False),
        ("中文", True),
        ("かな カナ", True),
        ("ภาษาไทย", True),
        ("한국어 낱말", False),  # Korean puts spaces
        ("русский", False),
        ("中a", False),  # exactly half is not over half
        ("中文a", True),
        ("中文 !!!!!!!!!!!!", True),  # what is no word character does not count
    ],
)
def test_is_unspaced_cases(text, expected):
    assert is_unspaced(text) is expected


def test_words_are_runs_of_word_characters():
    assert words("don't 3.14 a_b 你好,x") == ["don", "t", "3", "14", "a_b", "你好", "x"]
