"""Writing a web archive: records as they came, other rows as `resource` records."""

import io
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from dedup.collection.rows import Row, Values, WarcRow
from dedup.document import Document
from dedup.extras import load_extra

_URI_CHARACTERS = ":/?#[]@!$&'()*+,;=-._~%"


class WarcWriter:
    """A record that came from an archive is written with its headers and its content.

    Of other rows the text is written; columns beyond id, URL and text have no place in an archive.

    Raises:
        ModuleNotFoundError: warcio is not installed.
    """

    def __init__(self, path: Path, name: str) -> None:
        writers = load_extra("warcio.warcwriter", extra="warc", purpose="WARC")
        self._records = load_extra("warcio.recordloader", extra="warc", purpose="WARC")
        self._file = path.open("wb")
        self._writer = writers.WARCWriter(
            self._file, gzip=name.lower().endswith(".gz"), warc_version="1.1"
        )
        about = {"software": "scrapy-dedup", "format": "WARC File Format 1.1"}
        self._writer.write_record(self._writer.create_warcinfo_record(Path(name).name, about))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if marks is not None:
            raise ValueError(
                "--mark adds columns, which a web archive has none of: write another format"
            )
        self._writer.write_record(
            self._copy(row) if isinstance(row, WarcRow) else self._resource(document)
        )

    def finish(self) -> None:
        """Nothing is left."""

    def _copy(self, row: WarcRow) -> Any:
        came = row.record
        if not came.is_whole:
            came.headers.replace_header("WARC-Truncated", "length")
        return self._records.ArcWarcRecord(
            "warc",
            came.kind,
            came.headers,
            io.BytesIO(came.content),
            came.http_headers,
            came.headers.get_header("Content-Type"),
            None if not came.is_whole else self._length(came),
        )

    @staticmethod
    def _length(came: Any) -> int:
        headers = came.http_headers
        head = b"" if headers is None else headers.to_bytes()
        return len(head) + len(came.content)

    def _resource(self, document: Document) -> Any:
        text = document.text.encode("utf-8", "replace")
        uri = document.url or f"urn:x-scrapy-dedup:document:{document.id}"
        return self._writer.create_warc_record(
            quote(uri, safe=_URI_CHARACTERS),
            "resource",
            payload=io.BytesIO(text),
            length=len(text),
            warc_content_type="text/plain; charset=utf-8",
        )
