"""Fragments that are routes, and routes that show nothing new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from dedup.urls import canonical_url, routes
from dedup.urls.routes import FIRST_ROUTES, RouteWatch, is_route, route_of
from dedup.urls.traps import pattern_of, suspicion

A = "http://a.example/"


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("/path", True),
        ("!/path", True),
        ("!user", True),
        ("/?id=1", True),
        ("//x", True),
        ("", False),
        ("top", False),
        ("!", False),  # a link that leads nowhere
        ("/", False),  # the first page of an application: that of the address
        ("!/", False),
        ("path/x", False),
        (":~:text=x", False),
    ],
)
def test_what_is_a_route(fragment: str, expected: bool) -> None:
    assert is_route(fragment) is expected
    assert bool(route_of(f"{A}#{fragment}")) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://a.example:80#/b c", f"{A}#/b%20c"),
        (f"{A}?z=1&y=2#!/b?z=1&y=2 \n", f"{A}?y=2&z=1#!/b?z=1&y=2"),
        (f"{A}#/%7ea%2fb", f"{A}#/~a%2Fb"),
        (f"{A}#/ä|%23", f"{A}#/%C3%A4%7C%23"),
        (f"{A}#/b#place", f"{A}#/b"),
        (f"{A}#/#place", A),
        (f"{A}#top", A),
        (f"{A}#/", A),
    ],
)
def test_a_route_has_one_spelling(url: str, expected: str) -> None:
    assert canonical_url(url, has_routes=True) == expected
    assert canonical_url(url) == expected.partition("#")[0]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="#"), min_size=1))
def test_the_spelling_is_that_of_the_request(text: str) -> None:
    url = f"{A}#/{text}"
    spelt = canonical_url(url, has_routes=True)
    assert canonical_url(spelt, has_routes=True) == spelt
    assert canonical_url(Request(url).url, has_routes=True) == spelt


def test_a_route_without_spelling_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        canonical_url(f"{A}#/\ud800", has_routes=True)


def test_a_route_is_a_path_to_those_who_look_for_traps() -> None:
    assert pattern_of(f"{A}app/#/page/1") == pattern_of(f"{A}app/#/page/2")
    assert pattern_of(f"{A}app/#/page/1") != pattern_of(f"{A}app/")
    assert pattern_of(f"{A}app/#top") == pattern_of(f"{A}app/")
    assert suspicion(f"{A}#!/a/b/a/b/a/b/a", depth=1, year=2026) == "repetition"


def watch(*shown: tuple[str, int]) -> RouteWatch:
    found = RouteWatch()
    for url, text in shown:
        found.note(url, [text])
    return found


def test_routes_that_show_what_their_page_shows() -> None:
    same = [(f"{A}#/{n}", 0) for n in range(FIRST_ROUTES)]
    assert watch((A, 0), *same).same_as(f"{A}#/x") == A
    assert watch(*same, *same[:1]).same_as(f"{A}#/x") == A  # the page itself is not known
    assert watch((A, 7), *same).same_as(f"{A}#/x") == A  # scripts add the same to each
    assert not watch((A, 0), *same[1:]).same_as(f"{A}#/x")  # too few
    assert not watch((A, 0), (f"{A}#/a", 1), (f"{A}#/b", 2), *same).same_as(f"{A}#/x")
    found = watch((A, 0), *same)
    assert not found.same_as(f"{A}?q#/x")
    assert not found.same_as(f"{A}#x")
    assert not found.same_as(f"{A}#/x?id=1")


def test_routes_of_which_the_query_names_a_place() -> None:
    """A few of them are found before the route that they are a place of."""
    shown = [(f"{A}#/{n}", n) for n in range(2 * FIRST_ROUTES)]
    places = [(f"{A}#/{n}?id=b", n) for n in range(2 * FIRST_ROUTES)]
    found = watch((A, -1), *places[:3], *shown, *places[3:])
    assert found.same_as(f"{A}#/x?id=c") == f"{A}#/x"
    assert found.same_as(f"{A}#/?id=c") == A
    assert not found.same_as(f"{A}#/x?page=2")
    assert not found.same_as(f"{A}#/x")


def test_what_a_watch_knows_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_MAX_SHOWN", 30_000)
    found = RouteWatch()
    for n in range(12_000):
        found.note(f"{A}{n}#/x", [n])
        found.note(f"{A}{n}#/y", [-1 - n])
        found.note(f"{A}#/{n}", [n])
    assert len(found._counts) == 10_000
    assert len(found._shown) == 30_000
    for n in range(31_000):
        found.note_scripts(f"{A}{n}", has_any=n % 2 == 0)
    assert len(found._has_scripts) == 30_000
    assert (found.has_scripts(f"{A}{n}"), found.has_scripts(f"{A}{n - 1}")) == (False, True)
    assert found.has_scripts(A) is None
