"""Reading a collection that exists already: JSON Lines, Parquet or WARC, as a stream of rows."""

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dedup.extras import load_extra
from dedup.files import open_binary, open_text
from dedup.html import decode

Row = Mapping[str, Any]

_PARQUET_ROWS = 256
_WARC_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".wet", ".wet.gz")
_MAX_RECORD_BYTES = 16 * 2**20
"""Of a longer record only the beginning is read, as of a longer page in a crawl."""


class Broken(NamedTuple):
    """A row that is no document, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Item:
    """A document as it stands in a collection.

    Attributes:
        row: what a caller writes of the documents that it keeps.
        id: as given, or else the URL, or else the place in the file.
        url: None: the document has none.
        title: as given; "" if none is.
        text: None: it is to be taken out of `html`.
        html: the markup; None: `text` is given.
        body: the bytes of a page as they came.
    """

    row: Row
    id: str
    url: str | None
    title: str
    text: str | None
    html: str | None
    body: bytes | None = None


def read_items(path: Path) -> Iterator[Item | Broken]:
    """Read documents one after the other; the format by the ending, and JSON Lines for any other.

    JSON Lines and Parquet: `id` or `url`, `text` or `html`, and `title`; other columns stay in the
    row. Text files may be compressed by gzip, zstd or xz. WARC: `response` records of status 200
    with HTML or plain text, `resource` and `conversion` records of these types (Common Crawl's WET
    files); all others are passed over, `revisit` records among them: their content is elsewhere.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ModuleNotFoundError: pyarrow (for Parquet) or warcio (for WARC) is not installed.
    """
    name = path.name.lower()
    if name.endswith(".parquet"):
        return _read_parquet(path)
    if name.endswith(_WARC_ENDINGS):
        return _read_warc(path)
    return _read_json_lines(path)


def _read_json_lines(path: Path) -> Iterator[Item | Broken]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _read(f"line {number}", number, line)


def _read_parquet(path: Path) -> Iterator[Item | Broken]:
    parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
    try:
        number = 0
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield _read(f"row {number}", number, row)
    except load_extra("pyarrow", extra="parquet", purpose="Parquet").ArrowInvalid as error:
        raise OSError(f"{path}: the file is damaged, or no Parquet file ({error})") from error


def _read(place: str, number: int, given: Any) -> Item | Broken:
    try:
        row = json.loads(given) if isinstance(given, str) else given
        return _item(row, number)
    except (ValueError, RecursionError) as error:
        return Broken(place, str(error))


def _item(row: Any, number: int) -> Item:
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object, found {type(row).__name__}")
    url, text, html = row.get("url"), row.get("text"), row.get("html")
    if not isinstance(text, str):
        text = None
        if not isinstance(html, str):
            raise ValueError("expected a field `text` or `html` that is a string")
    name = row.get("id", url)
    return Item(
        row=row,
        id=str(number if name is None else name),
        url=url if isinstance(url, str) else None,
        title=str(row.get("title") or ""),
        text=text,
        html=html if text is None else None,
    )


def _read_warc(path: Path) -> Iterator[Item | Broken]:
    archive = load_extra("warcio.archiveiterator", extra="warc", purpose="WARC")
    failures = load_extra("warcio.exceptions", extra="warc", purpose="WARC").ArchiveLoadFailed
    with open_binary(
        path
    ) as file:  # decompressed here: warcio takes a file cut off for a whole one
        for record in _records(archive.ArchiveIterator(file), path, failures):
            if (found := _read_record(record)) is not None:
                yield found


def _records(records: Iterator[Any], path: Path, failures: type[Exception]) -> Iterator[Any]:
    """The records; of a damaged archive, those before the damage."""
    while True:
        try:
            record = next(records)
        except StopIteration:
            return
        # A header that is missing or no number: warcio looks no further.
        except (failures, ArithmeticError, AttributeError, LookupError, ValueError) as error:
            raise OSError(f"{path}: the archive is damaged ({error})") from error
        yield record


def _read_record(record: Any) -> Item | Broken | None:
    headers, http = record.rec_headers, record.http_headers
    if record.rec_type not in {"response", "resource", "conversion"}:
        return None
    if http is not None and http.get_statuscode() != "200":
        return None
    content_type = (http or headers).get_header("Content-Type") or ""
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in {"text/html", "application/xhtml+xml", "text/plain"}:
        return None
    name, url = headers.get_header("WARC-Record-ID"), headers.get_header("WARC-Target-URI") or ""
    try:
        body = record.content_stream().read(_MAX_RECORD_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        return Broken(url, f"the content cannot be decompressed ({error})")
    text = decode(body, content_type).text
    is_plain = kind == "text/plain"
    row = {"id": name, "url": url, "fetched_at": headers.get_header("WARC-Date")}
    return Item(
        row=row,
        id=name or url,
        url=url,
        title="",
        text=text if is_plain else None,
        html=None if is_plain else text,
        body=body,
    )
