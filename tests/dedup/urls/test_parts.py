"""Where redirects lead, as browsers read them."""

import pytest

from dedup.urls.parts import redirect_target

BASE = "http://a.example/b/c?d"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (b"/x", "http://a.example/x"),
        (b"x?y#z", "http://a.example/b/x?y#z"),
        (b" /x ", "http://a.example/x"),
        (b"//b.example", "http://b.example/"),
        (b"///b.example/x", "http://b.example/x"),  # too many slashes
        (b"http:/x", "http://a.example/x"),  # its scheme, and no host
        (b"https:/b.example/x", "https://b.example/x"),
        (b"\\x", "http://a.example/x"),
        ("http://faß.de/".encode(), "http://xn--fa-hia.de/"),  # by IDNA 2003 fass.de
        ("http://βόλος.com/".encode(), "http://xn--nxasmm1c.com/"),
        (b"http://%66oo.example/", "http://foo.example/"),
        ("http://127。0。0。1/".encode(), "http://127.0.0.1/"),
        ("/中文?中文".encode(), "http://a.example/%E4%B8%AD%E6%96%87?%E4%B8%AD%E6%96%87"),
        ("/中文".encode("gbk"), "http://a.example/%D6%D0%CE%C4"),  # what the server wrote
        (b"/a%20b|c", "http://a.example/a%20b|c"),
        (b"javascript:x", "javascript:x"),
    ],
)
def test_redirect_target(location: bytes, target: str) -> None:
    assert redirect_target(BASE, location) == target


@pytest.mark.parametrize("location", [b"http://", b"http://[", b"http://a b/", b"http://a:99999/"])
def test_redirect_that_leads_nowhere(location: bytes) -> None:
    with pytest.raises(ValueError, match=r"(?i)url"):
        redirect_target(BASE, location)


def test_redirect_target_of_a_host_in_another_encoding_is_none() -> None:
    with pytest.raises(ValueError, match=r"(?i)url"):
        redirect_target(BASE, "http://中文.example/".encode("gbk"))
