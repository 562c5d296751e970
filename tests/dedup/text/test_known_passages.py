"""Known passages: against a search for each run of words in each text."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dedup.text import known_passages as kernel
from dedup.text.known_passages import KnownPassages
from dedup.text.passages import Units

WIDTH = 10
TEXT = st.one_of(
    st.lists(st.sampled_from("ab"), max_size=16).map(" ".join),
    st.text(st.sampled_from("甲乙"), max_size=16),
)
TEXTS = st.lists(TEXT, max_size=5)


def by_search(known: list[str], text: str) -> int | None:
    def runs(each: str, width: int) -> set[str]:
        units = Units(each)
        return {" ".join(units.at(n, width)) for n in range(len(units) - width + 1)}

    for number, other in enumerate(known):
        width = min(len(Units(other)), WIDTH)
        if width >= 8 and runs(other, width) & runs(text, width):
            return number
    return None


@given(TEXTS, TEXTS)
def test_the_first_known_text_with_a_common_passage_is_found(
    known: list[str], texts: list[str]
) -> None:
    found = KnownPassages(known, WIDTH)
    assert found.find(texts) == [by_search(known, text) for text in texts]
    assert found.too_short == sum(len(Units(each)) < 8 for each in known)


def test_equal_hashes_of_different_words_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    real = kernel.windows

    def weak(*given: object) -> tuple[NDArray[np.uint64], ...]:
        hashes, owners, within = real(*given)  # type: ignore[arg-type]
        return hashes & np.uint64(1), owners, within

    monkeypatch.setattr(kernel, "windows", weak)
    known = ["a b c d e f g h i j k", "l m n o p q r s t u v"]
    found = KnownPassages(known, WIDTH)
    texts = ["x l m n o p q r s t u", "1 2 3 4 5 6 7 8 9 10 11 12", known[0]]
    assert found.find(texts) == [1, None, 0]


def test_they_travel_to_other_processes() -> None:
    found = pickle.loads(pickle.dumps(KnownPassages(["a b c d e f g h"], WIDTH)))
    assert found.find(["x a b c d e f g h y"]) == [0]


def test_of_fewer_words_than_a_passage_has_all_must_be_there() -> None:
    found = KnownPassages(["a b c d e f g h i"], WIDTH)
    assert found.find(["x a b c d e f g h i y", "a b c d e f g h"]) == [0, None]


@pytest.mark.parametrize("width", [3, 7])
def test_shorter_passages_can_be_asked_for(width: int) -> None:
    words = " ".join("abcdefg"[:width])
    assert KnownPassages([words], width).find([f"z {words} z"]) == [0]
