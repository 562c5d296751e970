"""The formats of documents: how each is recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from dedup.documents.document import About, ReadDocument, checked
from dedup.documents.docx import about_docx, read_docx
from dedup.documents.odt import about_odt, read_odt
from dedup.documents.pdf import about_pdf, read_pdf

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
        lambda body: body[:1024].lstrip(_BEFORE_PDF).startswith(b"%PDF-"),
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


def format_of(body: bytes, names: Collection[str] = tuple(FORMATS)) -> str:
    """The format of a body, of these; "": none of them."""
    return next((name for name in names if FORMATS[name].is_it(body)), "")


def read_document(body: bytes, name: str) -> ReadDocument:
    """Read a document of a format.

    Raises:
        DocumentError: it is damaged, encrypted, or without text.
    """
    return checked(FORMATS[name].read(body))
