"""Which declarations refuse a use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.preferences.declarations import (
    MAX_DECLARATIONS,
    MAX_VALUE_CHARACTERS,
    METAS,
    Declaration,
    from_json,
    of_headers,
    of_meta,
    to_json,
)
from dedup.preferences.uses import REFUSED_BY, is_refusal, labels, refusals

_SOURCES = {
    "header": ["Content-Usage", "Content-Signal", "X-Robots-Tag", "TDM-Reservation", "TDM-Policy"],
    "meta": sorted(METAS),
    "robots.txt": ["Content-Usage", "Content-Signal"],
    "tdmrep.json": ["tdm-reservation", "tdm-policy"],
}
_DECLARATIONS = st.builds(
    lambda place, value: Declaration(*place, value),
    st.sampled_from([(source, name) for source, names in _SOURCES.items() for name in names]),
    st.sampled_from(["train-ai=n", "ai-train=no, search=yes", "noai", "1", "0", "/a/ train-ai=n"])
    | st.text(max_size=30),
)


@pytest.mark.parametrize(
    ("source", "name", "value", "uses"),
    [
        ("header", "Content-Usage", "train-ai=n", ["train"]),
        ("header", "Content-Usage", "train-ai=n;x=1, search=n", ["train", "search"]),
        ("header", "Content-Usage", "train-ai=y, bots=n", []),
        ("header", "Content-Usage", "train-ai=N", []),
        ("header", "Content-Usage", 'train-ai="n"', []),
        ("header", "Content-Usage", "train-ai=n, Search=y", []),
        ("header", "Content-Usage", "/a/ train-ai=n", []),
        ("robots.txt", "Content-Usage", "/a/ train-ai=n", ["train"]),
        ("robots.txt", "Content-Usage", "/a/", []),
        ("robots.txt", "Content-Signal", "Search=yes,AI-Train = NO", ["train"]),
        ("robots.txt", "Content-Signal", "ai-input=no, use=reference", ["input"]),
        ("robots.txt", "Content-Signal", "search=no", ["search"]),
        ("header", "X-Robots-Tag", "noai, noimageai", ["train"]),
        ("header", "X-Robots-Tag", "googlebot: noai", []),
        ("meta", "robots", "NOINDEX, follow", ["search"]),
        ("meta", "robots", "index, follow, noarchive, nosnippet", []),
        ("meta", "tdm-reservation", "1", ["train"]),
        ("meta", "tdm-reservation", "yes", []),
        ("tdmrep.json", "tdm-reservation", "/a/ 1", ["train"]),
        ("meta", "tdm-policy", "https://example.org/policy", []),
    ],
)
def test_what_refuses_a_use(source: str, name: str, value: str, uses: list[str]) -> None:
    declared = [Declaration(source, name, value)]
    assert [use for use in REFUSED_BY if refusals(use, declared)] == uses
    assert any(map(is_refusal, labels(declared))) == bool(uses)


def test_one_refusal_among_several_statements_decides() -> None:
    declared = [
        Declaration("header", "Content-Usage", "train-ai=y"),
        Declaration("robots.txt", "Content-Usage", "train-ai=n"),
        Declaration("robots.txt", "Content-Signal", "ai-train=no"),
    ]
    assert refusals("train", declared) == [
        "robots.txt Content-Usage: train-ai=n",
        "robots.txt Content-Signal: ai-train=no",
    ]


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [
        *(("1__", True), ("01_", False), ("_01", False), ("__1", True)),
        *(("x1_", True), ("10_", True), ("xx1", True), ("xx_", False)),
    ],
)
def test_the_most_specific_reservation_decides(values: str, is_refused: bool) -> None:
    names = ("meta", "tdm-reservation"), ("header", "TDM-Reservation")
    places = *names, ("tdmrep.json", "tdm-reservation")
    pairs = zip(places, values, strict=True)
    declared = [Declaration(*place, value) for place, value in pairs if value != "_"]
    assert bool(refusals("train", declared)) == is_refused


@given(st.lists(_DECLARATIONS, max_size=6))
def test_all_can_be_stored_counted_and_asked(declared: list[Declaration]) -> None:
    assert from_json(to_json(declared)) == declared
    counted = list(labels(declared))
    for use in REFUSED_BY:
        found = refusals(use, declared)
        assert set(found) <= set(counted)
        assert all(map(is_refusal, found))


@pytest.mark.parametrize("text", ["{}", "[1]", '[["a","b"]]', '[["a","b",1]]', "[", '["abc"]'])
def test_what_is_no_declaration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not declarations|Expecting"):
        from_json(text)


def test_long_and_many_declarations_are_cut() -> None:
    headers = {"X-Robots-Tag": [b"noai"] * 50, "Content-Usage": [b"\xe9" * 10_000, b"  "]}
    found = of_headers(lambda name: headers.get(name, []))
    assert len(found) == MAX_DECLARATIONS
    assert found[0] == ("header", "Content-Usage", "é" * MAX_VALUE_CHARACTERS)
    assert list(labels(found[:1])) == ["header Content-Usage: not readable"]
    assert len(of_meta([("robots", "noai")] * 50)) == MAX_DECLARATIONS
