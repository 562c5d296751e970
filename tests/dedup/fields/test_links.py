"""Links in a page's own text."""

from __future__ import annotations

import pytest

from dedup.fields.links import links

BASE = "http://example.com/docs/page?q#old"

# Markup, and the URL and text of its links.
CASES = [
    ("<a href=../x#y>a  <b>b</b></a>", [("http://example.com/x#y", "a b")]),
    ("<a href=#z>a</a>", [("http://example.com/docs/page?q#z", "a")]),
    ("<a href=//other.example/ü>a</a>", [("http://other.example/%C3%BC", "a")]),
    ("<a href=x><img alt=picture src=y></a>", [("http://example.com/docs/x", "picture")]),
    ("<a href=x>a</a><a href=x>b</a>", [("http://example.com/docs/x", t) for t in "ab"]),
    ("<h2 id=a>A<a class=headerlink href=#a>¶</a></h2>", []),
    ("<a href='mailto:a@b'>c</a><a href='javascript:d'>e</a><a href=''>f</a><a name=g>h</a>", []),
    ("<a href='http://[/'>no URL</a>", []),
]


@pytest.mark.parametrize(("markup", "expected"), CASES)
def test_links_of(markup: str, expected: list[tuple[str, str]]) -> None:
    assert links(markup, BASE) == [{"url": url, "text": text} for url, text in expected]
