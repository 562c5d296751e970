"""A job as a web archive with its index and its texts: WACZ 1.1.1.

A ZIP file: the WARC file, an index of its records (CDXJ in compressed blocks, and the first line of
each block), a list of the pages with titles and texts, and digests of all of these. Viewers read
single pages of it, from a server too, without reading the rest.

Near duplicates have records, but no lines in the index: viewers would show the original under the
URL of a page that says something else.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from dedup.collection.writing.warc import WarcFile, target_uri
from dedup.export.warc import ABOUT, IDENTICAL_PROFILE, write_records
from dedup.files import replacing
from dedup.pieces.runs import SortedRows
from dedup.store import JobStore
from dedup.store.selection import EVERYTHING, Selection
from dedup.times import iso_time

_ARCHIVE = "data.warc.gz"
_INDEX = "index.cdx.gz"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_PORT = re.compile(r"(.*)(:[0-9]+)")
_BLOCK_LINES = 300
"""As other writers have: viewers read whole blocks."""


def write_wacz(
    path: Path,
    store: JobStore,
    selection: Selection = EVERYTHING,
    *,
    tables: Sequence[str] = ("pages", "duplicates"),
) -> Iterator[None]:
    """Write the records of the `tables` one by one, with a yield after each.

    The file exists only once the iterator is exhausted.

    Raises:
        ModuleNotFoundError: warcio is not installed.
        OSError: the file cannot be written.
    """
    with (
        TemporaryDirectory(prefix="dedup-") as folder,
        closing(SortedRows(Path(folder))) as lines,
        replacing(path) as part,
        ZipFile(part, "w") as archive,
    ):
        package = _Package(archive)
        with package.adding(f"archive/{_ARCHIVE}", ZIP_STORED) as file:
            yield from write_records(_IndexedWarc(file, lines), store, selection, tables)
        with package.adding(f"indexes/{_INDEX}", ZIP_STORED) as file:
            starts = list(_write_blocks(file, lines))
        with package.adding("indexes/index.idx") as file:
            file.writelines(starts)
        with package.adding("pages/pages.jsonl") as file:
            file.writelines(_page_lines(store, selection))
        package.finish()


class _Package:
    """The ZIP file, and what is told of its members."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._resources: list[dict[str, Any]] = []
        self._time = int(time.time())
        self._now = time.gmtime(self._time)

    @contextmanager
    def adding(self, path: str, compression: int = ZIP_DEFLATED) -> Iterator[_Digested]:
        """Give a file to write a member to."""
        about = ZipInfo(path, self._now[:6])
        about.compress_type = compression
        about.external_attr = 0o644 << 16
        # The time. Where the directory has no such field, replayweb.page takes it that the member
        # has none either, such as that of the size, which is written where it may be large.
        about.extra = struct.pack("<HHBI", 0x5455, 5, 1, self._time)
        with self._archive.open(about, "w", force_zip64=True) as member:
            file = _Digested(member)
            yield file
        name = path.rpartition("/")[2]
        told = {"name": name, "path": path, "hash": file.digest, "bytes": file.tell()}
        self._resources.append(told)

    def finish(self) -> None:
        """Write the list of members, and its digest."""
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "software": "scrapy-dedup",
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", self._now),
            "resources": self._resources.copy(),
        }
        with self.adding("datapackage.json") as file:
            file.write(_json(package))
        path, digest = (self._resources[-1][name] for name in ("path", "hash"))
        with self.adding("datapackage-digest.json") as file:
            file.write(_json({"path": path, "hash": digest}))


class _Digested(io.RawIOBase):
    """A file that is written from its beginning to its end, and its digest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._size = 0

    def write(self, data: Any) -> int:
        self._sha256.update(data)
        self._size += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._size

    @property
    def digest(self) -> str:
        return f"sha256:{self._sha256.hexdigest()}"


class _IndexedWarc(WarcFile):
    """A web archive of which the lines of the index are collected."""

    def __init__(self, file: _Digested, lines: SortedRows) -> None:
        self._lines = lines
        super().__init__(file, _ARCHIVE, **ABOUT)

    def add(self, record: Any) -> None:
        start = self.file.tell()
        super().add(record)
        about = record.rec_headers
        is_copy = about.get_header("WARC-Profile") == IDENTICAL_PROFILE
        if record.rec_type in ("response", "resource") or is_copy:
            url = about.get_header("WARC-Target-URI")
            found = {**_told(record), "length": str(self.file.tell() - start)}
            found |= {"offset": str(start), "filename": _ARCHIVE}
            seconds = "".join(filter(str.isdigit, about.get_header("WARC-Date")))[:14]
            line = json.dumps({"url": url, **found}, ensure_ascii=False)
            self._lines.add((f"{url_key(url)} {seconds}", start, line))


def url_key(url: str) -> str:
    """What the index is sorted by: as viewers make it of the URL that they look for.

    >>> url_key("https://www.Example.org/A/?b=2&a=1"), url_key("http://[::1]:8000/")
    ('org,example)/a/?a=1&b=2', '[::1]:8000)/')
    """
    scheme, separator, rest = url.lower().partition("://")
    if not separator or scheme not in _DEFAULT_PORTS:
        return url
    address, query = rest.partition("#")[0].partition("?")[::2]
    authority, _, path = address.partition("/")
    host = re.sub(r"^www\d*\.", "", authority.rpartition("@")[2])
    host = host.removesuffix(_DEFAULT_PORTS[scheme])
    found = _PORT.fullmatch(host)
    name, port = found.groups() if found else (host, "")
    arguments = f"?{'&'.join(sorted(query.split('&')))}" if query else ""
    return f"{','.join(reversed(name.split('.')))}{port})/{path}{arguments}"


def _told(record: Any) -> dict[str, str]:
    """Type, status and digest of a record."""
    about, http = record.rec_headers, record.http_headers
    told = {"mime": "warc/revisit", "status": None}
    if record.rec_type != "revisit":
        kind = (http or about).get_header("Content-Type") or ""
        told["mime"] = kind.partition(";")[0].strip()
        told["status"] = http and http.get_statuscode()
    told["digest"] = about.get_header("WARC-Payload-Digest")
    return {name: value for name, value in told.items() if value}


def _write_blocks(file: _Digested, lines: Iterable[tuple[str, int, str]]) -> Iterator[bytes]:
    """Write compressed blocks of the sorted lines; return the lines of the index of blocks."""
    yield b"!meta 0 " + _json({"format": "cdxj-gzip-1.0", "filename": _INDEX})
    left = iter(lines)
    while block := list(islice(left, _BLOCK_LINES)):
        text = "".join(f"{key} {told}\n" for key, _, told in block)
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        data = packer.compress(text.encode("utf-8", "replace")) + packer.flush()
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        told = {"offset": file.tell(), "length": len(data), "digest": digest, "filename": _INDEX}
        file.write(data)
        yield f"{block[0][0]} ".encode("utf-8", "replace") + _json(told)


def _page_lines(store: JobStore, selection: Selection) -> Iterator[bytes]:
    about = {"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": True}
    yield _json(about)
    for row in store.exports.pages(selection):
        if row["url"]:
            page = {"id": str(row["id"]), "url": target_uri(row["url"], row["id"])}
            page |= {"ts": iso_time(row["fetched_at"]), "title": row["title"], "text": row["text"]}
            yield _json(page)


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "replace")
