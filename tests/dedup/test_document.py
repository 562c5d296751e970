"""Documents made without checks are those made with them."""

from dataclasses import asdict

from dedup.document import Document


def test_of_fields_gives_the_document_that_a_call_gives() -> None:
    fields = {"id": "1", "text": "One page.", "url": "https://a.example/", "key": "k"}
    made, called = Document.of_fields(**fields), Document(**fields)
    assert asdict(made) == asdict(called)
    assert made.signatures == {}
    assert made.shingles.tolist() == called.shingles.tolist()


def test_documents_of_fields_share_no_signatures() -> None:
    first, second = (Document.of_fields(id="1", text="One page.") for _ in range(2))
    first.take(signatures={"text": b"1"})
    assert second.signatures == {}
