"""PDF: text in paragraphs, without running heads; title, dates and pages; what is not read."""

from __future__ import annotations

import pytest

from dedup.documents.document import DocumentError, ReadDocument
from dedup.documents.formats import format_of, read_document
from tests.documents import Placed, pdf, placed, wrapped

PARAGRAPHS = [
    "The committee met in the spring to read the reports of all departments, and found that most"
    " of them had spent less than they were given, while three had asked for more in every year.",
    "A second meeting was held in autumn. It was attended by the treasurer, who explained how the"
    " money was borrowed, from whom, and when it is to be paid back with what was agreed on.",
]
CHINESE = "本部分聚焦于内核向上提供的接口，也被称为系统调用，并不考察其底层实现，而只关注语义。"


def read(pages: list[list[Placed]], **more: str) -> ReadDocument:
    return read_document(pdf(pages, info=more), "pdf")


def body(top: float = 700) -> list[Placed]:
    lines = [*wrapped(PARAGRAPHS[0], 60), "", *wrapped(PARAGRAPHS[1], 60)]
    return placed(lines, top=top)


def test_lines_are_paragraphs_again() -> None:
    assert read([body()]).text.split("\n") == PARAGRAPHS


def test_heads_and_numbers_of_pages_are_left_out() -> None:
    words = PARAGRAPHS[0].split()
    lines = wrapped(" ".join(words * 9), 60)
    pages = [
        [
            Placed("Annual Report", y=760, size=9),
            Placed(f"- {number} -", x=300, y=30, size=9),
            *placed(lines[12 * number : 12 * number + 12]),
        ]
        for number in range(4)
    ]
    assert read(pages).text.split() == words * 9


def test_a_line_on_one_page_alone_stays() -> None:
    pages = [[Placed(f"Only {word} says this", y=760), *body()] for word in ("one", "two", "six")]
    found = read(pages).text
    assert all(f"Only {word} says this" in found for word in ("one", "two", "six"))


def test_numbers_at_the_edges_of_pages_stay_unless_they_count_them() -> None:
    numbers = [("12", "7"), ("931", "8"), ("4", "9"), ("77", "10")]
    pages = [[Placed(f"Figure {one}", y=760), *body(), Placed(two, y=40)] for one, two in numbers]
    found = read(pages).text
    assert all(f"Figure {one}" in found for one, _ in numbers)
    assert not {"7", "8", "9", "10"} & set(found.split())


def test_leaders_lead_to_pages_or_to_prices() -> None:
    names = ["Coffee", "Chocolate", "Tea", "Water"]
    for numbers, expected in (
        ([1, 2, 2, 9], ["", "", "", ""]),
        ([4, 5, 3, 1], [" 4", " 5", " 3", " 1"]),
    ):
        lines = [
            f"{name} . . . . . . . {number}" for name, number in zip(names, numbers, strict=True)
        ]
        found = read([placed(lines)]).text.split("\n")
        assert found == [name + number for name, number in zip(names, expected, strict=True)]


def test_divided_words_are_one_again_and_compounds_keep_their_hyphen() -> None:
    lines = [
        "Every department has a well-known treasurer, and a department that is not well-",
        "known has none, said the speaker of the smallest of them; no other depart-",
        "ment answered.",
    ]
    found = read([placed(lines)]).text
    assert "not well-known has none" in found
    assert "no other department answered." in found


def test_chinese_lines_are_joined_without_blanks() -> None:
    lines = [CHINESE[place : place + 20] for place in range(0, len(CHINESE), 20)]
    assert read([placed(lines)]).text == CHINESE


def test_title_is_the_declared_one_or_else_the_heading() -> None:
    page = [Placed("Report of the year", y=740, size=20), *body()]
    found = read([page], Title="The Declared Title")
    assert (found.title, found.heading, found.own_title) == (
        "The Declared Title",
        "Report of the year",
        "The Declared Title",
    )
    for declared in ("Microsoft Word - report.doc", "report_final.pdf", "Untitled", " ", "2019"):
        found = read([page], Title=declared)
        assert (found.title, found.own_title) == ("Report of the year", ""), declared
    assert read([body()]).title == ""


def test_what_it_declares() -> None:
    data = pdf(
        [body()] * 2,
        info={"Author": "王伟", "CreationDate": "D:20190719101025-04'00'"},
        language="en-GB",
    )
    about = read_document(data, "pdf").about
    assert (about.author, about.created, about.modified, about.language, about.n_pages) == (
        "王伟",
        "D:20190719101025-04'00'",
        "",
        "en-GB",
        2,
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf([body()], is_encrypted=True), "document_encrypted"),
        (pdf([body()])[:300], "document_broken"),
        (b"%PDF-1.7\n", "document_broken"),
        (pdf([[], [], body()]), "document_scanned"),
        (pdf([[Placed("\ue000\ue001\ue002\ue003" * 20)]]), "document_scanned"),
        (pdf([[Placed("1 2 3 + 4")]]), "document_scanned"),
    ],
)
def test_what_is_not_read_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(data, "pdf")
    assert caught.value.reason == reason


def test_a_page_without_text_among_others_is_no_scan() -> None:
    assert read([body(), []]).text.split("\n") == PARAGRAPHS


def test_a_pdf_may_begin_after_other_bytes_where_it_is_said_to_be_one() -> None:
    junk = b"HTTP/1.1 200 OK\r\n\r\n"
    data = junk + pdf([body()])
    assert format_of(data) == ""
    assert format_of(data, is_said_pdf=True) == "pdf"
    assert format_of(data, ["docx"], is_said_pdf=True) == ""
    assert format_of(b"<p>%PDF-1.7</p>", is_said_pdf=True) == ""
    assert format_of(bytes(1020) + b"junk" + data, is_said_pdf=True) == ""
    assert read_document(data, "pdf").text.split("\n") == PARAGRAPHS


def test_a_format_is_told_by_the_content() -> None:
    data = pdf([body()])
    assert format_of(data) == format_of(b"\r\n" + data) == "pdf"
    assert format_of(data, ["docx"]) == ""
    assert format_of(b"<p>%PDF-1.7</p>") == ""
    assert format_of(b"PK\x03\x04 any other archive") == ""
