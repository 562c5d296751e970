import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.evaluation import Truth, exact_truth
from dedup import Document, resemblance

pytestmark = pytest.mark.slow

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), min_size=1, max_size=8)


def jaccard(first, second):
    sets = []
    for text in (first, second):
        words = re.findall(r"\w+", text.lower())
        sets.append(set(zip(words, words[1:], words[2:], strict=False)))
    return len(sets[0] & sets[1]) / max(1, len(sets[0] | sets[1]))


@settings(deadline=None, max_examples=100)
@given(TEXTS)
def test_all_pairs_of_a_half_and_more_are_found(texts):
    truth = exact_truth([Document(str(place), text) for place, text in enumerate(texts)])
    expected = {
        (earlier, later): jaccard(texts[earlier], texts[later])
        for later in range(len(texts))
        for earlier in range(later)
        if jaccard(texts[earlier], texts[later]) >= 0.5
    }
    assert truth.pairs == expected
    for later in range(len(texts)):
        earlier = [likeness for pair, likeness in expected.items() if pair[1] == later]
        assert truth.highest[later] == max(earlier, default=0)


def test_the_truth_is_what_the_detectors_compute():
    """Chinese by 5 characters, mixed scripts, case and width."""
    texts = [
        "两个版本的文件，都在这里。",
        "两个版本的文件都在这里！",
        "我们两个版本的文件，都在这里",
    ]
    texts += ["One ＴＷＯ three four", "one two three FOUR", "", "!", "one two"]
    documents = [Document(str(place), text) for place, text in enumerate(texts)]
    truth = exact_truth(documents)
    assert sorted(truth.pairs) == [(0, 1), (0, 2), (1, 2), (3, 4)]
    for (first, second), likeness in truth.pairs.items():
        assert likeness == resemblance(documents[first].shingles, documents[second].shingles)


def test_a_pair_has_no_order():
    truth = Truth({(0, 2): 0.75, (1, 2): 0.9}, n_documents=3)
    assert (truth.of(2, 0), truth.of(0, 2), truth.of(0, 1)) == (0.75, 0.75, 0)
    assert truth.at_least(0.8) == [(1, 2)]
    assert truth.highest == [0, 0, 0.9]
