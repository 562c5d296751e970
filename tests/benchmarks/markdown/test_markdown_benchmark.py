"""What of a page's structure is left in Markdown, as the benchmark tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from benchmarks.__main__ import main
from benchmarks.markdown.command import compare, rendered
from benchmarks.markdown.contenders import StoredPage, contenders, ours
from benchmarks.markdown.structure import KINDS, structure_of
from benchmarks.sites.container import Container

URL = "http://example.com/docs/"
BODY = b"""<title>T</title><nav><a href=/>Home</a></nav><main><h2>Two <b>words</b></h2>
<ul><li>one<ul><li>two <a href=x>link</a></ul></ul><pre>a = 1

  b</pre><table><tr><th>c<th>d<tr><td>e<td>f</table>
<p><math><mi>x</mi><annotation encoding=application/x-tex>x_1</annotation></math></main>"""
TEXT = "Two words\none\ntwo link\na = 1\n  b\nc\td\ne\tf\nx\nx_1"
PAGE = StoredPage(URL, BODY, TEXT)


def test_structure_is_what_a_reader_sees() -> None:
    root = LexborHTMLParser(BODY.decode()).css_first("main")
    assert root is not None
    found = {kind: list(counted) for kind, counted in structure_of([root], URL).items()}
    assert found == {
        "headings": [("h2", ("two", "words"))],
        "code": ["a = 1", "  b"],
        "cells": [("c",), ("d",), ("e",), ("f",)],
        "items": [(1, ("one",)), (2, ("two", "link"))],
        "links": [("http://example.com/docs/x", ("link",))],
        "formulas": ["x_1"],
    }


def test_all_of_it_is_in_the_markdown() -> None:
    (row,) = compare([PAGE], Container("main"), {"ours": ours})
    assert [row[kind] for kind in KINDS] == [1.0] * len(KINDS)
    assert row["beside"] == 0


def test_what_is_lost_and_added_is_counted() -> None:
    def convert(_: StoredPage) -> str:
        return "# Two words\n\nother text\n\n- one\n- two link"

    (row,) = compare([PAGE], Container("main"), {"wrong": convert})
    assert (row["headings"], row["code"], row["items"], row["links"]) == (0, 0, 0.5, 0)
    assert row["beside"] == round(2 / 7, 4)


def test_footnotes_are_no_definitions_of_links() -> None:
    assert "note" in rendered("a[^1]\n\n[^1]: note", URL)[1]


def test_missing_packages_are_named() -> None:
    found, missing = contenders()
    assert "ours" in found
    assert "crawl4ai" in missing or "crawl4ai" in found


def test_unknown_site_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["markdown", "none", "--folder", str(tmp_path)]) == 2
    assert "NAME must be among" in capsys.readouterr().err
