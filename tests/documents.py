"""Writes small documents: PDF, DOCX and ODT."""

from __future__ import annotations

import zipfile
import zlib
from codecs import BOM_UTF16_BE
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import NamedTuple
from xml.sax.saxutils import escape


class Placed(NamedTuple):
    """A line of a page: its text, where it begins, in points from below, and its size."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 10


def placed(
    lines: Iterable[str], *, top: float = 700, x: float = 72, size: float = 10
) -> list[Placed]:
    """Lines below each other; an empty one leaves a line free."""
    return [
        Placed(line, x, top - 1.2 * size * number, size)
        for number, line in enumerate(lines)
        if line
    ]


def wrapped(text: str, width: int = 80, *, divide: Mapping[str, str] | None = None) -> list[str]:
    """A paragraph in lines; words in `divide` are divided where they do not fit: `re-port`."""
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) >= width:
            first, _, rest = (divide or {}).get(word, "").partition("-")
            lines.append(f"{line} {first}-" if rest else line)
            line = rest or word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def pdf(
    pages: Sequence[Sequence[Placed]],
    *,
    info: Mapping[str, str] | None = None,
    language: str = "",
    is_encrypted: bool = False,
) -> bytes:
    """A PDF of these pages. A map names letters other than ASCII, of a font without glyphs."""
    first = 5  # the objects before the pages
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    lang = f"/Lang ({language})" if language else ""
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{lang}>>".encode(),
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        _WIDE_FONT,
    ]
    for number, page in enumerate(pages):
        content = zlib.compress("\n".join(map(_shown, page)).encode())
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {first + 2 * number + 1} 0 R"
            "/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>".encode(),
            _stream(content, "/Filter/FlateDecode"),
        ]
    objects.append(_stream(_TO_UNICODE))
    objects[3] = objects[3].replace(b"MAP", f"{len(objects)} 0 R".encode())
    trailer = ""
    if info:
        fields = "".join(f"/{name} {_text(value)}" for name, value in info.items())
        objects.append(f"<<{fields}>>".encode())
        trailer = f"/Info {len(objects)} 0 R"
    if is_encrypted:
        key = "ab" * 32
        trailer += f"/Encrypt<</Filter/Standard/V 1/R 2/O<{key}>/U<{key}>/P -4>>/ID[<00><00>]"
    return _file(objects, trailer)


_WIDE_FONT = (
    b"<</Type/Font/Subtype/Type0/BaseFont/Wide/Encoding/Identity-H/ToUnicode MAP/DescendantFonts["
    b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Wide/CIDSystemInfo<</Registry(Adobe)"
    b"/Ordering(Identity)/Supplement 0>>/DW 1000/FontDescriptor<</Type/FontDescriptor"
    b"/FontName/Wide/Flags 4/FontBBox[0 -200 1000 800]/ItalicAngle 0/Ascent 800/Descent -200"
    b"/CapHeight 700/StemV 80>>>>]>>"
)
_TO_UNICODE = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Wide def /CMapType 2 def
1 begincodespacerange <0000> <FFFF> endcodespacerange
1 beginbfrange <0000> <FFFF> <0000> endbfrange
endcmap end end"""


def _shown(line: Placed) -> str:
    if line.text.isascii():
        text = line.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font, shown = "F1", f"({text})"
    else:
        font, shown = "F2", f"<{line.text.encode('utf-16-be').hex()}>"
    return f"BT /{font} {line.size} Tf {line.x} {line.y} Td {shown} Tj ET"


def _text(value: str) -> str:
    marked = BOM_UTF16_BE + value.encode("utf-16-be")
    return f"<{marked.hex()}>"


def _stream(data: bytes, entries: str = "") -> bytes:
    return f"<</Length {len(data)}{entries}>>stream\n".encode() + data + b"\nendstream"


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    data, places = bytearray(b"%PDF-1.7\n"), []
    for number, each in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    rows = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}"
        f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{len(data)}\n%%EOF"
    )
    return bytes(data) + end.encode()


def docx(*paragraphs: str, about: str = "", notes: str = "") -> bytes:
    """A DOCX; a paragraph that begins with `<` is markup."""
    body = "".join(each if each.startswith("<") else word_paragraph(each) for each in paragraphs)
    parts = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
    }
    if about:
        parts["docProps/core.xml"] = (
            '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="http://purl.org/dc/elements/1.1/"'
            f' xmlns:dcterms="http://purl.org/dc/terms/">{about}</cp:coreProperties>'
        )
    if notes:
        parts["word/footnotes.xml"] = f"<w:footnotes {_W}>{notes}</w:footnotes>"
    return zipped(parts)


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word_paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def odt(*paragraphs: str, about: str = "") -> bytes:
    """An ODT; a paragraph that begins with `<` is markup."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "meta")
    )
    spaces += ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    body = "".join(
        each if each.startswith("<") else f"<text:p>{escape(each)}</text:p>" for each in paragraphs
    )
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {spaces}><office:body><office:text>{body}"
            "</office:text></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {spaces}><office:meta>{about}</office:meta>"
            "</office:document-meta>",
        }
    )


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, data, compress_type=how)
    return file.getvalue()
