"""What each learnable rule makes of an address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.urls import canonical_url
from dedup.urls.learning.rewrites import (
    OPPOSITES,
    form_key,
    inverse,
    mirrors,
    rewriter,
    rewrites,
    share_of,
    under_prefix,
)
from dedup.urls.parts import split_url

_FORMS = [
    ("http://a.example/x?b=1&c=2", {"drop:b": "/x?c=2", "drop:c": "/x?b=1"}),
    ("http://a.example/x?b=1&b=2", {"drop:b": "/x"}),  # all values of one name
    ("http://a.example/x?b=2&b=1", {"drop:b": "/x", "order": "/x?b=1&b=2"}),
    ("http://a.example/x?a/b.html", {"bare-query": "/x"}),
    ("http://a.example/x?a&b", {"bare-query": "/x"}),
    ("http://a.example/x?a,b=1", {}),  # settings split names at commas
    ("http://a.example/x;jsessionid=7", {"session": "/x"}),
    ("http://a.example/x/index.html", {"index": "/x/"}),
    ("http://a.example/x?fbclid=1", {"drop:fbclid": "/x", "tracking": "/x"}),
    ("http://a.example/1/2", {}),  # never two values of a path
]


@pytest.mark.parametrize(("url", "expected"), _FORMS)
def test_forms_of_an_address(url: str, expected: dict[str, str]) -> None:
    found = {
        each.rule: str(each.form).removeprefix("http://a.example")
        for each in rewrites(split_url(url))
    }
    for name in ("https", "http", "www", "add-www", "add-slash"):
        found.pop(name, None)
    assert found == expected


def test_schemes_hosts_and_slashes_go_both_ways() -> None:
    found = {each.rule: str(each.form) for each in rewrites(split_url("https://www.a.example/x/"))}
    assert found == {
        "http": "http://www.a.example/x/",
        "www": "https://a.example/x/",
        "slash": "https://www.a.example/x",
    }
    found = {each.rule: str(each.form) for each in rewrites(split_url("http://a.example/x"))}
    assert found == {
        "https": "https://a.example/x",
        "add-www": "http://www.a.example/x",
        "add-slash": "http://a.example/x/",
    }


_MIRRORS = [
    ("http://a.example/print/x", "http://a.example/x", ["folder:/print/=/"]),
    ("http://a.example/x", "http://a.example/print/x", ["folder:/print/=/"]),
    ("http://a.example/aa/x/1", "http://a.example/b/x/1", ["folder:/aa/=/b/"]),
    ("http://a.example/b/x/1", "http://a.example/c/x/1", ["folder:/c/=/b/"]),
    ("http://m.a.example/x", "http://a.example/x", ["host:m.a.example=a.example"]),
    ("http://a.example:81/x", "http://a.example:8/x", ["host:a.example:81=a.example:8"]),
    ("http://a.example/3.3/x", "http://a.example/3.5/x", []),  # versions
    ("http://a.example/latest/x", "http://a.example/x", []),
    ("http://a.example/d/x", "http://a.example/d/y", []),  # two values of a path
    ("http://a.example/x", "http://a.example/y", []),
    ("http://a.example/x?a=1", "http://a.example/x", []),
    ("http://a.example/x", "http://a.example/x", []),
    ("http://a.example/", "http://b.example/", ["host:b.example=a.example"]),
]


@pytest.mark.parametrize(("url", "original", "expected"), _MIRRORS)
def test_mirrors_of_a_pair(url: str, original: str, expected: list[str]) -> None:
    assert mirrors(split_url(url), split_url(original)) == expected


@pytest.mark.parametrize(("url", "original", "names"), _MIRRORS)
def test_a_mirror_and_its_inverse_lead_to_each_other(
    url: str, original: str, names: list[str]
) -> None:
    for name in names:
        source, target = sorted(
            (split_url(url), split_url(original)), key=lambda parts: rewriter(name)(parts) == parts
        )
        assert rewriter(name)(source) == target
        assert inverse(name, target) == source


def test_a_rule_under_a_prefix_leaves_other_folders_alone() -> None:
    name = under_prefix("drop:x", split_url("http://a.example/news/7?x=1"))
    assert name == "drop:x@/news/"
    drop = rewriter(name)
    assert str(drop(split_url("http://a.example/news/8?x=1"))) == "http://a.example/news/8"
    other = split_url("http://a.example/shop/8?x=1")
    assert drop(other) == other
    assert form_key(name, other) == form_key("drop:x", other)


@pytest.mark.parametrize("name", ["", "drop:", "no-rule", "folder:/a/", "host"])
def test_an_unknown_rule_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="rule must be the name of a learnable URL rule"):
        rewriter(name)


_word = st.text("abxyz019._-", min_size=1, max_size=6)
_urls = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}/{'/'.join(path)}?{'&'.join(query)}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.a.example", "127.0.0.1"]),
    st.lists(_word, max_size=4),
    st.lists(st.builds("{}={}".format, _word, _word) | _word, max_size=4),
).map(canonical_url)


@given(_urls)
def test_a_form_is_no_longer_rewritten(url: str) -> None:
    parts = split_url(url)
    for each in rewrites(parts):
        rule = rewriter(each.rule)
        assert rule(parts) == each.form != parts
        assert rule(each.form) == each.form
        if (opposite := OPPOSITES.get(each.rule)) not in (None, "slash", "add-slash"):
            assert rewriter(opposite)(each.form) == parts


@given(_urls, st.integers(0, 2**32))
def test_a_share_is_the_same_on_every_machine_and_below_one(url: str, seed: int) -> None:
    share = share_of("drop:x", url.encode(), seed)
    assert 0 <= share < 1
    assert share == share_of("drop:x", url.encode(), seed)


def test_shares_are_spread_evenly() -> None:
    shares = [share_of("drop:x", f"{n}".encode()) for n in range(10_000)]
    # 500 expected; a binomial's standard deviation is 22, and five of them 109
    assert abs(sum(share < 0.05 for share in shares) - 500) < 109
