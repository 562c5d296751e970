"""Reading the pages of a web archive.

The records are found here and parsed by warcio, which trusts the length that a record declares: if
that is wrong, it silently loses the records that follow.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from zstandard import ZstdDecompressor, ZstdError

from dedup.collection.rows import Broken, Row, WarcRow, WebPage
from dedup.collection.sources import Source
from dedup.extras import load_extra
from dedup.files import Unpacked, bytes_read

MAX_RECORD_BYTES = 16 * 2**20
"""Of a longer record only the beginning is read, as of a longer page in a crawl."""

MAX_BROKEN_RECORDS = 1_000
"""Of an archive: for each, what was read is searched again for the next record."""

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})

_MAX_HEAD_BYTES = 64 * 2**10
_MAX_HEAD_LINES = 1_000
_MAX_HEAD = "64 KiB or 1,000 lines"
_LENGTH_DIGITS = 18
_WINDOW_BITS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
_PEEK_BYTES = 4 * 2**10
_SCAN_BYTES = 2**20

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_ZSTD_BYTES = 2 * 2**10
"""Compressed bytes at a time: at most 64 MiB come out."""

_MAGIC = b"WARC/"
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_NEXT = re.compile(rb"\n\r?\n(?=WARC/[01]\.\d)")


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

    A record is broken if its header makes no sense or is too long, if no record and no end of the
    archive follows where it says to end, if it cannot be unpacked, and if its content ends before
    its last chunk, the end of its compression or its HTTP `Content-Length`, unless the archive says
    so (`WARC-Truncated`). The next one is then looked
    for: behind a blank line, and in a compressed archive where a member begins.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not an archive.
        ModuleNotFoundError: warcio is not installed.
    """
    archive = _Archive(file)
    number = n_broken = 0
    while True:
        number += 1
        place = f"record {number}, byte {archive.offset:,}"
        at(bytes_read(file))
        try:
            begin = archive.next_bytes()
            if begin not in (b"", _MAGIC) and number == 1:
                raise ValueError(f"{source.name}: expected an archive that begins with WARC/")
            if not begin:
                return
            place = f"record {number}, byte {archive.offset:,}"
            if (row := _read_record(*archive.read_record(), place)) is not None:
                yield row
            continue
        except _BrokenRecordError as error:
            yield Broken(place, str(error))
        except OSError as error:
            if error.errno is not None:  # the file cannot be read
                raise
            yield Broken(place, str(error).removeprefix(f"{source.path}: "))
            if not archive.skip_damage():
                return
        n_broken += 1
        if n_broken == MAX_BROKEN_RECORDS:
            yield Broken(place, f"{n_broken:,} records are broken; the rest is not read")
            return
        archive.find_record()


class _BrokenRecordError(ValueError):
    """Of a record: what is wrong with it."""


class _Archive:
    """An archive, in which a record can be looked for behind one that is broken.

    Attributes:
        offset: of what is read next, in the archive as it is when unpacked.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.offset = 0
        self._file = file
        self._again = BytesIO()
        self._end_of_member = -1
        self._size = os.fstat(file.fileno()).st_size if file.seekable() else None
        raw = getattr(file, "raw", None)
        self._unpacked = raw if isinstance(raw, Unpacked) else None
        if self._unpacked is not None:
            self._unpacked.stops_between = True

    def next_bytes(self) -> bytes:
        """The first bytes behind blank lines; none: the archive ends."""
        while part := self._read(_PEEK_BYTES) or self._read(_PEEK_BYTES):
            if rest := part.lstrip(b"\r\n"):
                self._push(rest)
                return rest[: len(_MAGIC)]
        return b""

    def read_record(self) -> tuple[Any, bytes, bool]:
        """Read the headers and the block of a record, and whether this is all of the block.

        Raises:
            _BrokenRecordError: it is broken; reading goes on within it.
            OSError: it cannot be unpacked.
        """
        headers = _warc_headers(self._head())
        length = _length(headers)
        start = self.offset
        block, n_found = self._block(length)
        if n_found < length:
            if not self.next_bytes():  # else the record of another member follows
                self._go_back(start, block)
            raise _BrokenRecordError(
                f"its declared length is {length:,} bytes, but it ends after {n_found:,}"
            )
        following = self._read(_PEEK_BYTES)
        rest = following.lstrip(b"\r\n")
        if rest and not rest.startswith(_MAGIC):
            self._push(following)
            self._go_back(start, block)
            raise _BrokenRecordError(f"its declared length is {length:,} bytes, but it is longer")
        self._push(rest)
        return headers, block, n_found == len(block)

    def find_record(self) -> None:
        """Go to the next record, or to the end."""
        before = b"\n\n"
        is_at_end = False
        while True:
            part = self._read(_SCAN_BYTES)
            if found := _NEXT.search(before + part):
                self._push((before + part)[found.end() :])
                return
            if not part and is_at_end:
                return
            is_at_end = not part
            before = part[-12:] if len(part) == _SCAN_BYTES else b"\n\n"  # a member may begin

    def skip_damage(self) -> bool:
        """Go on behind what cannot be unpacked; False: nothing can be read any more."""
        self._again = BytesIO()
        return self._unpacked is not None and self._unpacked.skip_member()

    def _head(self) -> bytes:
        data = b""
        for size in (_PEEK_BYTES, _MAX_HEAD_BYTES - _PEEK_BYTES):
            data += self._read(size)
            if (end := _head_end(data)) is not None:
                self._push(data[end:])
                return data[:end]
        self._push(data[1:])
        raise _BrokenRecordError(f"its header is longer than {_MAX_HEAD} or cut off")

    def _block(self, length: int) -> tuple[bytes, int]:
        """The beginning of a block of this length, and how much there is of the block.

        It ends early where the archive does, and where a member begins with another record.
        """
        if self._size is not None and length > self._size - self.offset:
            return b"", self._size - self.offset
        block = bytearray()
        n_read = 0
        while n_read < length:
            wanted = min(length - n_read, _SCAN_BYTES)
            is_within = self.offset != self._end_of_member
            part = self._read(wanted)
            if not (part and is_within):
                part = part or self._read(wanted)
                if not part or part.startswith(_MAGIC):
                    self._push(part)
                    break
            n_read += len(part)
            block += part[: MAX_RECORD_BYTES - len(block)]
            if len(block) == MAX_RECORD_BYTES and self._size is not None:
                self._seek(self.offset + length - n_read)
                n_read = length
        return bytes(block), n_read

    def _go_back(self, start: int, read: bytes) -> None:
        """Read once more from `start` on; if that is not possible, what `read` has of it."""
        if self._size is not None:
            self._seek(start)
        elif len(read) < MAX_RECORD_BYTES:
            self._push(read)

    def _seek(self, offset: int) -> None:
        self._file.seek(offset)
        self.offset, self._again = offset, BytesIO()

    def _read(self, size: int) -> bytes:
        """Read `size` bytes, or fewer where a member ends."""
        found = self._again.read(size)
        if not found or (len(found) < size and self.offset + len(found) != self._end_of_member):
            found += self._file.read(size - len(found))
            if len(found) < size:
                self._end_of_member = self.offset + len(found)
        self.offset += len(found)
        return found

    def _push(self, data: bytes) -> None:
        self.offset -= len(data)
        self._again = BytesIO(data + self._again.read())


def _head_end(data: bytes) -> int | None:
    """Where a header ends that the bytes begin with.

    Raises:
        _BrokenRecordError: it has too many lines.
    """
    found = _BLANK_LINE.search(data, 0, _MAX_HEAD_BYTES)
    end = None if found is None else found.end()
    if data.count(b"\n", 0, end or _MAX_HEAD_BYTES) > _MAX_HEAD_LINES:
        raise _BrokenRecordError(f"its header is longer than {_MAX_HEAD}")
    return end


def _length(headers: Any) -> int:
    said = headers.get_header("Content-Length") or ""
    if not (said.isascii() and said.isdecimal() and len(said) <= _LENGTH_DIGITS):
        raise _BrokenRecordError(f"expected a Content-Length, found {said[:40]!r}")
    if not headers.get_header("WARC-Type"):
        raise _BrokenRecordError("it has no WARC-Type")
    return int(said)


@cache
def _loader() -> Any:
    loader = load_extra("warcio.recordloader", extra="warc", purpose="WARC")
    return loader.ArcWarcRecordLoader(verify_http=False)


def _warc_headers(head: bytes) -> Any:
    return _loader().http_parser.parse(BytesIO(head))


def _read_record(headers: Any, block: bytes, is_whole: bool, place: str) -> Row | None:
    kind = headers.get_header("WARC-Type")
    if kind not in {"response", "resource", "conversion"}:
        return None
    url = (headers.get_header("WARC-Target-URI") or "").strip("<>")
    http, content = None, block
    if kind == "response" and url.startswith(("http:", "https:")) and block:
        end = _head_end(block)
        if end is None and len(block) > _MAX_HEAD_BYTES:
            raise _BrokenRecordError(f"its HTTP header is longer than {_MAX_HEAD}")
        http, content = (
            _loader().http_parser.parse(BytesIO(block[:end])),
            block[end or len(block) :],
        )
        if http.get_statuscode() != "200":
            return None
    content_type = (http or headers).get_header("Content-Type") or ""
    if content_type.partition(";")[0].strip().lower() not in PAGE_TYPES:
        return None
    if url.lower().startswith("metadata:"):
        return None
    if http is not None:
        is_cut = not is_whole or headers.get_header("WARC-Truncated") is not None
        body = _body(content, http, may_end_early=is_cut)
    else:
        body = content
    page = WebPage(headers.get_header("WARC-Record-ID") or url, url, content_type, body)
    came = Record(kind, headers, http, content, is_whole)
    return WarcRow(place, page, headers.get_header("WARC-Date"), came)


def _body(content: bytes, http: Any, *, may_end_early: bool) -> bytes:
    """The page that a server has sent, without what it was wrapped in for the way.

    Args:
        content: as the server sent it; archives may have unpacked it.
        http: its headers.
        may_end_early: the archive says, or this reader knows, that this is only the beginning.

    Raises:
        _BrokenRecordError: it cannot be unpacked, or is cut off.
    """
    encoding = (http.get_header("Content-Encoding") or "identity").strip().lower()
    is_chunked = (http.get_header("Transfer-Encoding") or "").strip().lower() == "chunked"
    is_cut = False
    if is_chunked and _CHUNK.match(content):
        content, is_whole = _unchunked(content)
        is_cut = not is_whole
    elif encoding == "identity" and not is_chunked:
        is_cut = len(content) < _said_length(http)
    if not (encoding == "identity" or content.lstrip().startswith(b"<") or not content):
        content, is_whole = _unpacked(content, encoding)
        is_cut = is_cut or not is_whole
    if is_cut and not may_end_early:
        raise _BrokenRecordError("its content is cut off")
    return content


def _said_length(http: Any) -> int:
    said = (http.get_header("Content-Length") or "").strip()
    return int(said) if said.isascii() and said.isdecimal() and len(said) <= _LENGTH_DIGITS else 0


def _unchunked(content: bytes) -> tuple[bytes, bool]:
    """What chunks hold, and whether the last one is there."""
    found, at = bytearray(), 0
    while (head := _CHUNK.match(content, at)) is not None:
        size = int(head[1], 16)
        if size == 0:
            return bytes(found), True
        found += content[head.end() : head.end() + size]
        at = head.end() + size
        at += 2 if content[at : at + 2] == b"\r\n" else 1
    return bytes(found), False


def _unpacked(content: bytes, encoding: str) -> tuple[bytes, bool]:
    """The beginning of what was compressed, and whether its end was reached or is beyond a limit.

    Raises:
        _BrokenRecordError: it cannot be decompressed.
    """
    with suppress(ZstdError):
        for bits in _WINDOW_BITS.get(encoding, ()):
            with suppress(zlib.error):
                reader = zlib.decompressobj(bits)
                found = reader.decompress(content, MAX_RECORD_BYTES)
                return found, reader.eof or len(found) == MAX_RECORD_BYTES
        if encoding == "zstd":
            return _unpacked_zstd(content)
    raise _BrokenRecordError(f"its content cannot be decompressed (Content-Encoding: {encoding})")


def _unpacked_zstd(content: bytes) -> tuple[bytes, bool]:
    """As `_unpacked`. A `stream_reader` would take a frame that is cut off for one that ends."""
    reader, found = ZstdDecompressor().decompressobj(), bytearray()
    for start in range(0, len(content), _ZSTD_BYTES):
        found += reader.decompress(content[start : start + _ZSTD_BYTES])
        if reader.eof or len(found) >= MAX_RECORD_BYTES:
            return bytes(found[:MAX_RECORD_BYTES]), True
    return bytes(found), False
