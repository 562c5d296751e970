import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.text import UNSPACED_FEATURES, features, normalise, segments
from dedup.text.chinese_words import inverse_document_frequencies, usual_inverse_document_frequency

quick = settings(deadline=None, max_examples=100)
CHINESE = "我们的两个版本，版本的差别。"


def weights(text, **options):
    return sorted(features(text, **options)[1].tolist())


@quick
@given(st.text("ab _1,中😀", max_size=60))
def test_words_and_characters_weigh_as_often_as_they_occur(text):
    words, characters = Counter(re.findall(r"\w+", text)), Counter(re.findall(r"\w", text))
    assert weights(text, unspaced=False) == sorted(words.values())
    assert weights(text, unspaced=True) == sorted(characters.values())


def test_segments_of_one_character_and_punctuation_do_not_count():
    # 我们 的 两个 版本 ， 版本 的 差别 。
    assert weights(CHINESE, unspaced=True, unspaced_features="segments") == [1, 1, 1, 2]


def test_segments_weigh_by_rarity():
    frequencies = inverse_document_frequencies()
    expected = [
        count * round(100 * frequencies.get(word, usual_inverse_document_frequency()))
        for word, count in Counter({"我们": 1, "两个": 1, "版本": 2, "差别": 1}).items()
    ]
    assert weights(CHINESE, unspaced=True, unspaced_features="segments-idf") == sorted(expected)


def test_the_table_of_frequencies_is_jiebas():
    frequencies = inverse_document_frequencies()
    assert len(frequencies) > 200_000
    assert frequencies["我们"] < frequencies["叛徒"] <= max(frequencies.values()) < 14
    assert 11 < usual_inverse_document_frequency() < 13


def test_texts_that_the_dictionary_does_not_know_have_characters():
    thai = "ภาษาไทย"
    by_character = features(thai, unspaced=True)
    by_segment = features(thai, unspaced=True, unspaced_features="segments")
    assert len(by_character[0])
    assert np.array_equal(by_character, by_segment)


@pytest.mark.parametrize("kind", UNSPACED_FEATURES)
@pytest.mark.parametrize(
    "text", ["", "。", "\ud800中文\udfff", "\x00中文", "😀" * 9, "中" * 10_000]
)
def test_no_text_raises(text, kind):
    hashes, counts = features(text, unspaced=True, unspaced_features=kind)
    assert len(hashes) == len(counts)
    assert np.all(counts > 0)


@quick
@given(st.text(st.characters(codec=None), max_size=40))
def test_segments_joined_are_the_text(text):
    normal = normalise(text)
    assert "".join(segments(normal)) == re.sub("[\ud800-\udfff]", "\ufffd", normal)
