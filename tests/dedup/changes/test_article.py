"""The box of a page that has most of what no other page says."""

from __future__ import annotations

from collections import Counter

import pytest

from dedup.changes.article import article_keys
from dedup.sites.lines import words_of
from dedup.sites.outline import Outline
from dedup.sites.site import Site
from dedup.sites.stored import outline_of
from dedup.store import Page

_OWN = "<p>A sentence that no other page of the site has, and that is its own.</p>"


def _outline(body: str) -> Outline:
    html = f"<html><body>{body}</body></html>".encode()
    found = outline_of(Page(id="", text="", body=html, content_type="text/html"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("body", "n_found"),
    [
        (f"<div><h3>Source</h3>{_OWN}</div><ul><li>Menu</li></ul>", 1),
        (f"<div><div><p>Source</p></div>{_OWN}</div>", 1),
        (f"<div><p>Source</p></div><div>{_OWN}</div>", 0),  # beside the article
        (f"<p>Source</p>{_OWN}", 1),  # in the body itself
        (f"<p>Source</p>{_OWN}<div>{_OWN}</div>", 0),  # no box has more than half
        (f"<ul><li>Source</li></ul>{_OWN}", 0),
        (f"<div>{_OWN}<figure><span>Source</span><pre>x = 1</pre></figure></div>", 0),
        (f"<div>{_OWN}<pre>x = 1</pre><p>Source</p></div>", 1),
        ("<div><pre>a program that no other page has\n  source</pre></div>", 1),
        (f"<div>{_OWN}<aside><p>Source</p></aside></div>", 0),
        (f"<div>{_OWN}<footer><p>Source</p></footer></div>", 1),  # as tags of a post
        ("<div><p>Source</p></div>", 0),  # nothing else is there
    ],
)
def test_keys_in_the_article_count(body: str, n_found: int) -> None:
    page = _outline(body)
    words = words_of([line.text for line in page.lines])
    found = article_keys(page, words, Site(), {"source"})
    assert found == Counter({"source": n_found} if n_found else {})


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("<tr><th>Stock<td>Sold out", {"stock\tsold out"}),  # as in texts
        ("<tr><td><p>Stock<p>Sold out<td>None", set()),  # of a table for layout
    ],
)
def test_cells_of_a_row_are_one_line(row: str, found: set[str]) -> None:
    page = _outline(f"<div>{_OWN}<table>{row}</table></div>")
    words = words_of([line.text for line in page.lines])
    assert set(article_keys(page, words, Site(), {"stock\tsold out"})) == found
