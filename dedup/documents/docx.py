"""Reads DOCX: paragraphs, rows of tables, notes, and what the document says of itself.

As the document reads with all changes accepted: what was deleted is left out. python-docx gives
neither notes nor bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dedup.documents.document import About, ReadDocument, text_of
from dedup.documents.zipped import Zipped, local_name

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"

_ABOUT = (
    *(f"{_DC}title", f"{_DC}creator", f"{_DC}language"),
    *(f"{_TERMS}created", f"{_TERMS}modified"),
)

_BLOCKS = (f"{_W}p", f"{_W}tr", f"{_STRICT}p", f"{_STRICT}tr")
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = frozenset(["del", "moveFrom", "instrText", "delText", "pPr", "rPr", "Fallback"])
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_HEADINGS = ("title", "heading", "标题")


def read_docx(body: bytes) -> ReadDocument:
    """Read a DOCX.

    Raises:
        DocumentError: it is damaged or encrypted.
    """
    file = Zipped(body)
    lines: list[str] = []
    heading = ""
    for element in _blocks(file, "word/document.xml"):
        line = _line(element)
        lines.append(line)
        if not heading and _is_heading(element):
            heading = " ".join(line.split())
        element.clear()
    for name in _NOTES:
        lines += [_line(each) for each in _blocks(file, name)]
    return ReadDocument(_about(file), text_of(lines), heading)


def about_docx(body: bytes) -> About:
    """What a DOCX says of itself.

    Raises:
        DocumentError: it is damaged or encrypted.
    """
    return _about(Zipped(body))


def _blocks(file: Zipped, name: str) -> Iterator[Any]:
    """The paragraphs and rows of a part; what is in a row comes with the row."""
    for element in file.elements(name, *_BLOCKS):
        if not any(each.tag in _BLOCKS for each in element.iterancestors()):
            yield element


def _line(element: Any) -> str:
    if local_name(element) == "tr":
        cells = (each for each in element if local_name(each) == "tc")
        return "\t".join(" ".join("".join(_parts(cell)).split()) for cell in cells)
    return "".join(_parts(element))


def _parts(element: Any) -> Iterator[str]:
    """The texts in an element, in order; no deeper than libxml2 allows: 256."""
    for child in element:
        tag = local_name(child)
        if tag == "t":
            yield child.text or ""
        elif tag in _BREAKS:
            yield _BREAKS[tag]
        elif tag not in _LEFT_OUT:
            yield from _parts(child)
            if tag == "p":
                yield "\n"


def _is_heading(element: Any) -> bool:
    style = next(element.iter(f"{_W}pStyle", f"{_STRICT}pStyle"), None)
    name = "" if style is None else next(iter(style.attrib.values()), "")
    return name.lower().startswith(_HEADINGS)


def _about(file: Zipped) -> About:
    """The number of pages that programs put there is often that of their template."""
    elements = file.elements("docProps/core.xml", *_ABOUT)
    found = {local_name(each): each.text or "" for each in elements}
    return About(
        title=found.get("title", ""),
        author=found.get("creator", ""),
        created=found.get("created", ""),
        modified=found.get("modified", ""),
        language=found.get("language", ""),
    )
