import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

from benchmarks.sites.container import Container, decoded, text_of

pytestmark = pytest.mark.slow


def words(html, select="main", remove=""):
    return Container(select, remove).read(html.encode()).words


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<main>One, two</main> three", ["one", "two"]),
        ("<main>un<b>broken</b> wo<wbr>rd</main>", ["unbroken", "word"]),
        ("<main><p>a</p>b<br>c</main>", ["a", "b", "c"]),
        ("<main>中文 snake_case é</main>", ["中", "文", "snake_case", "é"]),
        ("<main>a<script>b</script><style>c</style><!-- d --></main>", ["a"]),
        ("<main></main>", []),
        ("<p>no such element</p>", None),
    ],
)
def test_words_of_the_container(html, expected):
    assert words(html) == expected


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("#none, .a", ["1", "2", "3"]),  # the first that matches, with all of its elements
        (".b, .a", ["2"]),
        (".a + .c", ["1", "2", "3", "4"]),  # both
        ("div", ["1", "2", "3", "4"]),  # what is inside of another counts once
    ],
)
def test_selectors(select, expected):
    html = "<div class=a>1<div class=b>2</div></div><div class=a>3</div><div class=c>4</div>"
    assert words(html, select) == expected


def test_furniture_is_removed():
    html = "<main>text<aside>more</aside><a class=anchor>#1</a></main>"
    assert words(html, remove="aside, .anchor") == ["text"]


def test_names_are_those_of_title_and_heading_without_versions():
    html = "<title>API 3.4.1 (v2.0)</title><h1>Site</h1><main><h2>Class <b>A</b></h2>2024</main>"
    assert Container("main").read(html.encode()).name == "api | class a"


def test_code_is_compared_line_by_line():
    html = "<main><pre>if x:\n    do(it)\n  }\n</pre></main><pre>outside()</pre>"
    assert list(Container("main").read(html.encode()).code) == ["ifx:", "do(it)"]


def test_missing_page_has_no_words():
    content = Container("main").read(b"")
    assert content.is_missing
    assert content.words is None


@pytest.mark.parametrize(("text", "count"), [("", 1), ("a b", 1), ("a b c", 1), ("a b c a b c", 3)])
def test_shingles_are_distinct_and_in_order(text, count):
    shingles = Container("main").read(f"<main>{text}</main>".encode()).shingles
    assert len(shingles) == count
    assert np.all(np.diff(shingles.astype(object)) > 0)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<meta charset=gb2312>汉语".encode("gb18030"), "<meta charset=gb2312>汉语"),
        ("汉语".encode(), "汉语"),
        ("汉语".encode("gb18030"), "汉语"),  # declares nothing
        (b"<meta charset=nonsense>\xc3\xa9", "<meta charset=nonsense>é"),
        (b"\xff\xff\xff", "\ufffd" * 3),
    ],
)
def test_decoding(body, text):
    assert decoded(body) == text


def test_deep_pages_are_read():
    tree = LexborHTMLParser("<main>" + "<i>" * 5_000 + "deep")
    assert text_of(tree.css_first("main")) == "deep"


@pytest.mark.parametrize(
    ("select", "remove", "name"), [("a[", "", "select"), ("", "", "select"), ("a", "b >", "remove")]
)
def test_selectors_must_be_css(select, remove, name):
    with pytest.raises(ValueError, match=f"{name} must be CSS selectors, got"):
        Container(select, remove)
