import contextlib
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from dedup.urls import RULES, Canonicaliser, canonical_url, url_key
from dedup.urls.parts import split_canonical, split_url

SPELLINGS = [
    # scheme and host
    ("HTTP://Example.COM/", "http://example.com/", "case of scheme and host"),
    ("http://example.com", "http://example.com/", "empty path"),
    ("http://example.com?a=1", "http://example.com/?a=1", "empty path before a query"),
    ("http://example.com./a", "http://example.com/a", "dot at the end of the host"),
    ("http://例え.jp/", "http://xn--r8jz45g.jp/", "IDN"),
    ("http://EXAMPLE。com/", "http://example.com/", "ideographic full stop in the host"),
    ("http://my_host.example.com/", "http://my_host.example.com/", "underscore, as in real names"),
    ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/", "IPv6, RFC 5952"),
    ("http://[::1]:8080/", "http://[::1]:8080/", "IPv6 with a port"),
    ("http://user:Pass@Example.com/", "http://user:Pass@example.com/", "userinfo keeps its case"),
    ("http://a@b@example.com/", "http://a%40b@example.com/", "the last @ ends the userinfo"),
    # port
    ("http://example.com:80/", "http://example.com/", "default port of http"),
    ("https://example.com:443/", "https://example.com/", "default port of https"),
    ("https://example.com:80/", "https://example.com:80/", "the other's default port"),
    ("http://example.com:/", "http://example.com/", "empty port"),
    ("http://example.com:08080/", "http://example.com:8080/", "leading zero"),
    ("http://example.com:65535/", "http://example.com:65535/", "largest port"),
    ("http://0x7f.1/", "http://127.0.0.1/", "an IPv4 address in hexadecimal and in two parts"),
    ("http://2130706433/", "http://127.0.0.1/", "an IPv4 address as one number"),
    ("\0http://0x7f.1/", "http://127.0.0.1/", "an IPv4 address behind a control character"),
    ("ht\ttp:\\\\0x7f.1/", "http://127.0.0.1/", "an IPv4 address behind a tab and backslashes"),
    ("http://127.0.0.1/", "http://127.0.0.1/", "an IPv4 address"),
    ("http://1.2.3.4.5/", "http://1.2.3.4.5/", "no IPv4 address"),
    ("http://faß.de/", "http://xn--fa-hia.de/", "UTS 46, not IDNA 2003"),
    ("http://%66a.de/", "http://fa.de/", "escapes in the host"),
    # path
    ("http://a.com/%7euser/%41", "http://a.com/~user/A", "unreserved decoded"),
    ("http://a.com/%c3%a9", "http://a.com/%C3%A9", "escapes in upper case"),
    ("http://a.com/é", "http://a.com/%C3%A9", "non-ASCII quoted as UTF-8"),
    ("http://a.com/a b", "http://a.com/a%20b", "blank in the path"),
    ("http://a.com/a+b", "http://a.com/a+b", "plus in the path is a plus"),
    ("http://a.com/a/./b/../c", "http://a.com/a/c", "dot segments"),
    ("http://a.com/../../x", "http://a.com/x", "above the root"),
    ("http://a.com/a/%2E%2e/b", "http://a.com/b", "dot segments in disguise"),
    ("http://a.com/a/..", "http://a.com/", "dot segment at the end"),
    ("http://a.com/..//b", "http://a.com//b", "an empty segment after a dot segment stays"),
    ("http://a.com/.well-known/..a", "http://a.com/.well-known/..a", "dots, but no dot segments"),
    ("http:\\\\a.com\\b", "http://a.com/b", "backslashes, as browsers read them"),
    ("http://a.com/\0a", "http://a.com/%00a", "NUL"),
    ("http://a.com/[x]", "http://a.com/%5Bx%5D", "brackets in the path"),
    # an escape after an incomplete one stays: decoded, it would complete another
    ("http://a.com/%%34%31", "http://a.com/%%341", "incomplete escape, then an escape"),
    ("http://a.com/%4%31", "http://a.com/%4%31", "half an escape, then an escape"),
    ("http://a.com/%zz", "http://a.com/%zz", "no escape at all"),
    # query
    ("http://a.com/?", "http://a.com/", "empty query"),
    ("http://a.com/?&a=1&&b=2&", "http://a.com/?a=1&b=2", "empty fields"),
    ("http://a.com/?b=1&a=2", "http://a.com/?a=2&b=1", "parameters by name"),
    ("http://a.com/?b=2&a=0&b=1", "http://a.com/?a=0&b=2&b=1", "values of a name keep their order"),
    ("http://a.com/?%62=2&a=0&b=1", "http://a.com/?a=0&b=2&b=1", "a name in disguise"),
    ("http://a.com/?a%3Ab=2&a:b=1", "http://a.com/?a%3Ab=2&a:b=1", "one name, two spellings"),
    ("http://a.com/?q=a%20b", "http://a.com/?q=a+b", "blank in the query"),
    ("http://a.com/?q=a b+c%2Bd", "http://a.com/?q=a+b+c%2Bd", "blank, plus, escaped plus"),
    ("http://a.com/?q='", "http://a.com/?q=%27", "apostrophe, as browsers send it"),
    ("http://a.com/?u=http://b.com/?x", "http://a.com/?u=http://b.com/?x", "reserved stay"),
    # fragment and blanks
    ("http://a.com/#top", "http://a.com/", "fragment"),
    ("http://a.com/#!/page", "http://a.com/", "fragment of a script"),
    ("http://a.com/?a=1#b?c=2", "http://a.com/?a=1", "question mark in the fragment"),
    ("  http://a.com/a \n", "http://a.com/a", "blanks around"),
    ("http://a.com/a #x", "http://a.com/a%20", "blank before a fragment is part of the path"),
    ("http://a.\tcom/a\nb", "http://a.com/ab", "tabs and line ends vanish, as in browsers"),
]


@pytest.mark.parametrize(("url", "expected", "why"), SPELLINGS, ids=[row[2] for row in SPELLINGS])
def test_canonical_url_spells(url, expected, why):
    assert canonical_url(url) == expected
    assert canonical_url(expected) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.com/A", "http://a.com/a"),
        ("http://a.com/a", "http://a.com/a/"),
        ("http://a.com/a", "http://a.com//a"),
        ("http://a.com/a", "http://a.com/a;v=1"),
        ("http://a.com/a;b", "http://a.com/a%3Bb"),
        ("http://a.com/a/b", "http://a.com/a%2Fb"),
        ("http://a.com/a%41", "http://a.com/a%2541"),
        ("http://a.com/a%20b", "http://a.com/a+b"),
        ("http://a.com/?a", "http://a.com/?a="),
        ("http://a.com/?a", "http://a.com/"),
        ("http://a.com/?a=1", "http://a.com/?A=1"),
        ("http://a.com/?a=1&a=2", "http://a.com/?a=2&a=1"),
        ("http://a.com/?a=%2B", "http://a.com/?a=+"),
        ("http://a.com/?a=1%26b=2", "http://a.com/?a=1&b=2"),
        ("http://a.com/?id=1&utm_source=x", "http://a.com/?id=1"),
        ("http://a.com/index.html", "http://a.com/"),
        ("http://www.a.com/", "http://a.com/"),
        ("http://a.com/", "https://a.com/"),
        ("http://u@a.com/", "http://a.com/"),
    ],
)
def test_canonical_url_keeps_meaningful_differences(one, other):
    assert canonical_url(one) != canonical_url(other)


REFUSED = [
    ("", "absolute http or https URL"),
    ("/a/b", "absolute http or https URL"),
    ("example.com/a", "absolute http or https URL"),
    ("ftp://example.com/", "absolute http or https URL"),
    ("file:///a", "absolute http or https URL"),
    ("mailto:a@example.com", "absolute http or https URL"),
    ("javascript:void(0)", "absolute http or https URL"),
    ("data:text/html,http://a.com/", "absolute http or https URL"),
    ("http:", "valid host"),
    ("http://", "valid host"),
    ("http:///x", "valid host"),
    ("http:example.com", "absolute http or https URL|valid host"),
    ("http://user@/x", "valid host"),
    ("http://:80/", "valid host"),
    ("http://./", "valid host"),
    ("http://.example.com/", "valid host"),
    ("http://a..com/", "valid host"),
    ("http://a b.com/", "valid host"),
    ("http://a\0b.com/", "valid host"),
    ("http://a%20.com/", "valid host"),
    ("http://a<b>.com/", "valid host"),
    ("http://" + "a" * 64 + ".com/", "valid host"),
    ("http://" + "é" * 64 + ".com/", "valid host|absolute http"),
    ("http://" + "a.b." * 64 + "com/", "valid host"),
    ("http://a℀b.com/", "valid URL"),
    ("http://[::1/", "valid URL"),
    ("http://::1]/", "valid URL"),
    ("http://[::g]/", "valid URL"),
    ("http://[1.2.3.4]/", "valid URL"),
    ("http://[v1.x:y]/", "valid host"),
    ("http://[fe80::1%25eth0]/", "without a zone"),
    ("http://a[::1]/", "valid URL"),
    ("http://[::1]a/", "valid URL"),
    ("http://example.com:http/", "valid URL"),
    ("http://example.com:-1/", "valid URL"),
    ("http://example.com:1:2/", "valid URL"),
    ("http://example.com:٣/", "valid URL"),
    ("http://example.com:65536/", "valid URL"),
    ("http://example.com:" + "9" * 5000 + "/", "valid URL"),
    ("http://example.com/\ud800", "valid URL"),
    ("http://\udfff.com/", "valid URL"),
]


@pytest.mark.parametrize(("url", "rule"), REFUSED, ids=[ascii(row[0])[:40] for row in REFUSED])
def test_canonical_url_refuses(url, rule):
    with pytest.raises(ValueError, match=rf"\Aurl must be an? .*({rule}).*, got "):
        canonical_url(url)


def test_canonical_url_error_is_shortened():
    with pytest.raises(ValueError, match="absolute http") as caught:
        canonical_url("data:" + "x" * 10**6)
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=r"a valid URL, got .*Port") as caught:
        canonical_url("http://a.com:" + "x" * 10**6)
    assert len(str(caught.value)) < 500


PIECES = """
    http https HTTP :// : / // ? # & = ; @ [ ] % %% %2 %4 %41 %2e %2F %7e %25 %C3%a9 %20 + \\ . ..
    ... www. a A 1 80 :80 :443 :08080 example.com 例え.jp é ß 。 ． ℀ ½ ⅷ ::1 [::1] [fe80::1%25e]
    [v1.a] index.html /index.php/ ;jsessionid=1 /..;jsessionid=1 utm_a=1 PHPSESSID=1 sid=
    abcdefghij0123456789 | ' " < { ~ xn-- - _
""".split()  # noqa: SIM905 -- a list of 70 literals would hide them
BLANKS = [" ", "\t", "\n", "\0", "\ud800", "\xa0", "\u200b", "\u00ad"]
PREFIXES = [
    "http://",
    "https://",
    "http://a",
    "http://a/",
    "http://a/?",
    "http://a.b:80/",
    "",
    " H",
]
urls = st.builds(
    lambda prefix, pieces: prefix + "".join(pieces),
    st.sampled_from(PREFIXES),
    st.lists(st.one_of(st.sampled_from(PIECES + BLANKS), st.characters()), max_size=12),
)
rule_lists = st.lists(st.sampled_from(sorted(RULES)), unique=True)


@settings(max_examples=600, deadline=None)
@given(urls, rule_lists)
@example("http://a/%%34%31", [])
@example("http://a/index.html/index.html/", ["index", "slash"])
@example("http://www.www.a.b/x/..;jsessionid=1/", ["www", "session"])
@example("http://a:443/", ["https"])
def test_any_text_has_a_stable_ascii_spelling_or_is_refused(url, rules):
    try:
        canonical = canonical_url(url, rules)
    except ValueError as error:
        assert str(error).startswith("url must be ")  # noqa: PT017 -- the one error allowed
        return
    assert canonical_url(canonical, rules) == canonical
    assert canonical_url(canonical_url(url), rules) == canonical
    assert canonical_url(url, rules[::-1]) == canonical
    assert re.fullmatch(r"https?://[!-~]+", canonical)


@settings(max_examples=300, deadline=None)
@given(urls)
def test_the_quick_way_agrees_with_the_long_one(url):
    spellings = [url]
    with contextlib.suppress(ValueError):
        spellings.append(canonical_url(url))
    for spelling in spellings:
        if (parts := split_canonical(spelling)) is not None:
            assert parts == split_url(spelling)


@settings(max_examples=300, deadline=None)
@given(
    st.from_regex(
        r"http://[a-z0-9.:]{1,4}(/[a.%2EeF~;]{0,4}){0,3}(\?[a&=%20+';]{0,6})?", fullmatch=True
    )
)
def test_the_quick_way_agrees_on_near_misses(url):
    if (parts := split_canonical(url)) is not None:
        assert parts == split_url(url)


@pytest.mark.parametrize(
    "url", ["http://a.com/x%20y?b=%2F&a=1", "https://a.com:8080/", SPELLINGS[0][1]]
)
def test_the_quick_way_knows_plain_addresses(url):
    assert split_canonical(url) == split_url(url)


words = st.text("abcxyzABC019-_~", min_size=1, max_size=5)
plain_urls = st.builds(
    lambda host, path, query: f"http://{host}.com/{'/'.join(path)}?{'&'.join(query)}",
    st.text("abcXYZ", min_size=1, max_size=5),
    st.lists(words | st.sampled_from([".", "..", "é", "%c3%a9", " "]), max_size=4),
    st.lists(
        st.builds("{}={}".format, words, words | st.sampled_from(["", "a b", "%7e"])),
        max_size=4,
        unique_by=lambda field: field.partition("=")[0],
    ),
)


@settings(max_examples=200, deadline=None)
@given(plain_urls)
def test_plain_addresses_are_spelt_as_w3lib_spells_them(url):
    assert canonical_url(url) == canonicalize_url(url)


def test_canonicaliser_answers_as_the_function_and_again_from_memory():
    canonical = Canonicaliser(["slash"])
    for _ in range(2):
        assert canonical("http://a.com/a/#x") == canonical_url("http://a.com/a/", ["slash"])
        with pytest.raises(ValueError, match="absolute http or https URL"):
            canonical("ftp://a.com/")


def test_url_key_is_xxh3_128_of_the_spelling():
    # the published test value of XXH3-128 for no input at all, in big-endian order
    assert url_key("").hex() == "99aa06d3014798d86001c324468d497f"
    assert url_key("http://a.com/") != url_key("http://a.com/a")
    assert len(url_key("http://a.com/")) == 16
