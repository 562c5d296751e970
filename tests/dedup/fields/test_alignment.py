"""Places of the tokens of a text in a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.fields.alignment import align, align_rest

TOKENS = st.lists(st.sampled_from("abcdefgh"), max_size=40)

# What is wanted, what is there, and where it is; "." is a place outside of it.
CASES = [
    ("", "", []),
    ("a", "", [-1]),
    ("ab", "ab", [0, 1]),
    ("bcd", "abxbcde", [3, 4, 5]),  # menu and article: next to the rest
    ("abcxy", "abc--abcxy", [5, 6, 7, 8, 9]),
    ("xyabc", "xyabc--abc", [0, 1, 2, 3, 4]),
    ("aba", "aba", [0, 1, 2]),  # as often as there
    ("abc", "ab-abc-bc", [3, 4, 5]),  # no token is unique: the longest run
    ("aQb", "a-b", [0, -1, 2]),
    ("aa", "aaaa", [0, 1]),
    ("ba", "ab", [1, -1]),  # of contradictions the fewest are given up
]


@pytest.mark.parametrize(("wanted", "there", "expected"), CASES)
def test_tokens_are_found_where_they_are_dense(
    wanted: str, there: str, expected: list[int]
) -> None:
    found = align(wanted, there)
    assert len(found) == len(expected)
    if (wanted, there) != ("ba", "ab"):
        assert found == expected
    else:
        assert sum(place >= 0 for place in found) == 1


def test_better_places_are_preferred() -> None:
    assert align("aQ", "a-a-a", is_better=lambda place: place == 2) == [2, -1]


def test_rest_is_looked_for_between_known_places() -> None:
    assert align_rest([0, -1, 4], "abc", "axbbcb") == [0, 3, 4]


@given(wanted=TOKENS, there=TOKENS)
def test_places_ascend_and_have_equal_tokens(wanted: list[str], there: list[str]) -> None:
    places = align(wanted, there)
    known = [place for place in places if place >= 0]
    assert known == sorted(set(known))
    assert all(
        place < 0 or there[place] == token for token, place in zip(wanted, places, strict=True)
    )


@given(there=st.lists(st.integers(), unique=True, max_size=40), data=st.data())
def test_parts_of_distinct_tokens_are_found_whole(there: list[int], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(there))), unique=True)) if there else []
    assert align([there[place] for place in sorted(chosen)], there) == sorted(chosen)


def test_equal_tokens_take_linear_time() -> None:
    """Quadratic time would be 10^8 steps of Python."""
    places = align(["a", "b"] * 6_000, ["a", "b", "a"] * 8_000)
    assert sum(place >= 0 for place in places) > 8_000
