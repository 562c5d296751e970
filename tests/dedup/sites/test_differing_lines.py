"""The lines that tell a page from another, as its body has them."""

from __future__ import annotations

import numpy as np

from dedup.sites.differing_lines import lines_of_body
from dedup.sites.lines import PageLines
from dedup.store import Page
from tests.dedup.sites.conftest import parsed

BODY = "".join(f"<p>{word} stands here</p>" for word in ("one", "two", "two", "three", "four"))


def page(body: bytes, encoding: str = "utf-8") -> Page:
    return Page(id="1", text="", body=body, content_type="text/html", encoding=encoding)


def keys(*places: int) -> np.ndarray:
    return PageLines(parsed(BODY)).keys[list(places)]


def test_lines_are_found_in_the_body_each_once() -> None:
    found = lines_of_body(page(BODY.encode()), keys(4, 1, 2))
    assert found == ["two stands here", "four stands here"]


def test_three_lines_are_enough() -> None:
    assert len(lines_of_body(page(BODY.encode()), keys(0, 1, 3, 4))) == 3


def test_long_lines_are_cut() -> None:
    body = f"<p>{'word ' * 100}"
    found = lines_of_body(page(body.encode()), PageLines(parsed(body)).keys)
    assert [len(line) for line in found] == [200]


def test_large_or_missing_body_gives_no_lines() -> None:
    large = BODY.encode() + b" " * 500_000
    assert lines_of_body(page(large), keys(1)) == []
    assert lines_of_body(page(b""), keys(1)) == []
    assert lines_of_body(Page(id="1", text=""), keys(1)) == []


def test_encoding_of_the_body_counts() -> None:
    body = "<p>中文的一行"
    found = lines_of_body(page(body.encode("gb18030"), "gb18030"), PageLines(parsed(body)).keys)
    assert found == ["中文的一行"]
