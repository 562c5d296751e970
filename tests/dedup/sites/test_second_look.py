"""The second look: what is rare on two pages, and whether it tells them apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.sites import second_look
from dedup.sites.lines import PageLines, words_of
from dedup.sites.outline import Outline
from dedup.sites.second_look import (
    KEPT_SHINGLES,
    SEEN_SHINGLES,
    Difference,
    Rest,
    count_shingles,
    difference,
    rest_of,
)
from dedup.sites.site import rest_by_itself
from tests.dedup.sites.conftest import (
    FOOTER,
    MENU,
    learned,
    outlines,
    parsed,
    prose,
    read,
    sphinx,
)

SHINGLES = 100
"""Of a text that is not short."""

NO_LINES = np.empty(0, np.uint32)


def rest(*shingles: int, is_whole: bool = True) -> Rest:
    numbers = np.array(sorted(shingles), np.uint32)
    return Rest(numbers, numbers // 10, is_whole=is_whole)


# Rare shingles that the page alone, the original alone, and both have; have they one name?; the
# shingles of the text; are they two pages?
TABLE = [
    (0, 0, 0, False, SHINGLES, False, "nothing is rare"),
    (0, 0, 90, False, SHINGLES, False, "all is shared"),
    (9, 0, 90, True, SHINGLES, False, "a line more is a copy"),
    (0, 90, 90, False, SHINGLES, False, "so is a page without its side bar"),
    (49, 0, 40, True, SHINGLES, False, "and one with a banner"),
    (50, 0, 40, True, SHINGLES, True, "but one that says much more is none"),
    (60, 0, 60, True, SHINGLES, False, "much, against what both say"),
    (1, 0, 99, False, SHINGLES, True, "other names: whatever the original has not"),
    (1, 0, 99, False, 49, True, "so for short texts"),
    (0, 9, 1, False, SHINGLES, False, "what only the original has is not lost"),
    (3, 3, 5, True, SHINGLES, True, "one name: more is needed"),
    (2, 9, 3, True, SHINGLES, False, "on both sides"),
    (3, 3, 6, True, SHINGLES, False, "and half of all is not shared"),
    (2, 2, 90, True, 49, True, "one name, short texts: other answers"),
    (1, 1, 90, True, 49, False, "one word is a typing error"),
    (20, 0, 90, True, 49, True, "much more beside a short text"),
    (19, 0, 90, True, 49, False, "not so much"),
]


@pytest.mark.parametrize(
    ("first", "second", "shared", "have_same_name", "n_shingles", "expected", "why"), TABLE
)
def test_what_tells_pages_apart(
    first: int,
    second: int,
    shared: int,
    have_same_name: bool,
    n_shingles: int,
    expected: bool,
    why: str,
) -> None:
    found = Difference(first, second, shared, NO_LINES)
    told = found.tells_apart(have_same_name=have_same_name, n_shingles=n_shingles)
    assert told is expected, why


def test_differences_are_counted_on_both_sides() -> None:
    found = difference(rest(1, 2, 30, 31), rest(2, 31, 50))
    assert (found.only_first, found.only_second, found.shared) == (2, 1, 2)
    assert found.lines.tolist() == [0, 3]


@pytest.mark.parametrize("n_shingles", [0, 1, 127, 128, 129, 1_024])
def test_a_sketch_is_compared_as_far_as_it_reaches(n_shingles: int) -> None:
    page, other = rest(*range(n_shingles)), rest(*range(n_shingles, 2 * n_shingles))
    for one in (page, page.kept()):
        same = difference(page, one)
        assert (same.only_first, same.only_second) == (0, 0)
        assert same.shared == min(n_shingles, KEPT_SHINGLES if one is not page else SEEN_SHINGLES)
    found = difference(other, page.kept())
    if n_shingles <= KEPT_SHINGLES:
        assert (found.only_first, found.only_second) == (n_shingles, n_shingles)
    else:
        assert found.only_second == KEPT_SHINGLES
        assert found.only_first == 0  # all of them lie beyond its reach


def test_furniture_that_has_become_known_does_not_count() -> None:
    page = rest(10, 11, 20, 30)
    stays = page.still_rare(lambda keys: keys != 1)
    assert stays.shingles.tolist() == [20, 30]
    assert stays.lines.tolist() == [2, 3]
    assert page.still_rare(None) is page
    assert rest().still_rare(lambda keys: keys > 99).shingles.tolist() == []


@given(
    st.dictionaries(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), max_size=300),
    st.booleans(),
)
def test_what_is_stored_comes_back(numbers: dict[int, int], is_whole: bool) -> None:
    shingles = np.array(sorted(numbers), np.uint32)
    lines = np.array([numbers[each] for each in sorted(numbers)], np.uint32)
    page = Rest(shingles, lines, is_whole=is_whole)
    data = page.to_bytes()
    found = Rest.from_bytes(data)
    assert len(data) <= 1 + 8 * KEPT_SHINGLES
    assert found.shingles.tolist() == shingles[:KEPT_SHINGLES].tolist()
    assert found.lines.tolist() == lines[:KEPT_SHINGLES].tolist()
    assert found.is_whole == (is_whole and len(numbers) <= KEPT_SHINGLES)
    assert found.to_bytes() == data


@pytest.mark.parametrize("data", [b"", b"\1" * 2, bytes(8), bytes(10)])
def test_bytes_of_another_length_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=f"must take 8 bytes each, got {len(data)}"):
        Rest.from_bytes(data)


def test_shingles_do_not_cross_lines() -> None:
    page = parsed("<p>one two three four<p>five<p>six seven<p>***")
    assert len(rest_by_itself(page).shingles) == 4
    split = parsed("<p>one two three<p>four five six seven")
    assert len(rest_by_itself(split).shingles) == 3
    shared = difference(rest_by_itself(page), rest_by_itself(split)).shared
    assert shared == 1  # "one two three"


def test_lines_that_are_not_rare_are_left_out() -> None:
    page = PageLines(parsed("<p>one two three<p>four five six<p>seven"))
    found = rest_of(page, np.array([True, False, True]))
    assert set(found.lines.tolist()) == {page.keys[0], page.keys[2]}


def test_numbers_are_not_a_difference() -> None:
    one, other = (rest_by_itself(parsed(f"<p>Read {n} times since {n + 1}<p>{n}")) for n in (1, 20))
    assert difference(one, other).lines.tolist() == []


@settings(deadline=None)
@given(outlines(), st.booleans())
def test_a_page_never_differs_from_itself(page: Outline, have_same_name: bool) -> None:
    found = rest_by_itself(page)
    for other in (found, found.kept(), Rest.from_bytes(found.to_bytes())):
        for first, second in ((found, other), (other, found)):
            told = difference(first, second)
            assert (told.only_first, told.only_second) == (0, 0)
            assert not told.tells_apart(have_same_name=have_same_name, n_shingles=0)


@settings(deadline=None)
@given(outlines(), st.randoms(use_true_random=False))
def test_order_of_lines_makes_no_difference(page: Outline, choose: object) -> None:
    lines = list(page.lines)
    choose.shuffle(lines)  # type: ignore[attr-defined]
    shuffled = Outline(page.boxes, lines)
    assert rest_by_itself(shuffled).shingles.tolist() == rest_by_itself(page).shingles.tolist()


# --- Of pages ------------------------------------------------------------------------------------

OWN = "".join(f"<p>{prose(f'own {n}', 20)}" for n in range(6))
SITE = learned(*map(sphinx, range(40)))

# What becomes of a page, and whether it is another one then.
CHANGES = [
    (lambda page: page, False, "nothing"),
    (lambda page: page[: page.index("<div class=sphinxsidebar")], False, "a print view"),
    (lambda page: page.replace(MENU, ""), False, "without its side bar"),
    (lambda page: page + f"<div>{prose('a line', 9)}</div>", False, "one more line"),
    (lambda page: page.replace(FOOTER, prose("other", 30)), False, "another footer"),
    (lambda page: page.replace("Page 50", "Page 7"), False, "another number"),
    (lambda page: page.replace(prose("own 3", 20), "This."), False, "less is said"),
    (
        lambda page: page + "".join(f"<p>{prose(f'answer {n}', 30)}</p>" for n in range(7)),
        True,
        "much is answered",
    ),
    (lambda page: page.replace(OWN, OWN.replace("own", "")), False, "the same again"),
]


@pytest.mark.parametrize(("change", "expected", "why"), CHANGES)
def test_changes_that_make_another_page(change: object, expected: bool, why: str) -> None:
    page = sphinx(50, content=OWN)
    first, second = read(SITE, page, 50).rest, read(SITE, change(page), 50).rest  # type: ignore[operator]
    told = difference(second, first.kept())
    assert told.tells_apart(have_same_name=True, n_shingles=118) is expected, why


def test_different_answers_to_one_question_stay_apart() -> None:
    def question(number: int) -> str:
        return sphinx(50, content=f"<p>{prose('why', 12)}<p>{prose(f'answer {number}', 15)}")

    first, second = (read(SITE, question(n), 50).rest for n in (1, 2))
    told = difference(second, first.kept())
    assert told.tells_apart(have_same_name=True, n_shingles=10)
    assert len(set(told.lines.tolist())) == 1


@settings(max_examples=60)
@given(st.lists(st.integers(0, 60), max_size=200), st.integers(1, 9), st.integers(1, 400))
def test_shingles_are_counted_as_far_as_it_matters(
    words: list[int], a_line: int, long: int
) -> None:
    spelled = [chr(97 + word % 26) * (1 + word // 26) for word in words]
    lines = [spelled[start : start + a_line] for start in range(0, len(spelled), a_line)]
    text = "\n".join(" ".join(line) + " " * long for line in lines)
    shingles = {
        tuple(line[start : start + 3]) for line in lines for start in range(max(1, len(line) - 2))
    }
    assert min(50, count_shingles(text)) == min(50, len(shingles))


def test_a_long_text_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    read_texts: list[str] = []
    monkeypatch.setattr(
        second_look, "words_of", lambda lines: read_texts.extend(lines) or words_of(lines)
    )
    text = "\n".join(prose(f"line{number}", 20) for number in range(500))
    assert count_shingles(text) >= 50
    assert sum(map(len, read_texts)) < 5_000


@settings(max_examples=60)
@given(st.lists(st.integers(0, 20), max_size=80))
def test_first_places_are_those_of_numpy(numbers: list[int]) -> None:
    hashes = np.array(numbers, np.uint32) * np.uint32(0x9E37_79B9)
    expected = np.unique(hashes, return_index=True)
    for found, wanted in zip(second_look._firsts(hashes), expected, strict=True):
        assert found.tolist() == wanted.tolist()
