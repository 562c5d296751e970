"""Reads ODT: paragraphs, rows of tables, notes, and what the document says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from dedup.documents.document import About, ReadDocument, text_of
from dedup.documents.zipped import Zipped, local_name

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"

_BLOCKS = (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table-row")
_ABOUT = (
    *(f"{_DC}title", f"{_DC}creator", f"{_DC}date", f"{_DC}language"),
    *(f"{_META}initial-creator", f"{_META}creation-date", f"{_META}document-statistic"),
)
_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}
_LEFT_OUT = frozenset(["tracked-changes", "note-citation", "annotation"])


def read_odt(body: bytes) -> ReadDocument:
    """Read an ODT.

    Raises:
        DocumentError: it is damaged or encrypted.
    """
    file = Zipped(body)
    lines: list[str] = []
    heading = ""
    for element in file.elements("content.xml", *_BLOCKS):
        if any(_is_outside(each) for each in element.iterancestors()):
            continue
        lines.append(_line(element))
        if not heading and local_name(element) == "h":
            heading = " ".join(lines[-1].split())
        element.clear()
    return ReadDocument(_about(file), text_of(lines), heading)


def about_odt(body: bytes) -> About:
    """What an ODT says of itself.

    Raises:
        DocumentError: it is damaged or encrypted.
    """
    return _about(Zipped(body))


def _is_outside(element: Any) -> bool:
    return element.tag in _BLOCKS or local_name(element) in _LEFT_OUT


def _line(element: Any) -> str:
    if local_name(element) == "table-row":
        cells = (each for each in element if local_name(each) == "table-cell")
        return "\t".join(" ".join("".join(_parts(cell)).split()) for cell in cells)
    return "".join(_parts(element))


def _parts(element: Any) -> Iterator[str]:
    """The texts in an element, in order; no deeper than libxml2 allows: 256."""
    yield element.text or ""
    for child in element:
        name = local_name(child)
        if name in _BREAKS:
            yield _BREAKS[name]
        elif name and name not in _LEFT_OUT:
            yield from _parts(child)
            if name in ("p", "h"):
                yield "\n"
        yield child.tail or ""


def _about(file: Zipped) -> About:
    elements = list(file.elements("meta.xml", *_ABOUT))
    found = {local_name(each): each.text or "" for each in elements}
    n_pages = None
    for each in elements:
        with suppress(ValueError):
            n_pages = int(each.get(f"{_META}page-count", ""))
    return About(
        title=found.get("title", ""),
        author=found.get("initial-creator") or found.get("creator", ""),
        created=found.get("creation-date", ""),
        modified=found.get("date", ""),
        language=found.get("language", ""),
        n_pages=n_pages if n_pages is not None and 0 < n_pages < 2**31 else None,
    )
