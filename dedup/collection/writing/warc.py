"""Writing web archives: records as they came, and the texts of other rows."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dedup.collection.rows import Row, Values, WarcRow
from dedup.collection.writing import Output
from dedup.document import Document
from dedup.extras import load_extra

_URI_CHARACTERS = ":/?#[]@!$&'()*+,;=-._~%"


def target_uri(url: str | None, name: object) -> str:
    """The target of a record: its URL, what no URI may hold escaped; a name for one without URL."""
    return quote(url or f"urn:x-scrapy-dedup:document:{name}", safe=_URI_CHARACTERS)


class WarcFile:
    """A web archive, WARC 1.1; each record is compressed by itself where the name ends in .gz.

    Args:
        out: where to: a path, or an open file.
        name: of the file once it is whole.
        about: what its first record tells besides of the file.

    Raises:
        ModuleNotFoundError: warcio is not installed.
    """

    def __init__(self, out: Path | io.IOBase, name: str, **about: str) -> None:
        writers = load_extra("warcio.warcwriter", extra="warc", purpose="WARC")
        self.file = out.open("wb") if isinstance(out, Path) else out
        is_gzip = name.lower().endswith(".gz")
        self._writer = writers.WARCWriter(self.file, gzip=is_gzip, warc_version="1.1")
        about = {"software": "scrapy-dedup", "format": "WARC File Format 1.1", **about}
        self.add(self._writer.create_warcinfo_record(Path(name).name, about))

    def add(self, record: Any) -> None:
        """Write a record of warcio's."""
        self._writer.write_record(record)

    def add_new(
        self,
        kind: str,
        uri: str,
        content: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """Make a record and write it.

        Args:
            kind: its `WARC-Type`.
            uri: see `target_uri`.
            content: without HTTP headers; None: its block is empty.
            headers: its own; warcio adds a name, the time and digests.
            more: see `create_warc_record` of warcio.
        """
        known = {} if content is None else {"payload": io.BytesIO(content), "length": len(content)}
        self.add(
            self._writer.create_warc_record(uri, kind, warc_headers_dict=headers, **known, **more)
        )

    def add_text(self, uri: str, text: str, headers: Mapping[str, str] | None = None) -> None:
        """Write a `resource` record of a text."""
        content, kind = text.encode("utf-8", "replace"), "text/plain; charset=utf-8"
        self.add_new("resource", uri, content, headers=headers, warc_content_type=kind)

    def close(self) -> None:
        self.file.close()


class WarcWriter:
    """A record that came from an archive is written with its headers and its content.

    Of other rows the text is written; columns beyond id, URL and text have no place in an archive.
    """

    def __init__(self, output: Output) -> None:
        if output.columns is not None:
            raise ValueError(f"a web archive has no columns, got {output.name!r} for a table")
        self._records = load_extra("warcio.recordloader", extra="warc", purpose="WARC")
        self._archive = WarcFile(output.path, output.name)

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if marks is not None:
            raise ValueError(
                "--mark adds columns, which a web archive cannot hold: write another format"
            )
        if isinstance(row, WarcRow):
            self._archive.add(self._copy(row.record))
        else:
            self._archive.add_text(target_uri(document.url, document.id), document.text)

    def finish(self) -> None:
        """Nothing is left."""

    def close(self) -> None:
        self._archive.close()

    def _copy(self, came: Any) -> Any:
        http_headers = came.http_headers
        length = None
        if came.is_whole:
            head = b"" if http_headers is None else http_headers.to_bytes()
            length = len(head) + len(came.content)
        else:
            came.headers.replace_header("WARC-Truncated", "length")
        return self._records.ArcWarcRecord(
            "warc",
            came.kind,
            came.headers,
            io.BytesIO(came.content),
            http_headers,
            came.headers.get_header("Content-Type"),
            length,
        )
