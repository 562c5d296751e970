"""Reads PDF by PDFium: text, and what the document says of itself.

PDFium takes a twentieth of the CPU time of pypdf; it is not bounded, so the process is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_ushort, sizeof
from itertools import takewhile
from math import isfinite
from typing import Any

from dedup.documents.document import About, DocumentError, ReadDocument, good_title, text_of
from dedup.documents.lines import Line, body_size, paragraphs, without_running_heads
from dedup.extras import load_extra

_LARGER = 1.2
"""The size of a heading's letters over that of the text's."""

_MAX_HEADING_LINES = 3
_MAX_HEADING_CHARACTERS = 200
_UNREADABLE = re.compile("[\ue000-\uf8ff\ufffd]")
_MAX_UNREADABLE = 0.3
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")
_LETTERS = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
)
"""For ligatures."""

_PART = re.compile(r"[^\s\ufffe](?:[^\r\n\ufffe]*[^\s\ufffe])?\ufffe?")
"""PDFium gives the hyphen at the end of a line as U+FFFE, and no end of line."""

_PASSWORD_ERRORS = (4, 5)
_LANGUAGE_LETTERS = 100


def library() -> Any:
    """PDFium.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    return load_extra("pypdfium2", extra="documents", purpose="reading PDF")


def read_pdf(body: bytes) -> ReadDocument:
    """Read a PDF.

    Raises:
        DocumentError: it is damaged, encrypted, or scanned.
    """
    pdfium = library()
    with closing(_opened(pdfium, body)) as document:
        about = _about(pdfium, document)
        pages = list(_pages(pdfium, document))
    kept = without_running_heads(pages)
    _check(kept)
    return ReadDocument(about, text_of(paragraphs(kept)), _heading(kept, about))


def about_pdf(body: bytes) -> About:
    """What a PDF says of itself.

    Raises:
        DocumentError: it is damaged or encrypted.
    """
    pdfium = library()
    with closing(_opened(pdfium, body)) as document:
        return _about(pdfium, document)


def _opened(pdfium: Any, body: bytes) -> Any:
    try:
        return pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in _PASSWORD_ERRORS:
            raise DocumentError("document_encrypted", "it is encrypted") from None
        raise DocumentError("document_broken", f"PDFium cannot open it ({error})") from None


def _about(pdfium: Any, document: Any) -> About:
    known = {
        name: _CONTROLS.sub("", value)
        for name, value in document.get_metadata_dict(skip_empty=True).items()
    }
    letters = (c_ushort * _LANGUAGE_LETTERS)()
    pdfium.raw.FPDFCatalog_GetLanguage(document.raw, letters, sizeof(letters))
    language = "".join(map(chr, takewhile(lambda letter: 0x20 <= letter < 0x7F, letters)))
    return About(
        title=known.get("Title", ""),
        author=known.get("Author", ""),
        created=known.get("CreationDate", ""),
        modified=known.get("ModDate", ""),
        language=language,
        n_pages=len(document),
    )


def _pages(pdfium: Any, document: Any) -> Iterator[list[Line]]:
    """The lines of each page, in the order of the page's content."""
    for number in range(len(document)):
        try:
            with closing(document[number]) as page, closing(page.get_textpage()) as text:
                yield list(_lines(pdfium, text))
        except pdfium.PdfiumError:  # a damaged page: the others are read
            yield []


def _lines(pdfium: Any, page: Any) -> Iterator[Line]:
    """The lines of a page; parts in another font, which PDFium has as lines, are joined again."""
    line = None
    for found in _PART.finditer(page.get_text_range()):
        part = _part(pdfium, page, found)
        if line is not None and part.is_beside(line):
            line = line.joined(part)
        else:
            if line is not None:
                yield line
            line = part
    if line is not None:
        yield line


def _part(pdfium: Any, page: Any, found: re.Match[str]) -> Line:
    first, last = _box(pdfium, page, found.start()), _box(pdfium, page, found.end() - 1)
    text = _CONTROLS.sub("\ufffd", found[0].translate(_LETTERS))
    places = first.left, last.right, first.bottom, first.top - first.bottom
    return Line(text, *(each if isfinite(each) else 0.0 for each in places))


def _box(pdfium: Any, page: Any, place: int) -> Any:
    """The box of a character of the page's text."""
    raw, box = pdfium.raw, pdfium.raw.FS_RECTF()
    number = raw.FPDFText_GetCharIndexFromTextIndex(page.raw, place)
    raw.FPDFText_GetLooseCharBox(page.raw, number, byref(box))
    return box


def _check(pages: Sequence[Sequence[Line]]) -> None:
    """Is there text on most pages, that can be read? On the others there are pictures.

    Raises:
        DocumentError: it is not.
    """
    n_without = sum(not page for page in pages)
    if 2 * n_without > len(pages) or not pages:
        raise DocumentError("document_scanned", f"{n_without:,} of {len(pages):,} pages: no text")
    text = "".join(line.text for page in pages for line in page)
    if len(_UNREADABLE.findall(text)) > _MAX_UNREADABLE * len(text):
        raise DocumentError("document_scanned", "its fonts do not tell which letters they show")


def _heading(pages: Sequence[Sequence[Line]], about: About) -> str:
    """The largest line of the first page with text, if it is larger than the text."""
    first = next((page for page in pages if page), ())
    size = max((line.size for line in first), default=0.0)
    if size < _LARGER * body_size(pages):
        return ""
    begin = next(place for place, line in enumerate(first) if line.size == size)
    lines = takewhile(lambda line: abs(line.size - size) < 0.1 * size, first[begin:])
    heading = " ".join(paragraphs([list(lines)[:_MAX_HEADING_LINES]]))
    title = good_title(about.title)
    if title.startswith(heading):  # the rest is in another font
        return title
    return heading if len(heading) <= _MAX_HEADING_CHARACTERS else ""
