from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from opencc import OpenCC

from dedup import DedupConfig, Deduplicator, Document
from dedup.detectors.second_check import SecondCheck, is_same_text
from dedup.sites.second_look import Rest

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


STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))
EDITED = STORY.replace("Letter 7 came", "Parcel 7 came")


def document(text: str, url: str | None, title: str = "A letter", **more: Any) -> Document:
    return Document(id=str(url), text=text, url=url, title=title, **more)


def match(first: Document, second: Document, **config: Any) -> str | None:
    deduplicator = Deduplicator(config=DedupConfig(**config))
    deduplicator.process(first)
    found = deduplicator.process(second).match
    return None if found is None else found.stage


ONE, OTHER = "http://one.example/a", "http://other.example/b"
SAME = "http://one.example/b"
NEWER = "http://one.example/2/a"

# The second document's URL, its text, title and heading; what it is dropped as; and why.
NAMES = [
    (SAME, EDITED, "A letter", "", "sentences", "the names agree"),
    (SAME, EDITED, "Another letter", "", None, "the titles differ"),
    (SAME, EDITED, "A letter", "Another", "sentences", "a heading that only one has"),
    (OTHER, EDITED, "Another letter", "", "sentences", "across hosts the resemblance decides"),
    (None, EDITED, "Another letter", "", "sentences", "without a URL there is no host"),
    (SAME, STORY, "Another letter", "", "text", "equal texts are one page"),
    (NEWER, EDITED, "A letter 3.5.1", "", "sentences", "versions do not count"),
    (NEWER, EDITED, "A letter v2", "", "sentences", "versions do not count"),
    (SAME, EDITED, "A letter v2", "", None, "versions count for files of other names"),
    (SAME, EDITED, "a  LETTER", "", "sentences", "case and blanks do not count"),
    (SAME, EDITED, "A letter of 2019", "", None, "a year is no version"),
    (SAME, EDITED, "A letter+", "", None, "a sign counts: operator+ is not operator-"),
]


@pytest.mark.parametrize(("url", "text", "title", "heading", "expected", "why"), NAMES)
def test_names_of_one_host_count(
    url: str | None, text: str, title: str, heading: str, expected: str | None, why: str
) -> None:
    first = document(STORY, ONE)
    second = document(text, url, title, heading=heading)
    assert match(first, second) == expected, why


def test_headings_of_one_host_count() -> None:
    first = document(STORY, ONE, heading="DataFrame.add")
    for text in (STORY, EDITED):
        assert match(first, document(text, SAME, heading="DataFrame.radd")) is None
        assert match(first, document(text, OTHER, heading="DataFrame.radd")) is not None
    for names in (r"\d", r"\D"), ("StdOut", "StdErr"), ("ones_like", "zeros_like"):
        one, other = (document(EDITED, f"http://one.example/{n}", heading=n) for n in names)
        assert match(one, other) is None


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("/34/broker_config.html", "/35/broker_config.html", "sentences"),
        ("/34/broker_config.html", "/34/client_config.html", None),
        ("/guide-3.4.html", "/guide-3.5.html", None),
        ("/story?id=1", "/story?id=1&print=1", "sentences"),
        ("/story/", "/story", "sentences"),
    ],
)
def test_pages_without_title_and_heading_are_named_by_their_files(
    first: str, second: str, expected: str | None
) -> None:
    one = document(STORY, f"http://one.example{first}", title="", source="box")
    other = document(EDITED, f"http://one.example{second}", title="", source="box")
    assert match(one, other) == expected
    given = [replace(each, source="given") for each in (one, other)]
    assert match(*given) == "sentences"  # their names are not known


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("/3.4/guide.html", "/3.5/guide.html", "sentences"),
        ("/3.4/guide/", "/3.5/guide/", "sentences"),
        ("/3.4/guide/", "/3.5/guide/index.html", "sentences"),
        ("/3.4/guide/", "/3.5/guide.html", "sentences"),
        ("/releases/3.4.html", "/releases/3.5.html", None),
        ("/releases/3.4/", "/releases/3.5/", None),
    ],
)
def test_versions_are_names_where_files_are_named_by_them(
    first: str, second: str, expected: str | None
) -> None:
    one = document(STORY, f"http://one.example{first}", title="Letters 3.4")
    other = document(EDITED, f"http://one.example{second}", title="Letters 3.5")
    assert match(one, other) == expected


def test_names_can_be_ignored() -> None:
    first, second = document(STORY, ONE), document(EDITED, SAME, "Another letter")
    assert match(first, second, near_names="ignore") == "sentences"
    with pytest.raises(ValueError, match="near_names must be agree or ignore, got 'maybe'"):
        DedupConfig(near_names="maybe")  # type: ignore[arg-type]


def test_the_sites_part_of_a_title_does_not_count() -> None:
    first = document(STORY, ONE, "A letter - Docs 2021", own_title="A letter")
    second = document(EDITED, SAME, "A letter - Docs 2022", own_title="A letter")
    assert match(first, second) == "sentences"


# Sources of the two texts, whether the hosts are the same, whether the names agree: is it dropped?
SOURCES = [
    ("given", "box", True, True, True),
    ("box", "landmark", True, True, False),
    ("landmark", "landmark", True, True, False),
    ("landmark", "landmark", False, True, True),
    ("landmark", "landmark", False, False, False),
    ("box", "landmark", False, True, True),
    ("box", "page", False, True, False),
    ("box", "box", False, False, True),
]


@pytest.mark.parametrize(("first", "second", "is_one_host", "do_agree", "expected"), SOURCES)
def test_near_duplicates_need_texts_of_their_own(
    first: Any, second: Any, is_one_host: bool, do_agree: bool, expected: bool
) -> None:
    one = document(STORY, ONE, source=first)
    title = "A letter" if do_agree else "Another"
    other = document(EDITED, SAME if is_one_host else OTHER, title, source=second)
    assert (match(one, other) is not None) == expected
    assert (match(other, one) is not None) == expected


def test_equal_texts_that_may_be_furniture_need_equal_titles_on_one_host() -> None:
    first = document(STORY, ONE, source="landmark")
    assert match(first, document(STORY, SAME, source="landmark")) == "text"
    assert match(first, document(STORY, SAME, "Another", source="landmark")) is None
    assert match(first, document(STORY, OTHER, "Another", source="landmark")) == "text"


@pytest.mark.parametrize("names", ["agree", "ignore"])
def test_traditional_and_simplified_chinese_of_one_host_are_two_pages(names: str) -> None:
    simplified = "".join(f"第{number}封信是晚上送到的，写在茶馆的账簿上。" for number in range(30))
    edited = simplified.replace("第7封信", "第7个包裹")
    first = document(simplified, ONE)
    for text, found_by in ((simplified, "text"), (edited, "sentences")):
        traditional = OpenCC("s2t").convert(text)
        assert match(first, document(traditional, SAME), near_names=names) is None
        assert match(first, document(traditional, OTHER), near_names=names) == found_by
        assert match(document(simplified, None), document(traditional, None)) == found_by


@pytest.mark.parametrize(
    ("n_letters", "name", "expected"),
    [(2_400, "manual.html", "sentences"), (40, "manual.html", None), (2_400, "other.html", None)],
)
def test_a_long_text_is_more_than_furniture(
    n_letters: int, name: str, expected: str | None
) -> None:
    manual = " ".join(f"Letter {number} came by the evening post." for number in range(n_letters))
    edited = manual.replace("Letter 7 came", "Parcel 7 came")
    one = document(manual, "http://one.example/3.4/manual.html", source="page")
    other = document(edited, f"http://one.example/3.5/{name}", source="page")
    assert match(one, other) == expected


def rest_of_lines(*lines: int) -> Rest:
    """The rest of a page of which each line is one shingle."""
    return Rest(np.array(lines, np.uint32), np.array(lines, np.uint32))


@pytest.mark.parametrize("known", ["one.example", "other.example"])
def test_lines_that_are_rare_on_one_of_two_hosts_do_not_tell_pages_apart(known: str) -> None:
    """More pages of one host were read: lines are furniture there that seem rare on the other."""
    original = document(STORY, ONE, rest=rest_of_lines(*range(60)))
    check = SecondCheck(
        lambda _: original,
        near_resemblance=0.8,
        short_shingles=50,
        rare_on=lambda host: lambda lines: (lines >= 40) | (host != known),
    )
    copy = document(STORY, OTHER, rest=original.rest)
    assert check.find_difference(copy, original) is None
    longer = document(STORY, OTHER, rest=rest_of_lines(*range(90)))
    found = check.find_difference(longer, original)
    assert found is not None
    assert found.lines.tolist() == list(range(60, 90))


def test_comparison_is_bounded_in_characters() -> None:
    """Texts of few shingles and many characters are compared exactly, at a cost for each."""
    originals = {number: document(f"{number} word " * 10_000, SAME) for number in range(20)}
    fetched: list[int] = []

    def original(number: int) -> Document:
        fetched.append(number)
        return originals[number]

    check = SecondCheck(original, near_resemblance=0.8, short_shingles=50, max_characters=1_000_000)
    for name in ("first", "second"):  # each has a budget of its own
        asked = document(f"{name} word " * 10_000, OTHER)
        assert check.nearest(asked, originals) is None
        assert check.nearest(asked, originals) is None  # another detector proposes them again
        assert 5 <= len(fetched) <= 7
        assert check.was_cut(asked)
        fetched.clear()
    assert not check.was_cut(document("another", OTHER))
