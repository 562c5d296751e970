"""The rows of a collection, each with what readers and writers need."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Protocol

from dedup.document import Document

Values = Mapping[str, Any]

MAX_ROW_BYTES = 64 * 2**20
"""A longer row is broken: working on it would take some 25 times as much memory."""


class Broken(NamedTuple):
    """A row that is not a document, and why.

    Attributes:
        text: of the row in the file, where known.
        lacks_text: the row is sound, but has no text to compare.
    """

    place: str
    reason: str
    text: str | None = None
    lacks_text: bool = False


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of a web archive.

    Attributes:
        id: of its record.
        content_type: with its parameters.
        body: after decompression.
    """

    id: str
    url: str
    content_type: str
    body: bytes

    @property
    def is_plain(self) -> bool:
        """Is it plain text, without markup?"""
        return self.content_type.partition(";")[0].strip().lower() == "text/plain"


Given = bytes | Mapping[str, Any] | WebPage
"""What a document is made of: a line of JSON, the columns that count, or a page."""


class Row(Protocol):
    """A row that may be a document."""

    @property
    def place(self) -> str:
        """Its place in its file."""

    def given(self) -> Given:
        """What its document is made of; small, and can be sent to another process."""

    def values(self, document: Document) -> Values:
        """All columns, in their order."""

    def source_text(self) -> str:
        """The row as shown to somebody who repairs it."""


class JsonRow(NamedTuple):
    """A line of JSON Lines."""

    place: str
    line: bytes

    def given(self) -> bytes:
        return self.line

    def values(self, document: Document) -> Values:  # noqa: ARG002 -- all is in the line
        found: dict[str, Any] = json.loads(self.line.decode("utf-8", "surrogateescape"))
        return found

    def source_text(self) -> str:
        return self.line.decode("utf-8", "replace").rstrip("\r\n")


class TableRow(NamedTuple):
    """A row of CSV, or of a caller's own table."""

    place: str
    columns: Mapping[str, Any]
    names: Sequence[str]

    def given(self) -> Mapping[str, Any]:
        return {name: self.columns[name] for name in self.names if name in self.columns}

    def values(self, document: Document) -> Values:  # noqa: ARG002 -- all is in the columns
        return self.columns

    def source_text(self) -> str:
        return json.dumps(self.columns, ensure_ascii=False, default=str)


class ArrowRow(NamedTuple):
    """A row of a batch of Arrow's; what is not asked for stays there."""

    place: str
    batch: Any
    at: int
    columns: Mapping[str, Any]
    """Those that count."""

    def given(self) -> Mapping[str, Any]:
        return self.columns

    def values(self, document: Document) -> Values:  # noqa: ARG002 -- all is in the batch
        try:
            found: dict[str, Any] = self.batch.slice(self.at, 1).to_pylist()[0]
        except (ArithmeticError, ValueError) as error:  # a time before the year 1 or after 9999
            raise ValueError(f"{self.place}: a value cannot be read ({error})") from error
        return found

    def source_text(self) -> str:
        return json.dumps(self.columns, ensure_ascii=False, default=str)


class WarcRow(NamedTuple):
    """A page of a web archive, and its record as it came."""

    place: str
    page: WebPage
    fetched_at: str | None
    record: Any

    def given(self) -> WebPage:
        return self.page

    def values(self, document: Document) -> Values:
        return {
            "id": self.page.id,
            "url": self.page.url,
            "fetched_at": self.fetched_at,
            "title": document.title,
            "text": document.text,
        }

    def source_text(self) -> str:
        return self.page.url


def json_line(values: Values) -> bytes:
    """A row as a line; halves of surrogate pairs are escaped, as UTF-8 has none."""
    try:
        return _encoder.encode(values).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(values, default=_plain).encode() + b"\n"


def as_text(value: Any) -> str | None:
    """A value where only texts stand: as JSON writes it, without quotes around it."""
    if value is None or isinstance(value, str):
        return value
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)
    return json_line(value).decode().rstrip().strip('"')


def _plain(value: Any) -> str:
    """What JSON has no form for: times, decimal numbers and bytes, from Parquet."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


_encoder = json.JSONEncoder(ensure_ascii=False, default=_plain)  # `dumps` would make one each time
