"""The markup of a page's own text."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from dedup.fields.own_markup import own_markup
from dedup.fields.segments import segmented
from dedup.html import bounded
from dedup.html.bounds import MAX_DEPTH
from dedup.html.unfolding import page_outline
from dedup.sites.outline import text_of
from tests.dedup.fields.test_segments import PIECES

WORDS = re.compile(r"[^\W_]+")

MENU = "<nav><ul><li><a href=/a>Guide</a><li>Notes</ul></nav>"

# What is in the body, the stored text, and its markup without the line ends between tags.
CASES = [
    ("<div>menu</div><p>One <b>two</b>.</p>", "One two.", "<p>One <b>two</b>.</p>"),
    # A line in the menu and in the article: the article's, next to its other lines.
    (
        f"{MENU}<main><h1>Guide</h1><p>Text.</p></main>",
        "Guide\nText.",
        "<main><h1>Guide</h1><p>Text.</p></main>",
    ),
    # In two lists without names: where the rest of the text is.
    (
        "<ul><li>a<li>b<li>c</ul><p>x<ul><li>b<li>c<li>d</ul>",
        "b\nc\nd",
        "<ul><li>b</li><li>c</li><li>d</li></ul>",
    ),
    # A heading in front of the text, from elsewhere.
    (
        "<i>T</i><div>menu<h1 id=t>T</h1>menu</div><p>text<p>more",
        "T\ntext\nmore",
        '<div><h1 id="t">T</h1></div><p>text</p><p>more</p>',
    ),
    # The cells of a row are joined by tabs; an empty one keeps its place.
    (
        "<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3</table>",
        "a\tb\tc\n1\t3",
        "<table><tbody><tr><th>a</th><th>b</th><th>c</th></tr>"
        "<tr><td>1</td><td></td><td>3</td></tr></tbody></table>",
    ),
    # But not a menu beside the text, in a table used for layout.
    (
        "<table><tr><td><p>Home<p>News</td><td><p>text<p>more</table>",
        "text\nmore",
        "<table><tbody><tr><td><p>text</p><p>more</p></td></tr></tbody></table>",
    ),
    # Programs are kept whole, with what says their language, and without line numbers beside.
    (
        "<table><tr><td><pre>1\n2\n3</pre><td><pre class=language-c>if {\n\n  x; }</pre></table>",
        "if {\n  x; }",
        "<table><tbody><tr><td></td>"
        '<td><pre class="language-c">if {\n\n  x; }</pre></td></tr></tbody></table>',
    ),
    # Images and formulae among the text, and none beside it.
    (
        "<img src=logo><p>a</p><img src=1 alt=x style=y><p>b<img src=2> c</p><i><img src=ad></i>",
        "a\nb c",
        '<p>a</p><img src="1" alt="x"><p>b<img src="2"> c</p>',
    ),
    (
        "<figure><img src=1><figcaption>c</figcaption></figure><img src=2><p>menu",
        "c",
        '<figure><img src="1"><figcaption>c</figcaption></figure>',
    ),
    (
        "<p>a <script type=math/tex>x<y</script> b</p><script>no</script><p>c",
        "a b",
        '<p>a <script type="math/tex">x<y</script> b</p>',
    ),
    # What the page does not have, between what it has.
    ("<p>one<p>three", "one\nhidden & all\nthree", "<p>one</p><p>hidden &amp; all</p><p>three</p>"),
    ("<p>a", "", ""),
    ("", "all <else>", "<p>all &lt;else&gt;</p>"),
    # Another extractor ends lines elsewhere, and leaves words out.
    (
        "<p>menu of words<p>one two three four<br>five six seven<div>eight nine ten</div>",
        "one two three four five six\nseven eight nine ten",
        "<p>one two three four<br>five six seven</p><div>eight nine ten</div>",
    ),
    # An element that is left out ends the line.
    (
        "<div>one<div></div>two<nav>menu</nav>three</div>",
        "one\ntwo\nthree",
        "<div>one<br>two<br>three</div>",
    ),
    ("<pre>\n\nx</pre>", "x", "<pre>\n\nx</pre>"),  # a parser drops the first line end
    ("a<span> </span>b\uf101c", "a bc", "a bc"),
    # Elements that are only their text.
    ("<p>x <button>Copy</button>y</p>", "x Copy y", "<p>x  Copy y</p>"),
    ("<svg><text>a</text><text>b</text></svg>c", "a\nb\nc", "  a  <br>b  <br>c"),
    ("<a name=top></a><h2>t</h2><p>u", "t", '<a name="top"></a><h2>t</h2>'),
]


@pytest.mark.parametrize(("body", "text", "expected"), CASES)
def test_markup_is_that_of_the_text(body: str, text: str, expected: str) -> None:
    assert own_markup(bounded(f"<body>{body}"), text) == expected


def test_markup_of_folded_content_is_unfolded() -> None:
    page = bounded("<p>loading</p><template><h1>Title</h1><p>Text of the chapter.</p></template>")
    assert own_markup(page, "Title\nText of the chapter.") == (
        "<div><h1>Title</h1><p>Text of the chapter.</p></div>"
    )


def words_of(markup: str) -> Counter[str]:
    body = LexborHTMLParser(f"<body>{markup}", scripting=True).body
    assert body is not None
    lines = segmented(body).outline.lines  # with those that look like line numbers
    return Counter(WORDS.findall("\n".join(line.text for line in lines)))


@given(body=PIECES, data=st.data())
def test_every_word_of_the_text_is_in_the_markup(body: str, data: st.DataObject) -> None:
    page = bounded(f"<body>{body}")
    found = page_outline(page)
    assert found is not None
    numbers = data.draw(st.sets(st.sampled_from(range(len(found.lines))))) if found.lines else []
    text = text_of(found.boxes, [found.lines[number] for number in sorted(numbers)])
    assert Counter(WORDS.findall(text)) <= words_of(own_markup(page, text))


@given(body=PIECES)
def test_markup_of_the_whole_text_has_no_other_words(body: str) -> None:
    page = bounded(f"<body>{body}")
    found = page_outline(page)
    assert found is not None
    text = text_of(found.boxes, found.lines)
    assert Counter(WORDS.findall(text)) == words_of(own_markup(page, text))


def test_flat_pages_have_markup() -> None:
    page = bounded("<div>" * (MAX_DEPTH + 5_000) + "<p>deep <a href=x>link</a>")
    assert page.is_flat
    assert "deep" in own_markup(page, "deep link")
    assert '<a href="x">link</a>' in own_markup(page, "deep link")


def test_many_equal_lines_take_linear_time() -> None:
    page = bounded("<p>a<p>b" * 8_000)
    assert own_markup(page, "a\nb\n" * 4_000).count("<p>") == 8_000
