import pytest

from dedup.scrapy.spiders.scope import Scope, host_key, is_loopback

START = "https://www.example.org/docs/"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.example.org/other", True),  # the host, not the folder
        ("http://www.example.org/", True),  # either scheme, on its own port
        ("https://WWW.EXAMPLE.ORG:443/", True),
        ("https://user:secret@www.example.org/", True),
        ("https://www.example.org./", True),  # the root of the DNS
        ("https://www.example.org:8443/", False),  # another port is another site
        ("https://example.org/", False),
        ("https://a.www.example.org/", False),
        ("https://www.example.org.evil.example/", False),
        ("https://evil.example/?www.example.org", False),
        ("https://evil.example/#@www.example.org/", False),
        ("mailto:a@www.example.org", False),
        ("http://[::1", False),
        ("https://www.example.org:port/", False),
        ("https://a\ud800.example/", False),
        ("", False),
    ],
)
def test_the_scope_is_the_host_of_the_start(url, expected):
    assert (url in Scope([START])) is expected


@pytest.mark.parametrize(
    ("allow", "deny", "url", "expected"),
    [
        ("/docs/", "", "https://www.example.org/docs/a", True),
        ("/docs/", "", "https://www.example.org/blog/a", False),
        ("/docs/", "", "https://evil.example/docs/a", False),  # the host stands beside it
        ("://", "", "https://anywhere.example/", True),
        (r"https?://(a|b)\.example/", "", "http://b.example/x", True),
        (r"https?://(a|b)\.example/", "", "http://c.example/x", False),
        (r"https?://(a|b)\.example/", "", START, False),  # instead of the start hosts
        ("", r"\?", "https://www.example.org/?a", False),
        ("", r"\?", "https://www.example.org/a", True),
        ("/docs/", "/docs/old", "https://www.example.org/docs/old/a", False),  # deny has the word
    ],
)
def test_expressions_narrow_the_scope(allow, deny, url, expected):
    assert (url in Scope([START], allow=allow, deny=deny)) is expected


@pytest.mark.parametrize("name", ["allow", "deny"])
def test_invalid_expression_is_named(name):
    with pytest.raises(ValueError, match=rf"^{name} must be a regular expression, got '\(' "):
        Scope([START], **{name: "("})


@pytest.mark.parametrize(
    ("start", "target", "is_followed"),
    [
        ("http://example.org/", "https://www.example.org/", True),
        ("http://www.example.org/", "https://example.org/", True),
        ("http://example.org/", "https://shop.example.org/", False),
        ("http://example.org/", "https://example.net/", False),
        ("http://example.org/", "http://www.example.org:8080/", False),
    ],
)
def test_a_start_may_redirect_to_or_from_www(start, target, is_followed):
    scope = Scope([start])
    scope.follow_start(target, start)
    assert (target in scope) is is_followed
    assert start in scope


def test_hosts_beyond_ascii_are_those_of_scrapys_requests():
    scope = Scope(["http://Bücher.example/"])
    assert "http://xn--bcher-kva.example/a" in scope
    assert "http://bücher.example/a" in scope
    assert host_key("http://中文.example:8080/") == "xn--fiq228c.example:8080"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/", True),
        ("http://127.0.0.1/", True),
        ("http://127.3.2.1/", True),
        ("http://[::1]:8000/", True),
        ("http://localhost.example.org/", False),
        ("http://192.168.0.1/", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_loopback(url, expected):
    assert is_loopback(url) is expected
