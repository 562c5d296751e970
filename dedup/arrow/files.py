"""Rows of files that one task reads from beginning to end, such as CSV and web archives."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs

from dedup.arrow.rows import READ, columns_read, read_without_text
from dedup.collection.columns import Columns, Fields, NoTextError, fields_of
from dedup.collection.documents import fields_of_page, object_of
from dedup.collection.formats import format_of
from dedup.collection.reading import read_rows
from dedup.collection.rows import Broken, Row, WebPage, json_line
from dedup.collection.rules import Rules
from dedup.collection.sources import Source
from dedup.document import Document

OPENED = pa.schema(
    [("input", pa.int32()), ("file", pa.string()), ("index", pa.int64()), *list(READ)[1:]]
)
"""What is `READ`, and in place of the place in the collection that in the file, from 0."""

_BYTES = 16 * 2**20

_NOTHING = Document("", "")

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""As Spark calls file systems, and as Arrow does."""


def opened(
    batches: Iterator[pa.RecordBatch], columns: Columns, rules: Rules
) -> Iterator[pa.RecordBatch]:
    """Read files.

    Args:
        batches: `input` and `file`, a URI or a path.
        columns: those that count.
        rules: say which other columns are asked for.

    Raises:
        OSError: a file cannot be read, or is damaged.
        ValueError: a table lacks columns.
    """
    for batch in batches:
        for file in batch.to_pylist():
            rows: list[dict[str, object]] = []
            size = 0
            with _on_this_machine(file["file"]) as path:
                source = Source(path, file["file"], format_of(path), path.stat().st_size)
                for index, row in enumerate(read_rows(source, columns)):
                    found = _read(row, columns, rules)
                    rows.append({**file, "index": index, **found})
                    size += sum(len(each) for each in found.values() if isinstance(each, str))
                    if size >= _BYTES:
                        yield pa.RecordBatch.from_pylist(rows, OPENED)
                        rows, size = [], 0
            yield pa.RecordBatch.from_pylist(rows, OPENED)


@contextmanager
def _on_this_machine(file: str) -> Iterator[Path]:
    """Give the path of a file, or of a copy of it that is there for a while.

    Raises:
        OSError: Arrow does not know the file system, or cannot read the file.
    """
    scheme, colon, rest = file.partition(":")
    if not colon or "/" in scheme:
        yield Path(file)
    elif scheme == "file":
        yield Path("/" + rest.lstrip("/"))
    else:
        with TemporaryDirectory(prefix="dedup-") as folder:
            copy = Path(folder) / file.rpartition("/")[2]
            uri = f"{_SCHEMES.get(scheme, scheme)}:{quote(rest, safe='/:@%')}"
            try:
                system, place = pyarrow.fs.FileSystem.from_uri(uri)
                with (
                    system.open_input_stream(place, compression=None) as whole,
                    copy.open("wb") as target,
                ):
                    shutil.copyfileobj(whole, target, 1 << 20)
            except pa.ArrowInvalid as error:
                raise OSError(f"{file}: {error}") from error
            yield copy


def _read(row: Row | Broken, columns: Columns, rules: Rules) -> dict[str, object]:
    if isinstance(row, Broken):
        return {"reason": row.reason}
    given = row.given()
    try:
        if isinstance(given, WebPage):
            return _page(row, given, rules)
        line = _line(row, given)
        fields = fields_of(object_of(given), columns)
        if _is_not_utf8(fields):
            raise ValueError("it is not UTF-8")
    except NoTextError as error:
        return {"value": line, **read_without_text(error, rules)}
    except (ValueError, RecursionError) as error:
        return {"reason": str(error)}
    return {"value": line, **columns_read(fields, rules)}


def _line(row: Row, given: object) -> str:
    """The row as a line.

    Raises:
        ValueError: it is not UTF-8.
    """
    line = given if isinstance(given, bytes) else json_line(row.values(_NOTHING))
    try:
        return line.rstrip().decode()
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8") from error


def _is_not_utf8(fields: Fields) -> bool:
    """Are there bytes that Arrow's text cannot hold? With replaced ones, rows would be equal."""
    texts = (fields.text, fields.html, fields.url, fields.title)
    return any("\udc80" <= each <= "\udcff" for text in texts if text for each in set(text))


def _page(row: Row, page: WebPage, rules: Rules) -> dict[str, object]:
    fields = fields_of_page(page)._replace(others=(None,) * len(rules.others))
    text = fields.text
    line = json_line(row.values(_NOTHING if text is None else Document(page.id, text)))
    body = hashlib.sha256(page.body).digest() if page.body else None
    return {"value": line.decode().rstrip("\n"), "body": body, **columns_read(fields, rules)}
