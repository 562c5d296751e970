"""Who was first, in groups whose answer is known."""

from __future__ import annotations

from itertools import permutations

import pytest

from dedup.groups.guess import Copy, days_later, guess
from dedup.store.records import Claims

A, B, C = ("http://a.example/x", "http://b.example/y", "https://www.c.example/z")


def copies(**claims: Claims | None) -> list[Copy]:
    urls = {"a": A, "b": B, "c": C}
    return [
        Copy(urls[name], urls[name].split("/")[2], 10.0 * place, claims[name])
        for place, name in enumerate(claims)
    ]


def on(day: str, *sources: str, canonical: str | None = None) -> Claims:
    return Claims(day, canonical, sources)


NOTHING = Claims()
TO_A = Claims(canonical_url=A)
GROUPS = {
    "a date before the others": ({"b": on("2026-03-03"), "a": on("2026-03-01")}, A, "dates"),
    "a canonical link": ({"b": TO_A, "a": NOTHING}, A, "canonical"),
    "a source": ({"b": Claims(sources=("https://a.example/x/#top",)), "a": None}, A, "source"),
    "the host of the source": (
        {"b": Claims(sources=("http://a.example/",)), "a": None},
        A,
        "source",
    ),
    "a link to itself": ({"b": on("2026-03-03", canonical=B), "a": on("2026-03-01")}, A, "dates"),
    "with and without www": (
        {"c": on("2026-03-01", canonical="http://c.example/z"), "a": on("2026-03-04")},
        C,
        "dates",
    ),
    "links before dates": (
        {"b": on("2026-03-01", canonical=A), "a": on("2026-03-03")},
        A,
        "canonical",
    ),
    "a chain of links": ({"c": Claims(sources=(B,)), "b": TO_A, "a": NOTHING}, A, "canonical"),
    "links in a circle": ({"b": TO_A, "a": Claims(canonical_url=B)}, None, "unknown"),
    "links to two": ({"c": Claims(None, A, (B,)), "b": NOTHING, "a": NOTHING}, None, "unknown"),
    "equal dates": ({"b": on("2026-03-01"), "a": on("2026-03-01")}, None, "unknown"),
    "days that zones may explain": (
        {"b": on("2026-03-02"), "a": on("2026-03-01")},
        None,
        "unknown",
    ),
    "times with zones": (
        {"b": on("2026-03-01T10:00+08:00"), "a": on("2026-03-01T00:00:00Z")},
        A,
        "dates",
    ),
    "a date is missing": (
        {"b": on("2026-03-03"), "c": NOTHING, "a": on("2026-03-01")},
        None,
        "unknown",
    ),
    "nothing but when they were seen": ({"b": None, "a": None}, None, "unknown"),
    "a damaged date": ({"b": on("yesterday"), "a": on("2026-03-01")}, None, "unknown"),
    "all are copies of another": (
        {"b": on("2026-03-03"), "a": on("2026-03-01", canonical="http://d.example/")},
        None,
        "unknown",
    ),
    "all cite another": (
        {"b": on("2026-03-03", "http://d.example/"), "a": on("2026-03-01", "http://d.example/")},
        A,
        "dates",
    ),
}


@pytest.mark.parametrize("name", GROUPS)
def test_first_page_and_basis(name: str) -> None:
    claims, first, basis = GROUPS[name]
    for order in permutations(copies(**claims)):
        found = guess(order)
        assert (found.first and found.first.url, found.basis) == (first, basis), order


def test_grounds_are_told() -> None:
    found = guess(copies(b=on("2026-03-03", canonical=A), a=on("2026-03-05")))
    assert found.grounds == [
        f"{B} names {A} as canonical",
        f"{B} declares 2026-03-03",
        f"{A} declares 2026-03-05",
        "The dates say otherwise; links come before dates",
        f"{B} was seen first, which depends on the crawl",
    ]


def test_grounds_are_bounded() -> None:
    links = tuple(f"http://{n}.example/" for n in range(100))
    found = guess(copies(b=Claims(sources=links), a=None))
    assert len(found.grounds) == 22
    assert found.grounds[20].startswith("And 8")


def test_days_later() -> None:
    first, other, silent = copies(a=on("2026-03-01"), b=on("2026-03-03T12:00:00Z"), c=None)
    assert days_later(first, other) == 2.5
    assert days_later(first, silent) is None
