"""Boxes and lines of a page."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from dedup.sites.outline import Outline, outline, text_of


def of(body: str) -> Outline:
    tree = LexborHTMLParser(f"<body>{body}</body>", scripting=True)
    assert tree.body is not None
    return outline(tree.body)


def lines(body: str) -> list[str]:
    return [line.text for line in of(body).lines]


# What stands in the body, and the lines that a browser shows.
LINES = [
    ("one <b>t</b>wo<i>!</i>", ["one two!"]),
    ("<p>a<p>b<div>c</div>d", ["a", "b", "c", "d"]),
    ("a<br>b<hr>c", ["a", "b", "c"]),
    ("  \n a \n\t b  ", ["a b"]),
    ("<pre>def f():\n    return 1\n</pre>", ["def f():", "    return 1"]),
    ("<pre><code><div>one</div><div>  two</div></code></pre>", ["one", "  two"]),
    ("<button>All</button><button>Some</button>", ["All Some"]),
    ("a<img src=x>b", ["a b"]),
    ("x<sub>2</sub>", ["x2"]),
    ("<table><tr><td>a<td>b</table>", ["a", "b"]),
    ("<dl><dt>term<dd>what it means</dl>", ["term", "what it means"]),
    ("<figure><pre>code</pre><figcaption>A figure</figcaption></figure>", ["code", "A figure"]),
    ("<aside>A note.</aside><div hidden>A tab.</div>", ["A note.", "A tab."]),
    ("<div style='display:none'>until somebody clicks</div>", ["until somebody clicks"]),
    ("<details><summary>More</summary>inside</details>", ["More", "inside"]),
    ("<script>x</script><style>y</style><template>z</template>w", ["w"]),
    ("<noscript><div>left open</noscript>after", ["after"]),
    ("<h1>Heading<a href=#h>¶</a></h1>", ["Heading"]),
    ("<i class=icon>\uf101</i>", []),
    (
        "<textarea>typed</textarea> <input value=given> <input type=hidden value=no>",
        ["typed given"],
    ),
    ("<select><option>one<option>two</select>", ["one", "two"]),
    ("<my-note>in an element of one's own</my-note>", ["in an element of one's own"]),
    ("<ul><li>unclosed <b>bold<li>next</ul>", ["unclosed bold", "next"]),
    ("<?php echo 1 ?>a <?name x?>b<p><?x?>c</p>", ["a b", "c"]),
]


@pytest.mark.parametrize(("body", "expected"), LINES)
def test_lines_are_what_a_browser_shows(body: str, expected: list[str]) -> None:
    assert lines(body) == expected


def test_words_of_links_are_left_out_of_the_plain_text() -> None:
    (first, second) = of("<p>See <a href=x>the <b>other</b> page</a> now<p>none").lines
    assert (first.text, first.plain) == ("See the other page now", "See now")
    assert second.plain is second.text


def test_characters_in_links_to_other_sites_are_counted() -> None:
    body = (
        "<p>See <a href=x:>the <b>other</b>  site</a>, <a href=y>here</a><p>Text <a href=x:>¶</a>"
    )
    tree = LexborHTMLParser(f"<body>{body}</body>", scripting=True)
    assert tree.body is not None
    found = outline(tree.body, leads_out=lambda href: href == "x:")
    assert [line.n_outward for line in found.lines] == [len("the") + len("other") + len("site"), 0]
    assert Outline.from_json(found.to_json()) == found


def test_boxes_are_named_by_tag_id_and_classes() -> None:
    found = of("<div id=a class='b  c'><ul><li><section>x</section></ul></div>")
    assert [(box.parent, box.tag, box.names) for box in found.boxes] == [
        (-1, "body", ()),
        (0, "div", ("#a", "b", "c")),
        (1, "ul", ()),
        (2, "section", ()),
    ]
    assert [(line.box, line.block) for line in found.lines] == [(3, "")]


def code(numbers: str, text: str = "a = 1\nb = 2\nc = 3") -> str:
    return f"<table><tr><td><pre>{numbers}</pre></td><td><pre>{text}</pre></td></tr></table>"


# What stands in a box beside a program, and whether it is left out as the numbers of its lines.
GUTTERS = [
    ("1\n2\n3", True, "from 1 on"),
    ("7\n8\n9", True, "of a part of a program"),
    ("0\n1\n2", False, "lines are counted from 1 on"),
    ("1\n2\n4", False, "one is missing"),
    ("1\n2\nx", False, "another word"),
    ("1", False, "one number may be the program's output"),
    ("9999999\n10000000", False, "no program has as many lines"),
    ("\u0661\n\u0662", False, "other digits"),
]


@pytest.mark.parametrize(("numbers", "is_left_out", "why"), GUTTERS)
def test_numbers_of_lines_are_left_out(numbers: str, is_left_out: bool, why: str) -> None:
    program = ["a = 1", "b = 2", "c = 3"]
    expected = program if is_left_out else [*numbers.split("\n"), *program]
    assert lines(code(numbers)) == expected, why


def test_numbers_outside_of_code_stay() -> None:
    assert lines("<ul><li>1<li>2<li>3</ul>") == ["1", "2", "3"]
    assert lines("<div><pre>1\n2</pre><p>note</div>") == ["1", "2", "note"]


# A body, and its text: cells of a row on one line.
TEXTS = [
    ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a\tb\nc\td"),
    ("<table><tr><th>a<td>b<p>more</table>", "a\nb\nmore"),
    ("<table><tr><td>a<td><td>b</table>", "a\tb"),
    ("<p>a</p><table><tr><td>b<td>c</table>d", "a\nb\tc\nd"),
    ("<div>a</div><div>b</div>", "a\nb"),
    ("", ""),
]


@pytest.mark.parametrize(("body", "expected"), TEXTS)
def test_text_has_the_cells_of_a_row_on_one_line(body: str, expected: str) -> None:
    found = of(body)
    assert text_of(found.boxes, found.lines) == expected


def test_an_outline_survives_being_stored() -> None:
    found = of("<div id=x><p>a <a href=y>link</a>\u2028</p><pre> é\ud800</pre></div>")
    assert Outline.from_json(found.to_json()) == found


def characters_in(found: Outline, root: int) -> int:
    """The length of all lines in a box, and in the boxes inside it."""
    inside = {root}
    for number, box in enumerate(found.boxes):
        if box.parent in inside:
            inside.add(number)
    return sum(len(line.text) for line in found.lines if line.box in inside)


def test_inner_boxes_become_part_of_those_around() -> None:
    rows = "".join(f"<tr><td>{n}<td>{n + 1}</tr>" for n in range(1_000))
    found = of(f"<div id=a><table>{rows}</table></div><div id=b>after</div>")
    fewer = found.without_inner_boxes()
    assert len(fewer.boxes) == 600
    assert [line.text for line in fewer.lines] == [line.text for line in found.lines]
    names = [box.names for box in fewer.boxes[:2]], fewer.boxes[-1].names
    assert names == ([(), ("#a",)], ("#b",))
    assert characters_in(fewer, 1) == characters_in(found, 1)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<div class=a>", "</div>", "<table>", "<td", "<!--", "\0", "text ",
             "<a href=x>", "</a>", "<pre>", "<svg>", "<template>", "<noscript>", "</body>", "<h1>",
             "<select>", "<option>", "<math><mi>", "<li>", "&nbsp;", "中文。", "<x-y>", "<br>"]
        )
    )
)  # fmt: skip
def test_any_page_has_a_consistent_outline(parts: list[str]) -> None:
    found = of("".join(parts))
    assert all(-1 < box.parent < number for number, box in enumerate(found.boxes) if number)
    assert all(0 <= line.box < len(found.boxes) and line.text.strip() for line in found.lines)
    assert characters_in(found, 0) == sum(len(line.text) for line in found.lines)
    assert Outline.from_json(found.to_json()) == found


def test_depth_costs_nothing_but_time() -> None:
    found = of("<div>" * 5_000 + "deep")
    assert found.lines[0].text == "deep"


def test_an_outline_from_another_process_is_the_same_and_decoded_when_asked() -> None:
    html = "<div id=a class='b c'><h1>One</h1><p>Two <a href=x>three</a></p><pre> 4\n5</pre></div>"
    found = of(html)
    text = found.to_json()
    other = pickle.loads(pickle.dumps(found))
    assert other.size == found.size == (4, len("One" + "Two three" + " 4" + "5"))
    assert "lines" not in vars(other)
    assert other.to_json() == text
    assert other == found
    assert other.to_json() == text


def test_lines_need_not_tell_what_is_in_links() -> None:
    body = LexborHTMLParser("<p>Two <a href=x>three</a></p>").body
    assert body is not None
    (line,), (short,) = outline(body).lines, outline(body, with_links=False).lines
    assert (line.text, line.plain) == ("Two three", "Two")
    assert (short.text, short.plain) == ("Two three", "Two three")
