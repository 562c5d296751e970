import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.evaluation.terms import (
    DocumentFrequencies,
    hash_each,
    jieba_frequencies,
    jieba_keywords,
    term_counts,
)
from benchmarks.evaluation.weighting import Keywords, Levels, TfIdf, quantise
from dedup.text.codepoints import code_points, hash_words

pytestmark = pytest.mark.slow

CHINESE = (
    "近日，清华大学的研究人员发布了一种新的网页去重算法。研究人员说，该算法比以往的算法快得多。"
)


@pytest.fixture(scope="module")
def counted():
    """Four documents: `common` is in all of them, `rare` in one."""
    texts = ["common rare", "common usual", "common usual", "common"]
    return DocumentFrequencies.count(term_counts(text, unspaced=False)[0] for text in texts)


def test_idf_is_that_of_the_counted_documents(counted):
    found = counted.idf(hash_each(["common", "usual", "rare", "unknown"]))
    assert np.allclose(found, np.log([5 / 5, 5 / 3, 5 / 2, 5 / 1]))
    assert counted.greatest == np.log(5)


def test_tables_of_different_corpora_have_different_digests(counted):
    other = DocumentFrequencies.count([hash_each(["common"])])
    assert len({counted.digest, other.digest, jieba_frequencies().digest}) == 3


def test_an_empty_corpus_knows_nothing():
    table = DocumentFrequencies.count([])
    assert table.idf(hash_each(["word"])).tolist() == [0.0]


def test_words_hash_as_they_do_in_a_text():
    text = "two 版本 words 😀x"
    words = ["two", "版本", "words", "x"]
    codes = code_points(text)
    is_word = np.isin(codes, code_points("".join(words)))
    assert np.array_equal(hash_each(words), hash_words(codes, is_word))
    assert len(hash_each([])) == 0


def test_jieba_table_knows_chinese_words_and_takes_its_median_for_others():
    """From idf.txt: 算法 10.2, 我们 3.3."""
    frequent, rare, unknown = jieba_frequencies().idf(hash_each(["我们", "算法", "dedup"]))
    assert frequent < rare
    assert unknown == pytest.approx(11.98, abs=0.2)


def test_jieba_keywords_are_those_of_extract_tags():
    hashes, weights = jieba_keywords(CHINESE, 3)
    import jieba.analyse  # loaded by now, its warnings caught

    tags = jieba.analyse.extract_tags(CHINESE, topK=3, withWeight=True)
    assert next(tag for tag, _ in tags) == "算法"
    assert hashes.tolist() == hash_each([tag for tag, _ in tags]).tolist()
    assert weights.tolist() == [weight for _, weight in tags]


def test_jieba_is_imported_when_asked_and_makes_no_noise():
    """In a process of its own, where warnings are errors and nothing is loaded yet."""
    code = (
        "import sys; from benchmarks.evaluation.terms import jieba_keywords\n"
        "assert 'jieba' not in sys.modules\n"
        "jieba_keywords('网页去重', 3)\n"
        "assert 'jieba.analyse' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_tf_idf_weighs_log_frequency_times_idf(counted):
    terms, weights = TfIdf(counted)("rare rare common", unspaced=False)
    expected = dict(
        zip(hash_each(["rare", "common"]).tolist(), [np.log(3) * np.log(2.5), 0], strict=True)
    )
    assert dict(zip(terms.tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)


def test_keywords_of_a_spaced_text_are_the_heaviest(counted):
    terms, weights = Keywords(counted, 2)("common common rare usual usual", unspaced=False)
    assert terms.tolist() == hash_each(["usual", "rare"]).tolist()
    assert weights.tolist() == pytest.approx([np.log(5 / 3) * 2 / 5, np.log(5 / 2) / 5])


def test_levels_are_whole_numbers_from_1_to_5():
    _, weights = Levels(Keywords(jieba_frequencies()))(CHINESE, unspaced=True)
    assert weights.dtype.kind == "i"
    assert (weights.min(), weights.max()) == (1, 5)


# (weights, levels)
LEVELS = [
    ([], []),
    ([2.0], [1]),
    ([3.0, 3.0], [1, 1]),
    ([0.0, 10.0], [1, 5]),
    ([0.0, 1.9, 2.0, 4.0, 6.0, 8.0, 10.0], [1, 1, 2, 3, 4, 5, 5]),
]


@pytest.mark.parametrize(("weights", "levels"), LEVELS)
def test_levels_are_equal_steps(weights, levels):
    assert quantise(np.array(weights), 5).tolist() == levels


@settings(deadline=None, max_examples=40)
@given(st.text(st.characters(codec=None), max_size=40), st.booleans())
def test_every_weighting_takes_every_text(text, unspaced):
    table = jieba_frequencies()
    for weighting in (TfIdf(table), Keywords(table), Levels(Keywords(table))):
        terms, weights = weighting(text, unspaced=unspaced)
        assert len(terms) == len(weights) == len(set(terms.tolist()))
        assert np.all(weights >= 0)
