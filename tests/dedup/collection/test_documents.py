"""Collections in three formats: the same documents come out."""

import gzip
import json
import zlib
from pathlib import Path

import pytest
import zstandard

from dedup.collection import Broken, read_documents
from tests.warc_records import http_response, warc_record

ROWS = [
    {"id": "a", "url": "http://a.example/", "text": "Some text.", "extra": 1},
    {"id": "b", "url": None, "html": "<title>T</title><main><p>One paragraph.</main>", "extra": 2},
]


def documents(path: Path) -> list[tuple[str, str | None, str, str]]:
    found = [each for each in read_documents(path) if not isinstance(each, Broken)]
    return [(each.id, each.url, each.title, each.text) for _, each in found]


EXPECTED = [("a", "http://a.example/", "", "Some text."), ("b", None, "T", "One paragraph.")]


def test_json_lines_and_parquet_give_the_same(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    lines, table = tmp_path / "x.jsonl", tmp_path / "x.parquet"
    lines.write_text("\n".join(json.dumps(row) for row in ROWS))
    columns = ["id", "url", "text", "html", "extra"]
    parquet.write_table(
        arrow.Table.from_pylist([{name: row.get(name) for name in columns} for row in ROWS]), table
    )
    assert documents(lines) == documents(table) == EXPECTED
    rows = [each[0] for each in read_documents(table) if not isinstance(each, Broken)]
    assert [row["extra"] for row in rows] == [1, 2]  # columns of the caller's own stay


GBK = "Content-Type: text/html; charset=gbk"
PAGE = "<title>題</title><p>一些內容在這裡。".encode("gbk")
READ = ("題", "一些內容在這裡。")


def answered(body: bytes, *headers: str, status: int = 200, kind: str = "response") -> bytes:
    return warc_record(URL, http_response(body, *headers, status=status), kind=kind)


URL = "http://a.example/"
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)

# A record, and what is read of it: title and text, or nothing.
RECORDS = {
    "html": (answered(PAGE, GBK), READ),
    "gzip": (answered(gzip.compress(PAGE), GBK, "Content-Encoding: gzip"), READ),
    "deflate": (answered(zlib.compress(PAGE), GBK, "Content-Encoding: deflate"), READ),
    "raw deflate": (answered(zlib.compress(PAGE)[2:-4], GBK, "Content-Encoding: deflate"), READ),
    "zstd": (answered(zstandard.compress(PAGE), GBK, "Content-Encoding: zstd"), READ),
    "unpacked already": (answered(PAGE, GBK, "Content-Encoding: br"), READ),
    "chunked": (answered(CHUNKED, GBK, "Transfer-Encoding: chunked"), READ),
    "text of Common Crawl": (
        warc_record(URL, b"Only text.", "text/plain", kind="conversion"),
        ("", "Only text."),
    ),
    "resource": (
        warc_record(URL, b"<title>T</title><p>x y", "text/html", kind="resource"),
        ("T", "x y"),
    ),
    "status": (answered(b"<p>Not here", GBK, status=404), None),
    "image": (answered(b"GIF", "Content-Type: image/gif"), None),
    "revisit": (answered(b"", GBK, kind="revisit"), None),
    "request": (answered(b"", kind="request"), None),
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("ending", [".warc", ".warc.gz"])
def test_warc_records_that_are_pages_are_read(tmp_path: Path, name: str, ending: str) -> None:
    pytest.importorskip("warcio", reason="warcio is not installed")
    content, wanted = RECORDS[name]
    path = tmp_path / f"x{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    found = [(title, text) for _, _, title, text in documents(path)]
    assert found == ([] if wanted is None else [wanted])


@pytest.mark.parametrize(
    ("ending", "says"), [(".warc", "expected an archive"), (".parquet", "not a Parquet file")]
)
def test_another_format_is_an_error(tmp_path: Path, ending: str, says: str) -> None:
    path = tmp_path / f"x{ending}"
    path.write_text("notes of my own\n" * 10)
    with pytest.raises((OSError, ValueError), match=says):
        list(read_documents(path))
