"""Fields of documents: what they declare, from their bodies or from what was kept of them."""

from __future__ import annotations

import pytest

from dedup.fields.page_source import PageSource, Reduced, reduced
from dedup.fields.registry import values
from dedup.store import Page
from tests.documents import docx, pdf, placed

INFO = {
    "Title": "Tea & Toast",
    "Author": "Ann Lee",
    "CreationDate": "D:20190719101025-04'00'",
    "ModDate": "D:20200102",
}
FIELDS = "published", "modified", "author", "pages", "markdown", "type", "image", "site_name"
FETCHED = 1_700_000_000.0


def page(body: bytes) -> Page:
    text = "Tea & Toast\n1. A *text* of its own."
    return Page("1", text, body=body, source="document", heading="Tea & Toast", fetched_at=FETCHED)


def test_fields_are_the_same_with_and_without_the_body() -> None:
    whole = page(pdf([placed(["A text of its own."])], info=INFO))
    kept = reduced(whole, is_final=True)
    assert kept is not None
    kept = Reduced.from_bytes(kept.to_bytes())
    bare = Page("1", whole.text, source="document", heading=whole.heading, fetched_at=FETCHED)
    expected = {
        "published": "2019-07-19T10:10:25-04:00",
        "modified": "2020-01-02",
        "author": "Ann Lee",
        "pages": 1,
        "markdown": "# Tea & Toast\n\n1\\. A \\*text\\* of its own.",
        "type": None,
        "image": None,
        "site_name": None,
    }
    assert values(PageSource(whole), FIELDS) == expected
    assert values(PageSource(bare, kept), FIELDS) == expected


@pytest.mark.parametrize(
    ("created", "modified", "published", "later"),
    [
        ("2024-01-08T15:03:50Z", "2024-01-08T15:03:50Z", None, None),  # after the fetch
        ("2020-01-08T15:03:50Z", "2020-01-08T15:03:50Z", "2020-01-08T15:03:50Z", None),
        ("1970-01-01T00:00:00Z", "2020-01-08T15:03:50", None, "2020-01-08T15:03:50"),
        ("long ago", "", None, None),
    ],
)
def test_dates_are_as_declared(
    created: str, modified: str, published: str | None, later: str | None
) -> None:
    about = f"<dcterms:created>{created}</dcterms:created>"
    about += f"<dcterms:modified>{modified}</dcterms:modified><dc:creator>admin</dc:creator>"
    found = values(PageSource(page(docx("A text.", about=about))), FIELDS[:4])
    assert found == {"published": published, "modified": later, "author": None, "pages": None}


def test_a_document_that_cannot_be_read_any_more_declares_nothing() -> None:
    found = values(PageSource(page(b"%PDF-1.7 cut off")), FIELDS[:4])
    assert set(found.values()) == {None}
