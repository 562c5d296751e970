"""Passages: against a search of all places of all runs."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.text import passages as kernel
from dedup.text.passages import (
    Passage,
    Stretch,
    Units,
    passages_of,
    place_of,
    placed_windows,
    repeated,
    stretches,
    text_at,
)

WIDTH = 4
SPACED = st.lists(st.sampled_from("abc"), max_size=24).map(" ".join)
UNSPACED = st.text(st.sampled_from("甲乙丙。"), max_size=24)
TEXTS = st.lists(st.one_of(SPACED, UNSPACED), max_size=6)


def found_in(texts: Sequence[str], width: int = WIDTH) -> dict[int, list[Stretch]]:
    none = np.empty(0, np.uint64)
    numbers = range(1, len(texts) + 1)
    parts = [(none, none), *placed_windows(numbers, texts, width)]
    hashes, places = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(hashes)
    places, firsts = repeated(hashes[order], places[order], width)
    order = np.argsort(places)
    return dict(stretches(places[order], firsts[order]))


def by_search(texts: Sequence[str], width: int = WIDTH) -> dict[int, set[tuple[int, int]]]:
    """The windows that stand earlier, without an overlap, and where they first do."""
    firsts: dict[tuple[str, ...], int] = {}
    found: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for number, text in enumerate(texts, start=1):
        units = Units(text)
        for unit in range(len(units) - width + 1):
            place = place_of(number, unit)
            first = firsts.setdefault(tuple(units.at(place, width)), place)
            if place - first >= width:
                found[number].add((place, first))
    return found


@given(TEXTS)
def test_all_that_stands_earlier_is_found_and_nothing_else(texts: list[str]) -> None:
    found = {
        number: {
            (each.start + step, each.source + step)
            for each in stretches
            for step in range(each.n_windows)
        }
        for number, stretches in found_in(texts).items()
    }
    assert found == by_search(texts)


@given(TEXTS)
def test_stretches_are_maximal(texts: list[str]) -> None:
    for found in found_in(texts).values():
        for one, other in pairwise(found):
            stop = one.start + one.n_windows, one.source + one.n_windows
            assert stop != (other.start, other.source)


@given(TEXTS)
def test_a_passage_stands_in_its_source_and_the_rest_is_all_other_words(texts: list[str]) -> None:
    for number, found in found_in(texts).items():
        text = texts[number - 1]
        passages = passages_of(text, found, WIDTH)
        units = Units(text)
        covered: set[int] = set()
        for each, (start, end, source) in zip(found, passages.listed, strict=True):
            assert source == text_at(each.source) <= number
            length = each.n_windows + WIDTH - 1
            assert Units(text[start:end]).at(0, length) == Units(texts[source - 1]).at(
                each.source, length
            )
            unit = each.start - place_of(number)
            covered.update(range(unit, unit + length))
        left = [units.at(unit, 1)[0] for unit in range(len(units)) if unit not in covered]
        if passages.rest is None:
            assert not left
        else:
            assert Units(passages.rest).at(0, len(units)) == left


def test_every_word_that_is_cut_is_left_in_some_text() -> None:
    texts = ["a b c d e f g", "z a b c d e f g y", "b c d e f g y y", "y y q q q q q q q q"]
    found = found_in(texts)
    rests = [
        passages_of(text, found[number], WIDTH).rest if number in found else text
        for number, text in enumerate(texts, start=1)
    ]
    assert rests == [texts[0], "z y", "y", "y y q q q q"]


def cut(text: str, start: int, units: int) -> str | None:
    place = place_of(2, start)
    return passages_of(text, [Stretch(place, units - WIDTH + 1, place_of(1))], WIDTH).rest


CASES = [
    ("Intro. Here we go again. Next.", 1, 4, "Intro. Next."),
    ("Intro.\n\nHere we go again.\n\nNext.", 1, 4, "Intro.\n\nNext."),
    ("Intro. Here we go again!", 1, 4, "Intro."),
    ("Here we go again (next)", 0, 4, "(next)"),
    ("«Here we go again», he said", 0, 4, "«he said"),  # what stands before a passage stays
]


@pytest.mark.parametrize(("text", "start", "units", "rest"), CASES)
def test_what_is_cut_leaves_a_text_that_can_be_read(
    text: str, start: int, units: int, rest: str
) -> None:
    assert cut(text, start, units) == rest


def test_places_are_those_of_the_text_before_it_was_normalised() -> None:
    text = "Große ﬁsche: CAFE\u0301 im Straßenbau. Ende"
    found = passages_of(text, [Stretch(place_of(2, 0), 2, place_of(1))], WIDTH)
    assert found.listed == [Passage(0, text.index("."), 1)]
    assert found.rest == "Ende"


def test_a_text_of_which_all_words_are_repeated_has_no_rest() -> None:
    assert cut("here we go again …", 0, 4) is None


def test_the_longest_passage_names_the_source() -> None:
    found = [Stretch(place_of(9, 0), 1, place_of(3)), Stretch(place_of(9, 4), 2, place_of(5))]
    assert passages_of("a b c d e f g h i", found, WIDTH).main == 5


def test_units_beyond_what_a_place_holds_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last unit of one text would stand beside the first of the next."""
    monkeypatch.setattr(kernel, "_UNIT_MASK", 3)
    ((_, places),) = placed_windows([1], ["a b c d e f g h i"], WIDTH)
    assert [int(each) - place_of(1) for each in places] == [0, 1, 2]
