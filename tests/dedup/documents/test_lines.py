"""Lines of pages: none of their words is lost in paragraphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dedup.documents.lines import Line, paragraphs, without_running_heads

LINES = st.builds(
    Line,
    st.text("ab -.\ufffe文字", min_size=1).filter(str.strip),
    st.floats(0, 600),
    st.floats(0, 600),
    st.floats(0, 800),
    st.floats(0, 30),
)


@given(st.lists(st.lists(LINES, max_size=8), max_size=5))
def test_paragraphs_have_all_letters_of_the_lines_in_their_order(pages: list[list[Line]]) -> None:
    lines = [line.text for page in pages for line in page]
    assert letters(paragraphs(pages)) == letters(lines)


@given(st.lists(LINES, max_size=8))
def test_a_single_page_has_no_running_heads(page: list[Line]) -> None:
    texts = [line.text for line in page]
    if len(set(texts)) == len(texts):
        assert without_running_heads([page]) == [page]


def letters(lines: list[str]) -> str:
    return "".join(each for line in lines for each in line if each in "ab文字")
