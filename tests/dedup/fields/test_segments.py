"""The lines of a page together with their markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from dedup.fields.segments import TEXT, segmented
from dedup.sites.outline import outline

PIECES = st.lists(
    st.sampled_from(
        [
            *("one ", "two", " ", "\n", "  three\n", "¶", "\uf101", "<br>", "<hr>", "<img src=x>"),
            *("<p>", "</p>", "<div>", "</div>", "<pre>", "</pre>", "<b>", "</b>", "<span> </span>"),
            *("<table><tr><td>", "<td></td>", "</table>", "<ul><li>", "</ul>", "<h1>", "</h1>"),
            *("<svg><text>", "</svg>", "<math><mi>", "</math>", "<button>", "</button>", "<x-y>"),
            *("<input value=v>", "<script>no</script>", "<template>no</template>", "<a href=x>"),
            *("<nav>", "</nav>", "<select><option>", "</select>", "<details>"),
        ]
    ),
    max_size=25,
).map("".join)


@given(body=PIECES)
def test_lines_are_those_of_the_outline(body: str) -> None:
    root = LexborHTMLParser(f"<body>{body}", scripting=True).body
    assert root is not None
    found = segmented(root)
    lines = [line for segment in found.segments for line in found.lines_of(segment)]
    assert [(line.text, line.block) for line in lines] == [
        (line.text, line.block) for line in outline(root).lines
    ]


@given(body=PIECES)
def test_texts_of_a_segment_have_its_words(body: str) -> None:
    root = LexborHTMLParser(f"<body>{body}", scripting=True).body
    assert root is not None
    found = segmented(root)
    for number, segment in enumerate(found.segments):
        texts = [each.text for each in found.events if each.kind == TEXT and each.segment == number]
        words = "".join(found.outline.lines[n].text for n in range(segment.first, segment.end))
        packed = "".join("".join(texts).split()).replace("\uf101", "").replace("¶", "")
        assert packed == "".join(words.split()).replace("¶", "")


@pytest.mark.parametrize("tag", ["nav", "aside", "footer", "div role=navigation"])
def test_segments_beside_the_text_are_known(tag: str) -> None:
    root = LexborHTMLParser(f"<{tag}><p>a</p></{tag.split()[0]}><p>b", scripting=True).body
    assert root is not None
    assert [segment.is_beside for segment in segmented(root).segments] == [True, False]
