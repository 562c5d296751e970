"""The parts of documents that are zip files of XML, read within bounds."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lxml import etree

from dedup.documents.document import DocumentError

_MAX_PART_BYTES = 100_000_000
"""A thousand pages of text take 20 MB."""

_ENCRYPTED = 0x1
_ERRORS = (
    *(EOFError, NotImplementedError, OSError, RuntimeError, ValueError),
    *(lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)
"""Of the standard library, for damaged archives."""


class Zipped:
    """A zip file.

    Raises:
        DocumentError: it is damaged.
    """

    def __init__(self, body: bytes) -> None:
        try:
            self._file = zipfile.ZipFile(BytesIO(body))
        except _ERRORS as error:
            raise _broken(error) from None

    def __contains__(self, name: str) -> bool:
        return name in self._file.NameToInfo

    def elements(self, name: str, *tags: str) -> Iterator[Any]:
        """The elements of a part with these tags, each when it ends; [] where there is no part.

        Raises:
            DocumentError: the part is damaged, encrypted, or too large.
        """
        if name not in self:
            return iter(())
        source = BytesIO(self._read(name))
        # Entities and other files are left alone; libxml2 bounds the depth and the texts.
        return _read_elements(
            etree.iterparse(
                source,
                events=("end",),
                tag=tags,
                resolve_entities=False,
                no_network=True,
                load_dtd=False,
                huge_tree=False,
            )
        )

    def _read(self, name: str) -> bytes:
        if self._file.NameToInfo[name].flag_bits & _ENCRYPTED:
            raise DocumentError("document_encrypted", "it is encrypted")
        try:
            with self._file.open(name) as part:
                data = part.read(_MAX_PART_BYTES + 1)
        except _ERRORS as error:
            raise _broken(error) from None
        if len(data) > _MAX_PART_BYTES:
            raise DocumentError("too_complex", f"{name} has more than {_MAX_PART_BYTES:,} bytes")
        return data


def local_name(element: Any) -> str:
    """The name of an element without its namespace; "" for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _read_elements(events: Any) -> Iterator[Any]:
    try:
        for _, element in events:
            yield element
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _broken(error) from None


def _broken(error: Exception) -> DocumentError:
    return DocumentError("document_broken", f"{type(error).__name__}: {error}")
