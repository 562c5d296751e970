"""What is counted of a page: keys of lines, their sizes, and kinds of boxes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.sites.lines import MIN_LINES, PageLines, words_of
from dedup.sites.outline import Box, Line, Outline
from tests.dedup.sites.conftest import outlines, parsed


def keys(body: str) -> list[int]:
    return PageLines(parsed(body)).keys.tolist()


# Two lines, and whether they are one and the same.
LINES = [
    ("<p>Some words", "<p>some  WORDS!", True, "neither case nor signs count"),
    ("<p>Some words", "<p>words some", False, "order counts"),
    ("<p>3 of 12", "<p>77 of 9", True, "numbers are equal"),
    ("<p>12", "<p>3", True, "numbers alone, too"),
    ("<p>1 2", "<p>1 2 3", False, "how many numbers there are counts"),
    ("<p>iso 8859", "<p>iso 8859a", False, "a word with a digit is no number"),
    ("<p>٣ words", "<p>3 words", False, "only ASCII digits are numbers"),
    ("<p>Foo", "<p><a href=x>Foo</a>", False, "a link is not what it leads to"),
    ("<p>Foo and bar", "<p>Foo and <a href=x>bar</a>", True, "some words in links are not most"),
    ("<p>中文", "<p>文中", False, "a character is a word"),
    ("<p>中文", "<p>中 文", True, "and needs no space"),
    ("<p>***", "<p>---", True, "lines without words are equal"),
]


@pytest.mark.parametrize(("first", "second", "expected", "why"), LINES)
def test_lines_are_the_same_by_their_words(
    first: str, second: str, expected: bool, why: str
) -> None:
    assert (keys(first) == keys(second)) is expected, why


@pytest.mark.parametrize(
    "text", ["“A Zed” [x]", "Äpfel", "ΟΔΟΣ “A”", "İ", "Kelvin \u212a", "@[`{ “"]
)
def test_words_are_those_of_the_text_in_lower_case(text: str) -> None:
    assert words_of([text]).hashes.tolist() == words_of([text.lower()]).hashes.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("***", 0), ("one", 1), ("It's 5 o'clock", 5), ("有字 and words", 4), ("a_b", 1)],
)
def test_size_of_a_line_is_its_words(text: str, expected: int) -> None:
    assert words_of([text]).counts.tolist() == [expected]


def test_words_of_links_are_counted() -> None:
    page = PageLines(parsed("<p>See <a href=x>the other page</a> now<p><a href=x>all</a><p>none"))
    assert page.sizes.tolist() == [5, 1, 1]
    assert page.linked.round().tolist() == [3, 1, 0]
    assert (page.keys & 1).tolist() == [1, 1, 0]


@pytest.mark.parametrize("body", ["", "<p>***", "<p>***<p>|", "<p>word<p>***", "<p>|<p>word"])
def test_lines_without_words_have_no_key(body: str) -> None:
    page = PageLines(parsed(body))
    has_no_words = page.sizes == 0
    assert not page.keys[has_no_words].any()
    assert page.keys[~has_no_words].all()


def test_a_line_without_words_is_not_counted() -> None:
    page = PageLines(parsed("<p>***<p>word<p>word<p>|"))
    assert len(page) == 4
    assert page.distinct_keys().tolist() == [page.keys[1]]


def test_a_box_of_few_lines_belongs_to_the_one_around() -> None:
    few, enough = "<p>x" * (MIN_LINES - 1), "<p>y" * MIN_LINES
    page = PageLines(parsed(f"<div id=a>{few}</div><div id=b>{enough}</div><p>z"))
    assert page.boxes.tolist() == [0, 2]
    n_lines = 2 * MIN_LINES
    assert list(zip(page.first.tolist(), page.end.tolist(), strict=True)) == [
        (0, n_lines),
        (MIN_LINES - 1, n_lines - 1),
    ]
    assert page.sums(page.sizes).tolist() == [n_lines, MIN_LINES]


# The names of two boxes, and whether the boxes are of one kind.
NAMES = [
    ("class=a", "class=a", True, "the same"),
    ("class='b a'", "class='a b'", True, "in whatever order"),
    ("class='a n1'", "class='a n2'", True, "names with digits are those of one page"),
    ("id=post-17", "id=post-18", True, "ids, too"),
    ("class=a", "class=b", False, "other classes"),
    ("id=a", "id=b", False, "other ids"),
    ("class='a b c d'", "class='a b c e'", True, "three classes count"),
    (f"id={'x' * 31}", f"id={'y' * 31}", True, "long ids are made up"),
]


@pytest.mark.parametrize(("first", "second", "expected", "why"), NAMES)
def test_kind_of_a_box_is_made_of_names(first: str, second: str, expected: bool, why: str) -> None:
    kinds = [
        PageLines(parsed(f"<div {names}><p>a<p>b<p>c</div>")).kinds.tolist()
        for names in (first, second)
    ]
    assert (kinds[0] == kinds[1]) is expected, why


def test_kind_of_a_box_is_made_of_the_way_to_it() -> None:
    inner = "<ul><li>a<li>b<li>c</ul>"
    kinds = PageLines(parsed(f"<nav>{inner}</nav><div>{inner}</div><div>{inner}</div>")).kinds
    assert len(kinds) == 7
    assert len(set(kinds.tolist())) == 5  # the two divisions, and what is in them, are alike


def test_classes_of_lone_surrogates_make_a_kind() -> None:
    page = Outline([Box(-1, "body", ()), Box(0, "div", ("\ud800",))], [Line(1, "a", "a", "")] * 3)
    assert len(PageLines(page).kinds) == 2


_WORD = re.compile(r"[a-z0-9_]+")


@given(st.lists(st.text(st.sampled_from("ab1 0_.,-*"), max_size=12), max_size=8))
def test_words_are_those_of_a_regular_expression(texts: list[str]) -> None:
    """For ASCII; two lines have one hash if their words are equal, numbers taken for one word."""
    found = words_of(texts)
    expected = [[re.sub(r"^[0-9]+$", "0", word) for word in _WORD.findall(text)] for text in texts]
    assert found.counts.tolist() == [len(words) for words in expected]
    hashes = found.line_hashes().tolist()
    for place, words in enumerate(expected):
        for other, others in enumerate(expected):
            if words and others:
                assert (hashes[place] == hashes[other]) == (words == others)


@settings(deadline=None)
@given(outlines())
def test_any_outline_has_lines_and_boxes(page: Outline) -> None:
    found = PageLines(page)
    assert len(found) == len(page.lines) == len(found.keys) == len(found.sizes)
    assert found.boxes[0] == found.first[0] == 0
    assert found.end[0] == len(page.lines)
    assert (found.linked <= found.sizes).all()
    assert (found.end[1:] - found.first[1:] >= MIN_LINES).all()
    whole = found.sums(np.ones(len(page.lines)))
    assert whole.tolist() == (found.end - found.first).tolist()
