"""Where the characters of a normal text stand in the text that it was made from."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup.text import normalise
from dedup.text.alignment import aligned

HARD = "aéß½ﬁ™㎏\u0301\u0323\u093c\u0345\u1161\u11a8각ᄀ가ﷺ簡體ｶﾞİ．, \n"
TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from(HARD), st.characters(categories=["Mn", "Mc"]))
)


@given(TEXTS)
def test_the_pieces_are_the_normal_text(text: str) -> None:
    found = aligned(text)
    assert found.normal == normalise(text)
    for start, stop, begin, end in zip(
        found.places, found.places[1:], found.sources, found.sources[1:], strict=False
    ):
        assert normalise(text[begin:end]) == found.normal[start:stop]
    assert found.places[-1] == len(found.normal)
    assert found.sources[-1] == len(text)


def spans(text: str, *parts: tuple[int, int]) -> list[str]:
    starts, stops = (np.array(each) for each in zip(*parts, strict=True))
    found = zip(*aligned(text).spans(starts, stops), strict=True)
    return [text[start:stop] for start, stop in found]


def test_a_part_of_what_one_character_became_is_left_out() -> None:
    assert spans("ﬁsh", (0, 4), (1, 4), (0, 1)) == ["ﬁsh", "sh", ""]
    assert spans("a ½ b", (2, 5), (2, 3), (4, 7)) == ["½", "", " b"]


def test_marks_go_with_their_letter() -> None:
    assert spans("cafe\u0301 x", (0, 4), (5, 6)) == ["cafe\u0301", "x"]
