"""DOCX and ODT: paragraphs, rows, notes; what was deleted is left out; what is not read."""

from __future__ import annotations

import pytest

from dedup.documents.document import DocumentError
from dedup.documents.formats import format_of, read_document
from tests.documents import docx, odt, word_paragraph, zipped

CELLS = [word_paragraph(name) for name in ("Year", "Money spent")]
ROW = "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in CELLS) + "</w:tr>"


def test_docx() -> None:
    data = docx(
        word_paragraph("Report of the year", "Heading1"),
        "<w:p><w:r><w:t>It was </w:t></w:r><w:del><w:r><w:delText>never </w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>at last </w:t></w:r></w:ins><w:hyperlink><w:r><w:t>read</w:t></w:r>"
        "</w:hyperlink><w:r><w:instrText>PAGE</w:instrText><w:br/><w:t>again.</w:t></w:r></w:p>",
        f"<w:tbl>{ROW}</w:tbl>",
        about="<dc:title>The title</dc:title><dc:creator>Ann Lee</dc:creator>"
        "<dcterms:created>2024-01-08T15:03:50Z</dcterms:created>",
        notes=f"<w:footnote>{word_paragraph('A note.')}</w:footnote>",
    )
    assert format_of(data) == "docx"
    found = read_document(data, "docx")
    assert (
        found.text == "Report of the year\nIt was at last read\nagain.\nYear\tMoney spent\nA note."
    )
    assert (found.title, found.heading) == ("The title", "Report of the year")
    assert (found.about.author, found.about.created) == ("Ann Lee", "2024-01-08T15:03:50Z")


def test_odt() -> None:
    data = odt(
        "<text:tracked-changes><text:p>never</text:p></text:tracked-changes>",
        "<text:h>Report of the year</text:h>",
        "<text:p>It was<text:s/>at last <text:span>read</text:span><text:note>"
        "<text:note-citation>1</text:note-citation><text:note-body><text:p> (A note.)</text:p>"
        "</text:note-body></text:note></text:p>",
        "<table:table><table:table-row><table:table-cell><text:p>Year</text:p></table:table-cell>"
        "<table:table-cell><text:p>Money</text:p><text:p>spent</text:p></table:table-cell>"
        "</table:table-row></table:table>",
        about="<dc:title>The title</dc:title><dc:date>2024-01-08T15:03:50</dc:date>"
        '<meta:document-statistic meta:page-count="3"/>',
    )
    assert format_of(data) == "odt"
    found = read_document(data, "odt")
    assert found.text == "Report of the year\nIt was at last read (A note.)\nYear\tMoney spent"
    assert (found.title, found.heading) == ("The title", "Report of the year")
    assert (found.about.modified, found.about.n_pages) == ("2024-01-08T15:03:50", 3)


ENTITIES = "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (docx("A text.")[:200], "document_broken"),
        (docx(" "), "document_scanned"),
        (docx("<w:p>" * 1000 + "</w:p>" * 1000), "document_broken"),
        (docx("<w:p>"), "document_broken"),
        (
            zipped(
                {
                    "word/document.xml": f'<!DOCTYPE x [<!ENTITY a "{"a" * 1000}">{ENTITIES}]>'
                    "<x>&i;</x>"
                }
            ),
            "document_broken",
        ),
        (zipped({"word/document.xml": b" " * 100_000_001}), "too_complex"),
    ],
)
def test_what_is_not_read_has_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(data, "docx")
    assert caught.value.reason == reason


def test_encrypted_parts_are_not_read() -> None:
    data = bytearray(docx("A text."))
    for start in (data.index(b"PK\x03\x04", 4) + 6, data.rindex(b"PK\x01\x02") + 8):
        data[start] |= 1
    with pytest.raises(DocumentError) as caught:
        read_document(bytes(data), "docx")
    assert caught.value.reason == "document_encrypted"
