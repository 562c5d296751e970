"""What pages say of where they are from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dedup.fields.page_source import PageSource, Reduced, reduced
from dedup.groups.claims import claims_of
from dedup.store import Page

WORDS = "The harbour of the town was widened in three steps, and each took a year."
THERE = "http://a.example/x"


def page(markup: str, text: str, head: str = "") -> Page:
    body = f"<html><head>{head}</head><body><article>{markup}<p>{WORDS}</p></article>"
    return Page(
        "", f"{text}\n{WORDS}", url="http://b.example/y", body=body.encode(), source="landmark"
    )


LINK = f"<a href='{THERE}'>The town</a>"
NAMED = {
    "in a line": (f"<p>Source: {LINK}</p>", "Source: The town"),
    "German": (f"<p>Quelle: {LINK}</p>", "Quelle: The town"),
    "Chinese": (f"<p>文章来源：{LINK}</p>", "文章来源：The town"),
    "reprinted": (f"<p>转载自 {LINK}</p>", "转载自 The town"),
    "published": (f"<p>Originally published at {LINK}.</p>", "Originally published at The town."),
    "via": (f"<p>via {LINK}</p>", "via The town"),
    "in the next line": (f"<p>来源</p><p>{LINK}</p>", "来源\nThe town"),
    "as text": (f"<p>原文链接：{THERE}。</p>", f"原文链接：{THERE}。"),
}
UNNAMED = {
    "source code": (f"<p>Source code is at {LINK}</p>", "Source code is at The town"),
    "a link in the text": (f"<p>See {LINK}</p>", "See The town"),
    "of its own host": ("<p>Source: <a href='/z'>we</a></p>", "Source: we"),
    "beside the text": (f"<aside><p>Source: {LINK}</p></aside>", "The harbour"),
    "a long line": (f"<p>Source: {LINK} {'word ' * 80}</p>", f"Source: The town {'word ' * 80}"),
}


@pytest.mark.parametrize("name", NAMED)
def test_source_that_is_named(name: str) -> None:
    markup, text = NAMED[name]
    source = page(markup, text)
    assert claims_of(PageSource(source)).sources == (THERE,)
    kept = reduced(source, is_final=True)
    assert kept is not None
    small = Reduced.from_bytes(kept.to_bytes())
    without = Page("", source.text, url=source.url, source=source.source)
    assert claims_of(PageSource(without, small)).sources == (THERE,)


@pytest.mark.parametrize("name", UNNAMED)
def test_what_is_no_source(name: str) -> None:
    assert claims_of(PageSource(page(*UNNAMED[name]))).sources == ()


def test_date_and_canonical_link() -> None:
    head = '<meta property="article:published_time" content="2026-03-01T10:00:00Z">'
    found = claims_of(PageSource(page("", "", head)))
    assert found.published == "2026-03-01T10:00:00Z"
    assert found.canonical_url is None


def test_sources_are_bounded() -> None:
    lines = [f"Source: http://{n}.example/" for n in range(100)]
    found = claims_of(PageSource(page("", "\n".join(lines))))
    assert len(found.sources) == 10


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        (f'<meta property="og:url" content=" {THERE}">', THERE),
        (f'<link rel=canonical href=/y><meta property="og:url" content="{THERE}">', "/y"),
        ('<meta property="og:url" content="/x">', None),
        (f'<meta property="og:url" content="{THERE}{"x" * 2000}">', None),
    ],
)
def test_address_in_open_graph_is_canonical_where_no_link_is(
    head: str, canonical: str | None
) -> None:
    source = page("", "The harbour", head)
    if "rel=canonical" in head:
        source = replace(source, canonical_url="/y")
    assert claims_of(PageSource(source)).canonical_url == canonical
