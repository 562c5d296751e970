import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.groups import Groups, Page, survivor


def page(url, canonical=None, fetched=0.0):
    return Page(url=url, canonical_url=canonical, fetched=fetched)


def components(pairs):
    """By search: everything that can be reached."""
    neighbours = {}
    for first, second in pairs:
        neighbours.setdefault(first, set()).add(second)
        neighbours.setdefault(second, set()).add(first)
    found, seen = [], set()
    for start in sorted(neighbours):
        group, waiting = set(), [start]
        while waiting:
            if (number := waiting.pop()) not in group:
                group.add(number)
                waiting.extend(neighbours[number])
        if start not in seen and len(group) > 1:
            found.append(tuple(sorted(group)))
        seen |= group
    return found


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=20))
def test_groups_are_connected_components_in_any_order_of_pairs(pairs):
    expected = components(pairs)
    assert Groups(pairs).all() == expected
    assert Groups((b, a) for a, b in reversed(pairs)).all() == expected


def test_representative_is_the_smallest_and_a_stranger_its_own():
    groups = Groups([(9, 4), (4, 7), (1, 2)])
    assert [groups.representative(number) for number in (9, 7, 4, 2, 100)] == [4, 4, 4, 1, 100]


def test_a_long_chain_is_one_group():
    chain = list(itertools.pairwise(range(100_000)))
    random.Random(1).shuffle(chain)
    assert [len(group) for group in Groups(chain).all()] == [100_000]


# (the survivor first, the other, what decides)
ORDER = [
    (
        page("http://a.example/long/path", fetched=9.0),
        page("https://a.example/", "http://a.example/long/path"),
        "a canonical link, before all else",
    ),
    (page("https://a.example/long"), page("http://a.example/"), "https, before length"),
    (page("https://a.example/", fetched=9.0), page("https://a.example/b"), "length, before time"),
    (page("https://a.example/b", fetched=1.0), page("https://a.example/a", fetched=2.0), "time"),
    (page("https://a.example/a"), page("https://a.example/b"), "the URL, where all else is equal"),
    (
        page("https://a.example/a", "https://a.example/a"),
        page("https://a.example/", "https://elsewhere.example/"),
        "a canonical link to the page itself; none of the two is elsewhere",
    ),
]


@pytest.mark.parametrize(("kept", "other", "why"), ORDER)
def test_survivor_is_the_same_in_any_order(kept, other, why):
    assert survivor([kept, other]) == survivor([other, kept]) == kept, why


def test_no_page_has_no_survivor():
    with pytest.raises(ValueError, match="pages must be at least one, got none"):
        survivor([])
