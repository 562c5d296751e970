"""Pieces of a page: every word, within a size, and the same wherever the same words stand."""

from __future__ import annotations

import random
import re
from collections import Counter
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from dedup.pieces import count_words, cut
from dedup.sites.outline import outline

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def words_of(markup: str) -> Counter[str]:
    """The words that a browser shows of markup."""
    body = LexborHTMLParser(f"<body>{markup}", scripting=True).body
    assert body is not None
    return Counter(re.findall(r"\w+", "\n".join(line.text for line in outline(body).lines)))


def paragraphs(seed: int, count: int) -> list[str]:
    choice = random.Random(seed)
    return [
        "<p>" + " ".join(f"w{choice.randrange(500)}" for _ in range(choice.randrange(5, 40)))
        for _ in range(count)
    ]


def ids(markup: str, size: int = 100) -> list[str]:
    return [piece.id for piece in cut(markup, size)]


_TEXTS = st.text("ab c.1<&*_中。", min_size=1, max_size=12).map(lambda text: escape(f"x{text}y"))


def _around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(inner, min_size=1, max_size=4).map("".join)
    tags = st.sampled_from(["p", "div", "ul><li", "ol><li", "blockquote", "b", "h2", "li", "dd"])
    return st.tuples(tags, parts).map(
        lambda each: f"<{each[0]}>{each[1]}{''.join(f'</{t}>' for t in each[0].split('><')[::-1])}"
    )


_TABLES = st.lists(_TEXTS, min_size=2, max_size=6).map(
    lambda cells: (
        "<table><tr><th>n<th>v" + "".join(f"<tr><td>k<td>{cell}" for cell in cells) + "</table>"
    )
)
_MARKUP = st.lists(
    st.recursive(_TEXTS | _TABLES | _TEXTS.map(lambda text: f"<pre>{text}\nz</pre>"), _around),
    max_size=8,
).map("".join)


@given(_MARKUP, st.integers(1, 12))
def test_pieces_have_every_word(markup: str, size: int) -> None:
    wanted = words_of(markup)
    found: Counter[str] = Counter()
    for piece in cut(markup, size):
        found += words_of(_MARKDOWN.render(piece.text))
    assert not wanted - found
    assert set(found) <= set(wanted)


@pytest.mark.parametrize("size", [30, 100, 400])
def test_pieces_are_not_longer_than_asked(size: int) -> None:
    markup = "".join(paragraphs(1, 200))
    lengths = [count_words(piece.text) for piece in cut(markup, max(size, 40))]
    assert max(lengths) <= max(size, 40)
    assert sum(lengths) / len(lengths) > size / 4


def test_paragraph_is_cut_between_sentences_only_if_it_is_too_long() -> None:
    sentences = [f"This is sentence number {number} of a paragraph." for number in range(30)]
    markup = f"<p><b>{' '.join(sentences)}</b>"
    assert len(cut(markup, 8 * 30)) == 1
    pieces = cut(markup, 50)
    assert all(piece.text.startswith("**This") and piece.text.endswith(".**") for piece in pieces)
    assert max(count_words(piece.text) for piece in pieces) <= 50
    chinese = "".join(f"第{number}句话说的是什么。" for number in range(30))
    assert all(piece.text.endswith("。") for piece in cut(f"<p>{chinese}", 40))


def test_programs_and_rows_are_whole() -> None:
    program = "\n".join(f"x = call({number})  # and more" for number in range(50))
    rows = "".join(f"<tr><td>{n} one two three<td>four five six" for n in range(20))
    pieces = cut(f"<pre>{program}</pre><table><tr><th>a<th>b{rows}</table>", 20)
    assert pieces[0].text == f"```\n{program}\n```"
    assert len(pieces) > 5
    for piece in pieces[1:]:
        header, line, *body = piece.text.split("\n")
        assert (header, line) == ("| a | b |", "| --- | --- |")
        assert all(row.endswith("one two three | four five six |") for row in body)


def test_markup_made_to_grow_does_not() -> None:
    names = "".join(f"<th>{'name ' * 300}" for _ in range(20))
    table = f"<table><tr>{names}{'<tr><td>a b<td>c d' * 300}</table>"
    inline = f"<b class={'x' * 9_000}>" * 30 + "One more sentence. " * 300
    for markup in (table, inline, "." * 200_000 + "x", "a. " + " " * 200_000 + "b"):
        pieces = cut(f"<div>{markup}</div>", 5)
        assert sum(len(piece.text) for piece in pieces) < 3 * len(markup)


def test_parts_of_a_list_keep_their_numbers() -> None:
    items = "".join(f"<li>item {'x ' * 8}" for _ in range(30))
    pieces = cut(f"<ol start=5>{items}</ol>", 40)
    numbers = [
        int(n) for piece in pieces for n in re.findall(r"^(\d+)\.", piece.text, re.MULTILINE)
    ]
    assert numbers == list(range(5, 35))


def test_sections_have_their_path_and_are_not_joined() -> None:
    markup = "<h1>A</h1><h2>B</h2>one<h3>C</h3>two<h2>D</h2>three<h1>E</h1>"
    pieces = cut(markup, 100)
    assert [piece.headings for piece in pieces] == [("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]
    assert pieces[0].text == "# A\n\n## B\n\none"


@settings(max_examples=10)
@given(st.integers(0, 30), st.integers(0, 10**6))
def test_inserted_paragraph_changes_only_pieces_around_it(place: int, seed: int) -> None:
    before, size = paragraphs(seed, 60), 100
    after = [*before[:place], "<p>inserted", *before[place:]]
    old, new = ids("".join(before), size), ids("".join(after), size)
    # 30 paragraphs behind the place, or more, are five times as long as a piece.
    assert old[-2:] == new[-2:]
    near = " ".join(after[max(place - 25, 0) : place + 25])
    changed = set(new) - set(old)
    texts = [piece.text for piece in cut("".join(after), size) if piece.id in changed]
    assert all(
        paragraph in near.replace("<p>", "") for paragraph in " ".join(texts).split("\n\n")[1:-1]
    )


def test_other_sections_have_no_influence() -> None:
    sections = [f"<h2>S{n}</h2>{''.join(paragraphs(n, 20))}" for n in range(6)]
    old = ids("".join(sections))
    own = ids(sections[2])
    assert set(own) <= set(old)
    changed = [*sections[:2], "<h2>new</h2><p>text", *sections[4:], sections[2]]
    new = ids("".join(changed))
    assert set(ids("".join([*sections[:2], sections[2], *sections[4:]]))) == set(new) - set(
        ids("<h2>new</h2><p>text")
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>Some words, <b>here</b>.", "<div>some WORDS here</div>"),
        ("<p><a href='/a'>link</a> x", "<p><a href='/b'>link</a> x<img src=y>"),
        ("<div><div><ul><li>a b</ul></div></div>", "<ol><li>a b</ol>"),
        ("<h2>A<a class=anchor href=#a>#</a></h2>b", "<h3>A</h3>b"),
    ],
)
def test_same_words_have_the_same_id(one: str, other: str) -> None:
    assert ids(one) == ids(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is C#.", "It is C++."),
        ("x < 5".replace("<", "&lt;"), "x > 5"),
        ("-3 degrees", "3 degrees"),
        ("5 %", "5 €"),
        ("<pre>f(x).y</pre>", "<pre>f(x.y)</pre>"),
        ("<pre>Foo</pre>", "<pre>foo</pre>"),
        (
            "<math><annotation encoding=application/x-tex>x^2</annotation></math>",
            "<math><annotation encoding=application/x-tex>x_2</annotation></math>",
        ),
        ("a b", "ab"),
    ],
)
def test_different_contents_have_different_ids(one: str, other: str) -> None:
    assert ids(f"<p>{one}") != ids(f"<p>{other}")
