"""Reading the pages of a web archive."""

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from dedup.collection.rows import Broken, Row, WarcRow, WebPage
from dedup.collection.sources import Source
from dedup.extras import load_extra
from dedup.files import bytes_read

MAX_RECORD_BYTES = 16 * 2**20
"""Of a longer record only the beginning is read, as of a longer page in a crawl."""

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})


class Record(NamedTuple):
    """A record as it came: to be written once more."""

    kind: str
    headers: Any
    http_headers: Any
    content: bytes
    is_whole: bool


def read_warc(
    source: Source, file: BinaryIO, at: Callable[[int], object]
) -> Iterator[Row | Broken]:
    """Read the pages of a web archive.

    These are `response` records of status 200 with HTML or plain text, `resource` and `conversion`
    records of these types (Common Crawl's WET files). All others are passed over: `revisit`
    records, whose content is elsewhere, and what a crawler says of itself (`metadata:` records,
    such as wget's log). Archives without the blank lines after each record are read too.

    What is damaged after some records is read up to there, and told as a broken row.

    Raises:
        OSError: the file cannot be read, is cut off, or is no archive.
        ModuleNotFoundError: warcio is not installed.
    """
    number = 0
    # decompressed by the caller: warcio takes a file cut off for a whole one
    try:
        for record in _records(file):
            number += 1
            at(bytes_read(file))
            if (found := _read_record(record, f"record {number}")) is not None:
                yield found
    except _DamagedError as error:
        if not number:
            raise OSError(f"{source.name}: the archive is damaged ({error})") from error
        yield Broken(f"after record {number}", f"the archive is damaged from here on ({error})")


class _DamagedError(Exception):
    """Of an archive: no record can be found any more."""


def _records(file: BinaryIO) -> Iterator[Any]:
    """The records of an archive.

    Raises:
        _DamagedError: what follows is no record, or one whose header makes no sense to warcio.
    """
    failures = load_extra("warcio.exceptions", extra="warc", purpose="WARC").ArchiveLoadFailed
    records = iter(_archive_iterator()(file))
    while True:
        try:
            record = next(records)
        except StopIteration:
            return
        except (failures, ArithmeticError, AttributeError, LookupError, ValueError) as error:
            raise _DamagedError(str(error)) from error
        yield record


@cache
def _archive_iterator() -> Any:
    archive = load_extra("warcio.archiveiterator", extra="warc", purpose="WARC")

    class Iterator(archive.ArchiveIterator):  # type: ignore[misc, name-defined]
        """Takes a record for the next one though no blank line stands before it."""

        INC_RECORD = ""  # a warning of its own on standard error

        def _consume_blanklines(self) -> tuple[bytes | None, int]:
            line = self.reader.readline()
            if line.startswith(b"WARC/"):
                return line, 0
            if not line:
                return None, 0
            following, size = super()._consume_blanklines()
            return following, size + len(line)

    return Iterator


def _read_record(record: Any, place: str) -> Row | Broken | None:
    headers, http = record.rec_headers, record.http_headers
    if record.rec_type not in {"response", "resource", "conversion"}:
        return None
    if http is not None and http.get_statuscode() != "200":
        return None
    content_type = (http or headers).get_header("Content-Type") or ""
    if content_type.partition(";")[0].strip().lower() not in PAGE_TYPES:
        return None
    url = headers.get_header("WARC-Target-URI") or ""
    if url.strip("<").lower().startswith("metadata:"):
        return None
    content = record.raw_stream.read(MAX_RECORD_BYTES)
    is_whole = not record.raw_stream.read(1)
    record.raw_stream = BytesIO(content)
    try:
        body = record.content_stream().read(MAX_RECORD_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        return Broken(f"{place} ({url})", f"the content cannot be decompressed ({error})", url)
    page = WebPage(headers.get_header("WARC-Record-ID") or url, url, content_type, body)
    came = Record(record.rec_type, headers, http, content, is_whole)
    return WarcRow(place, page, headers.get_header("WARC-Date"), came)
