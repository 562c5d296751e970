"""The formats of documents: how each is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from dedup.documents.document import About, ReadDocument, checked
from dedup.documents.docx import about_docx, read_docx
from dedup.documents.odt import about_odt, read_odt
from dedup.documents.pdf import about_pdf, read_pdf

_PDF = b"%PDF-"
_PDF_BYTES = 1024
_BEFORE_PDF = b"\xef\xbb\xbf\0\t\n\f\r "
_ZIP = b"PK\x03\x04"
_ODT = b"mimetypeapplication/vnd.oasis.opendocument.text"
_ODT_BYTES = 200
_DOCX = b"word/document.xml"


class Format(NamedTuple):
    """A format of documents.

    Attributes:
        is_it: is a body in this format, by its content?
        read: raises a `DocumentError` where the document is not read.
        about: what it says of itself; raises likewise.
        module, extra: the package that it needs, and the extra with that; "": none.
    """

    is_it: Callable[[bytes], bool]
    read: Callable[[bytes], ReadDocument]
    about: Callable[[bytes], About]
    module: str = ""
    extra: str = ""


FORMATS: Mapping[str, Format] = {
    "pdf": Format(
        lambda body: body[:_PDF_BYTES].lstrip(_BEFORE_PDF).startswith(_PDF),
        read_pdf,
        about_pdf,
        module="pypdfium2",
        extra="documents",
    ),
    "docx": Format(lambda body: body.startswith(_ZIP) and _DOCX in body, read_docx, about_docx),
    "odt": Format(
        lambda body: body.startswith(_ZIP) and _ODT in body[:_ODT_BYTES], read_odt, about_odt
    ),
}
"""By the endings of files."""


def format_of(
    body: bytes, names: Collection[str] = tuple(FORMATS), *, is_said_pdf: bool = False
) -> str:
    """The format of a body, of these; "": none of them.

    `is_said_pdf`: it is said to be a PDF. Unless it is markup, it may then begin within the first
    1,024 bytes, as readers of PDF accept it.
    """
    found = next((name for name in names if FORMATS[name].is_it(body)), "")
    if found or not is_said_pdf or "pdf" not in names:
        return found
    start = body[:_PDF_BYTES].lstrip(_BEFORE_PDF)
    return "pdf" if _PDF in start and not start.startswith(b"<") else ""


def is_said_pdf(content_type: str, url: str) -> bool:
    """Does the content type or the URL say that it is a PDF?

    >>> is_said_pdf("application/pdf", "/"), is_said_pdf("", "http://a.example/b.PDF?c=d")
    (True, True)
    """
    path = url.partition("#")[0].partition("?")[0]
    return "application/pdf" in content_type.lower() or path.lower().endswith(".pdf")


def read_document(body: bytes, name: str) -> ReadDocument:
    """Read a document of a format.

    Raises:
        DocumentError: it is damaged, encrypted, or without text.
    """
    return checked(FORMATS[name].read(body))
