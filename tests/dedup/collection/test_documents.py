"""Collections in three formats: the same documents come out."""

import gzip
import json
from pathlib import Path

import pytest

from dedup.collection import Broken, read_documents

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


def record(kind: str, content_type: str, block: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{kind}:{len(block)}>\r\n"
        "WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.example/\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def http(body: bytes, *headers: str, status: int = 200) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} OK", *headers, "", ""]).encode() + body


HTML = "Content-Type: text/html; charset=gbk"
RESPONSE = "application/http; msgtype=response"
PAGE = "<title>題</title><p>一些內容在這裡。"

# A record, and what is read of it: title and text, or nothing.
RECORDS = {
    "html": (
        record("response", RESPONSE, http(PAGE.encode("gbk"), HTML)),
        ("題", "一些內容在這裡。"),
    ),
    "gzip": (
        record(
            "response",
            RESPONSE,
            http(gzip.compress(PAGE.encode("gbk")), HTML, "Content-Encoding: gzip"),
        ),
        ("題", "一些內容在這裡。"),
    ),
    "text of Common Crawl": (record("conversion", "text/plain", b"Only text."), ("", "Only text.")),
    "resource": (record("resource", "text/html", b"<title>T</title><p>x y"), ("T", "x y")),
    "status": (record("response", RESPONSE, http(b"<p>Not here", HTML, status=404)), None),
    "image": (record("response", RESPONSE, http(b"GIF", "Content-Type: image/gif")), None),
    "revisit": (record("revisit", RESPONSE, http(b"", HTML)), None),
    "request": (
        record("request", "application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n"),
        None,
    ),
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


def test_an_archive_cut_off_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(RECORDS["html"][0])[:-20])
    with pytest.raises(OSError, match=r"x\.warc\.gz: the compressed file is cut off"):
        list(read_documents(path))


@pytest.mark.parametrize(
    ("ending", "says"), [(".warc", "the archive is damaged"), (".parquet", "no Parquet file")]
)
def test_another_format_is_an_error(tmp_path: Path, ending: str, says: str) -> None:
    path = tmp_path / f"x{ending}"
    path.write_text("notes of my own\n" * 10)
    with pytest.raises(OSError, match=says):
        list(read_documents(path))
