"""Rules of robots.txt for the use of pages go by the longest path, as those for access do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from dedup.preferences.declarations import MAX_RULES, Declaration, of_robots_file, of_tdm_file
from dedup.preferences.hosts import DeclaredOfPages, HostRules, origin_of_page
from dedup.preferences.uses import labels

_SEGMENTS = st.sampled_from(["a", "b", "ab", "é", "*", "$", "a*b", "%61", "index.html"])
_PATHS = st.lists(_SEGMENTS, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))
_URLS = st.lists(st.sampled_from(["a", "b", "ab", "%C3%A9", "axb", "$", "index.html"]), max_size=4)


def rules(*values: str, name: str = "Content-Usage") -> HostRules:
    return HostRules(of_robots_file([(name, value) for value in values]))


def found(host: HostRules, path: str) -> list[str]:
    return [each.value for each in host.of(f"http://example.org{path}")]


def test_example_of_the_draft() -> None:
    host = rules("train-ai=n", "/ai-ok/ train-ai=y")
    assert found(host, "/test") == ["train-ai=n"]
    assert found(host, "/ai-ok/test") == ["/ai-ok/ train-ai=y"]


def test_rules_of_equal_paths_apply_together() -> None:
    host = rules("/a train-ai=n", "/b train-ai=n", "/a\ttrain-ai=y", "train-ai=y")
    assert found(host, "/a/1") == ["/a train-ai=n", "/a\ttrain-ai=y"]
    assert found(host, "/c") == ["train-ai=y"]


def test_each_kind_has_its_own_longest_path() -> None:
    both = [("Content-Usage", "train-ai=n"), ("Content-Signal", "/a/ ai-train=no")]
    host = HostRules(of_robots_file(both))
    assert found(host, "/a/1") == ["train-ai=n", "/a/ ai-train=no"]
    assert found(host, "/b") == ["train-ai=n"]


def test_of_a_tdm_file_the_first_match_decides() -> None:
    values = "/a/ 0", "/a/b/ 1", "/*.jpg$ 1"
    host = HostRules([Declaration("tdmrep.json", "tdm-reservation", each) for each in values])
    assert found(host, "/a/b/c") == ["/a/ 0"]
    assert found(host, "/x.jpg") == ["/*.jpg$ 1"]
    assert found(host, "/x.jpg.html") == []


@settings(max_examples=50)
@given(paths=st.lists(_PATHS, min_size=1, max_size=4, unique=True), parts=_URLS)
def test_a_rule_matches_where_one_for_access_does(paths: Sequence[str], parts: list[str]) -> None:
    place = "/" + "/".join(parts)
    url = f"http://example.org{place}"
    matching = [
        path
        for path in paths
        if not Protego.parse(f"User-agent: *\nDisallow: {path}").can_fetch(url, "*")
    ]
    chosen = found(rules(*(f"{path} train-ai=n" for path in paths)), place)
    lengths = {len(path.replace("é", "%C3%A9")) for path in matching}
    longest = [path for path in matching if len(path.replace("é", "%C3%A9")) == max(lengths)]
    assert chosen == [f"{path} train-ai=n" for path in longest]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"", []),
        (b"{}", []),
        (b"[" * 100_000, []),
        (b'[1, {"location": 1}, {"tdm-reservation": 1}]', []),
        (b'[{"location": "/a b/", "tdm-reservation": 1}]', ["/a%20b/ 1"]),
        (b'[{"location": "*.pdf", "tdm-reservation": "0", "tdm-policy": 5}]', ["/*.pdf 0 5"]),
        (b'[{"location": "/\\ud800", "tdm-reservation": 1, "tdm-policy": []}]', ["/? 1"]),
        (b'[{"location": "/", "tdm-reservation": ' + b"[" * 900 + b"]" * 900 + b"}]", ["/"]),
        (b'[{"location": "/\xff", "tdm-reservation": 1}]', []),
        ('\ufeff[{"location": "/é", "tdm-reservation": true}]'.encode(), ["/é True"]),
    ],
)
def test_rules_of_a_tdm_file(body: bytes, wanted: list[str]) -> None:
    found = of_tdm_file(body)
    assert [each.value for each in found] == wanted
    terms = [value.partition(" ")[2][:1] for value in wanted]
    told = [term if term in ("0", "1") else "not readable" for term in terms]
    assert list(labels(found)) == [f"tdmrep.json tdm-reservation: {term}" for term in told]


def test_of_many_rules_the_first_count() -> None:
    many = of_robots_file([("Content-Usage", f"/{number} train-ai=n") for number in range(500)])
    assert len(many) == MAX_RULES


@pytest.mark.parametrize("url", [None, "", "http://[", "no url", "http://b.example/"])
def test_a_page_has_its_own_declarations_and_those_of_its_host(url: str | None) -> None:
    stored = {"http://a.example": ['[["robots.txt","Content-Usage","train-ai=n"]]']}
    pages = DeclaredOfPages(lambda origin: stored.get(origin, []))
    own = '[["meta","robots","noai"]]'
    assert pages.of(url, own) == [("meta", "robots", "noai")]
    assert pages.of("http://me@A.example/1", own) == [
        ("meta", "robots", "noai"),
        ("robots.txt", "Content-Usage", "train-ai=n"),
    ]


def test_origins() -> None:
    assert origin_of_page("https://a.example:8443/x?y") == "https://a.example:8443"
    assert origin_of_page("http://[") == ""
