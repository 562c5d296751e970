import pytest

from dedup import Document
from dedup.detectors.second_check import is_same_text

TEXT = "a page of few words"


@pytest.mark.parametrize(
    ("first", "second", "text", "expected", "why"),
    [
        ("Header (kafka 3.4.1 API)", "Header (kafka 3.3.2 API)", TEXT, True, "another version"),
        ("Header v2.0", "header  V10.1", TEXT, True, "case and spaces do not count"),
        ("iPhone 14", "iPhone 15", TEXT, False, "a number is no version"),
        ("Header", "Footer", TEXT, False, "other titles"),
        ("API 3.4.1", "API 3.3.2", "moved", False, "no shingle: the title is all there is"),
        ("API 3.4.1", "API 3.4.1", "moved", True, "the same"),
        ("same", "same", " \n", False, "an empty text equals nothing"),
    ],
)
def test_titles_of_short_texts(first, second, text, expected, why):
    one, other = Document("a", text, title=first), Document("b", text, title=second)
    assert is_same_text(one, other, with_title=True) == expected, why


def test_titles_may_be_left_out():
    assert is_same_text(
        Document("a", TEXT, title="x"), Document("b", TEXT.upper()), with_title=False
    )
    assert not is_same_text(Document("a", " "), Document("b", " "), with_title=False)
