import html

import pytest

from dedup.html import extract_text, parse_page
from dedup.html.bounds import MAX_DEPTH, MAX_TAG_CHARACTERS, Bounded, bounded

N = 100_000


@pytest.mark.parametrize(
    ("page", "is_flat"),
    [
        ("<div>" * N + "word<a href=/x>y</a>" + "</div>" * N, True),
        ("<ul><li>" * N + "word<a href=/x>y</a>", True),
        ("<template>" * N + "word<a href=/x>y</a>", True),
        ("<noscript>" * N + "</noscript>" * N + "word<a href=/x>y</a>", True),
        ("<DIV><p>x" * (MAX_DEPTH + 1) + "</p>" * 200_000 + "word<a href=/x>y</a>", True),
        # closers that a parser does not see
        ("<div title='</div>'><!--</div>-->" * N + "word<a href=/x>y</a>", True),
        # what is wide, or closes by itself, is not deep
        ("<li><a href=/x>word</a>" * 30_000, False),
        ("<div><span>word<a href=/x>y</a></div>" * 20_000, False),
        ("<p " + " ".join(f"a{i}=1" for i in range(N)) + ">word<a href=/x>y</a>", False),
    ],
)  # fmt: skip
def test_pages_that_take_parsers_seconds_are_bounded(page, is_flat):
    # Without the bound each of the deep ones takes a parser 10 s and more, or ends the process.
    assert bounded(page).is_flat == is_flat
    assert parse_page(page, "http://example.com/").links() == ["http://example.com/x"]
    assert "word" in extract_text(page)


def test_bounded_leaves_pages_alone():
    page = "<div>" * MAX_DEPTH + "</div>" * MAX_DEPTH + "<p>x" * 6000
    assert bounded(page) == Bounded(page, is_flat=False)


def test_bounded_drops_a_large_tag_only():
    large = f"<img src='data:,<p>{'a' * MAX_TAG_CHARACTERS}'>"
    script = f"<script>{'a' * MAX_TAG_CHARACTERS}</script>"
    found = bounded(f"<p>x{large}y</p>{script}")
    assert found == Bounded(f"<p>xy</p>{script}", is_flat=False)


@pytest.mark.parametrize("name", ["&nGt;", "&nLt;"])
@pytest.mark.parametrize(
    "page", ["<p>%s", "<p title='%s'>", f"<p>%s&nG<a {'x' * 2 * MAX_TAG_CHARACTERS}>t;"]
)
def test_references_that_grow_end_no_process(page, name):
    found = bounded(page % (name * 15_000))
    assert "&nGt;" not in found.html
    assert name not in found.html
    assert found.tree.html.count(html.unescape(name)) >= 15_000


def test_flat_page_keeps_metadata_and_scripts_hidden():
    head = "<head><title>T</title><base href=/b/></head><script>'<p>'</script>"
    page = parse_page(head + "<div>" * 6000 + "<a href=c>", "http://example.com/")
    assert (page.title, page.links()) == ("T", ["http://example.com/b/c"])
    assert extract_text(head + "<div>" * 6000 + "word") == "word"


def test_large_flat_page_is_recognised_by_counting(monkeypatch):
    monkeypatch.setattr("dedup.html.bounds._TOKEN", None)  # 10 times as slow
    row = "<tr><td><span class='x'>a</span><code class=\"b c\">d</code><div>e</div><br></tr>"
    assert not bounded(f"<table>{row * 20_000}</table>".replace("'", '"')).is_flat


def test_depth_does_not_hide_behind_flat_elements():
    deep = "<div>" * 6000
    for hidden in ("<span>x</span>", "<!-- <div>x</div> -->", "<script>'<div>x</div>'</script>"):
        assert bounded(hidden * 6000 + deep).is_flat
    assert bounded("<div title=\"<div>x</div>\">" * 6000).is_flat  # fmt: skip


def test_page_is_parsed_once_and_stays_as_it_is():
    text = "The tea of the hills was spoiled one spring by soldiers. " * 12
    page = bounded(f"<article><p>{text}</p><aside><a href=/b>b</a></aside></article><a href=/c>c")
    before = page.tree.html
    assert "b" not in extract_text(page).splitlines()
    assert page.tree.html == before
    assert parse_page(page, "http://example.com/").links() == [
        "http://example.com/b",
        "http://example.com/c",
    ]
