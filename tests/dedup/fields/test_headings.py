"""Headings of a page's own text."""

from __future__ import annotations

import pytest

from dedup.fields.headings import headings

# Markup, and the level, text and anchor of its heading.
CASES = [
    ("<h1>a <b>b</b></h1>", (1, "a b", None)),
    ("<h2 id=x>a<a class=headerlink href=#x>¶</a></h2>", (2, "a", "x")),
    ("<h3><a class=anchor href=#x aria-hidden=true></a>a</h3>", (3, "a", "x")),
    ("<h3><a class=anchor href='#%E4%B8%AD'></a>a</h3>", (3, "a", "中")),
    ("<h2><a href=#x>#</a>C#</h2>", (2, "C#", "x")),
    ("<h2><span id=x>a</span></h2>", (2, "a", "x")),
    ("<a name=x></a>\n<h2>a</h2>", (2, "a", "x")),
    ("<section id=x><h2>a</h2>", (2, "a", "x")),
    ("<section id=x><p>b<h2>a</h2>", (2, "a", None)),
]


@pytest.mark.parametrize(("markup", "expected"), CASES)
def test_heading_of(markup: str, expected: tuple[int, str, str | None]) -> None:
    level, text, anchor = expected
    assert headings(markup) == [{"level": level, "text": text, "anchor": anchor}]


def test_headings_without_text_are_left_out() -> None:
    assert headings("<h1><img src=x></h1><h2> <a href=#x>#</a></h2><p>h</p>") == []
