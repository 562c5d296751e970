"""Markdown of a page's own markup, and what a renderer makes of it."""

from __future__ import annotations

import re
from collections import Counter
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from dedup.fields.markdown import to_markdown
from dedup.fields.own_markup import own_markup
from dedup.fields.segments import segmented
from dedup.html import bounded
from dedup.html.page_text import page_text
from tests.dedup.fields.test_segments import PIECES

BASE = "http://example.com/docs/page"
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
WORDS = re.compile(r"[^\W_]+")

# Markup, its Markdown, and why.
CASES = [
    ("<h1>A</h1><h4>B <b>c</b></h4>", "# A\n\n#### B c"),
    ("<h2>C #</h2>", "## C \\#"),
    ("<p>a  <b>b </b>c <i>d</i><p>e<br>f<br><br>g", "a **b** c *d*\n\ne  \nf\n\ng"),
    ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
    ("<ol start=9><li>a<li value=20>b</ol>", "9. a\n20. b"),
    # An item of several blocks: blank lines behind it.
    ("<ul><li>a<p>b<li>c</ul>", "- a\n\n  b\n\n- c"),
    # Two lists next to each other stay two.
    ("<ul><li>a</ul><ul><li>b</ul><ul><li>c</ul>", "- a\n\n* b\n\n- c"),
    ("<ul><li>a</li><ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
    ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
    ("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d", "> a\n>\n> b\n>\n> - c\n\nd"),
    ("<dl><dt>a<dd>b</dl><details><summary>c</summary>d</details>", "**a**\n\nb\n\n**c**\n\nd"),
    ("<p>a<hr><p>b", "a\n\n---\n\nb"),
    # Links and images are absolute; a script's link is its text.
    ("<a href='../b?c#d'>e</a> <a href='#f'>g</a>", f"[e](http://example.com/b?c#d) [g]({BASE}#f)"),
    ("<a href='javascript:x()'>a</a> <a href='mailto:b@c'>d</a>", "a [d](mailto:b@c)"),
    ("<a href='/a(b) c'>[d]</a>", "[\\[d\\]](<http://example.com/a(b)%20c>)"),
    ("<a href=/a><h3>b</h3><p>c</a>", "### [b](http://example.com/a)\n\n[c](http://example.com/a)"),
    ("<img src=data:x data-src=/a.png alt='b [c]'>", "![b \\[c\\]](http://example.com/a.png)"),
    # A heading's link to itself.
    ("<h2 id=a>A<a class=headerlink href=#a>¶</a></h2>", "## A"),
    ("<h2 id=a><a class=anchor href=#a><svg></svg></a>A</h2>", "## A"),
    ("<h2 id=a><a class=header-anchor href=#a><span>A</span></a></h2>", "## A"),
    ("<div><h2 id=a>A</h2><a class=anchor-link href=#a>Section titled A</a></div>b", "## A\n\nb"),
    # Programs: their language, their lines, and as many backticks as it takes.
    ("<pre><code class='hljs language-Py'>a\n\n  b\n</code></pre>", "```py\na\n\n  b\n```"),
    ("<pre>```\na</pre>", "````\n```\na\n````"),
    ("<div class='highlight-python notranslate'><pre>a</pre></div>", "```python\na\n```"),
    ("<div class='highlight highlight-source-shell'><pre>a</pre></div>", "```shell\na\n```"),
    ("<pre data-lang=ts><div><div>a</div></div><div>b</div></pre>", "```ts\na\nb\n```"),
    (
        "<figure class='highlight java'><table><tr><td></td>"
        "<td class=code><pre><span>a</span><br><span>  b</span><br></pre></table></figure>",
        "```java\na\n  b\n```",
    ),
    ("<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>2</pre>", "```\na\n2\n```"),
    ("<code>a`b</code> <code><a href=/c>d</a>&lt;e&gt;</code>", "``a`b`` [`d`](http://example.com/c)`<e>`"),
    # Tables: pipes, line ends, blocks and spans in cells.
    (
        "<table><thead><tr><th>a|b<th>c<tbody><tr><td>d<br>e<td><ul><li>f<li>g</ul></table>",
        "| a\\|b | c |\n| --- | --- |\n| d<br>e | - f<br>- g |",
    ),
    (
        "<table><tr><td colspan=2>a<td>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>",
        "|  |  |  |\n| --- | --- | --- |\n| a |  | b |\n| c | d | e |\n|  | f | g |",
    ),
    ("<table><tr><td><h2>a</h2><p>b<td>c</table>", "## a\n\nb\n\nc"),  # for layout
    ("<table><tr><th><code>a|b</code><th>c</table>", "| `a\\|b` | c |\n| --- | --- |"),
    # Formulae.
    (
        "<p>a <span class=katex><math><mi>x</mi><annotation encoding='application/x-tex'>x_1"
        "</annotation></math><span class=katex-html>x1</span></span> b",
        "a $x_1$ b",
    ),
    ("<math display=block alttext='a^2'><mi>a</mi></math>", "$$a^2$$"),
    ("<p>a <script type='math/tex; mode=display'>\\b</script>", "a $$\\b$$"),
    ("<p>a \\(b_c\\) d costs $5", "a $b_c$ d costs \\$5"),
    ("<p>$5 and $6, or $7", "\\$5 and \\$6, or \\$7"),
    # Footnotes.
    (
        "<p>a<sup><a href=#fn1>1</a></sup><section class=footnotes><ol><li id=fn1><p>b"
        " <a class=footnote-backref href=#r>↩</a></ol></section>",
        "a[^1]\n\n[^1]: b",
    ),
    # Chinese: no blanks, and emphasis that a renderer reads.
    ("<p>中<b>文</b>字，<b>注意：</b>后面<a href=/x>链接</a>。", "中**文**字，**注意**：后面[链接](http://example.com/x)。"),
    ("<b>a</b><b>b</b> <i></i><b> </b>c", "**ab** c"),
    ("<p>H<sub>2</sub>O <s>a</s> <q>b</q>", "H<sub>2</sub>O ~~a~~ b"),
    ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("markup", "expected"), CASES)
def test_markdown_of(markup: str, expected: str) -> None:
    assert to_markdown(markup, BASE) == expected


SIGNS = st.sampled_from(
    [*"\\`*_{}[]()<>#+-.!|~$&:=^1a 漢", "&amp;", "\n", "](", "1. ", "- ", "[^1]", "www."]
)
TAGS = st.sampled_from(["p", "li", "h2", "td", "b", "a href=/x"])


@given(parts=st.lists(SIGNS, min_size=1, max_size=12), tag=TAGS)
def test_a_renderer_takes_escapes_away_again(parts: list[str], tag: str) -> None:
    text = "".join(parts)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    markup = f"<{tag}>{escaped}</{tag.split()[0]}>"
    if tag == "td":
        markup = f"<table><tr>{markup}<td>x</table>"
    rendered = LexborHTMLParser(RENDERER.render(to_markdown(markup, BASE))).body
    assert rendered is not None
    shown = " ".join(rendered.text(separator="" if tag != "td" else " ").split())
    assert shown.removesuffix("x").strip() == " ".join(text.split()).strip() or "$" in text


@given(body=PIECES)
def test_a_renderer_shows_every_word_of_the_stored_text(body: str) -> None:
    page = bounded(f"<body>{body}")
    text = page_text(page, "").text.replace("\uf101", "")  # an icon, which other extractors keep
    rendered = LexborHTMLParser(RENDERER.render(to_markdown(own_markup(page, text), BASE))).body
    assert rendered is not None
    shown = " ".join(line.text for line in segmented(rendered).outline.lines)
    assert Counter(WORDS.findall(text)) <= Counter(WORDS.findall(shown))


@pytest.mark.parametrize(
    "markup",
    [
        "<ul><li>" * 900 + "a<p>b" * 2_000,
        "<table><tr><td>" * 900 + "x<p>" * 2_000,
        "<blockquote>" * 900 + "<p>a" * 2_000,
        "<b><i>" * 400 + "<p>a" * 2_000,
        "<h2><a class=anchor href=#x>a</a>" + "<a class=anchor href=#x>b</a> c" * 5_000,
        "<p>" + "\\( $ ` [ ]( ** " * 20_000,
        "<p>" + "<b> </b><i>a</i>*" * 10_000,
        "<pre>" + "\n" * 100_000 + "`" * 10_000 + "</pre>",
        "<table>" + "<tr><td colspan=1000 rowspan=1000>a<td>b" * 5_000,
        "<p><span class=MathJax>a</span>" * 10_000,
        "<ol start=999999999>" + "<li>" * 10_000 + "a",
    ],
    ids=range(11),
)
def test_time_is_linear_and_depth_harmless(markup: str) -> None:
    """Quadratic time would take minutes."""
    started = process_time()
    to_markdown(markup, BASE)
    assert process_time() - started < 10
