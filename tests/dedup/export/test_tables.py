"""Tables of pages and duplicates: the same rows in every format."""

import csv
import gzip
import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dedup.export import DUPLICATES, duplicate_rows, page_columns, page_rows, write_table
from dedup.store import Page, SqliteStore
from dedup.store.export_columns import EXPORTED_FIELDS
from dedup.terminal.plain import guarded


@pytest.fixture
def store(job: Path):
    store = SqliteStore(job / "crawl.sqlite", read_only=True)
    yield store
    store.close()


PAGES = page_columns()


def as_text(value: Any) -> str:
    return "" if value is None else str(value)


def test_csv_has_the_rows_of_json_lines(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    write_table(path, duplicate_rows(store), DUPLICATES)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert rows == [
        {name: as_text(row[name]) for name in DUPLICATES} for row in duplicate_rows(store)
    ]


def test_parquet_is_read_by_duckdb_with_equal_counts_and_values(
    store: SqliteStore, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for name, rows, columns in (
        ("pages", page_rows, PAGES),
        ("duplicates", duplicate_rows, DUPLICATES),
    ):
        path = tmp_path / f"{name}.parquet"
        write_table(path, rows(store), columns)
        times = [key for key, kind in columns.items() if kind == "timestamp"]
        as_utc = ", ".join(f"{key} AT TIME ZONE 'UTC' AS {key}" for key in times)
        found = duckdb.execute(f"SELECT * REPLACE ({as_utc}) FROM '{path}'").fetchall()
        ids = {"id", "duplicate_of"}
        assert found == [
            tuple(
                str(row[key])
                if key in ids
                else datetime.fromisoformat(row[key]).replace(tzinfo=None)
                if kind == "timestamp" and row[key]
                else row[key]
                for key, kind in columns.items()
            )
            for row in rows(store)
        ]


def test_columns_are_the_same_in_every_format(job: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    known = {"depth": 3, "etag": '"v1"', "last_modified": "Sat, 21 Nov 2026 10:00:00 GMT"}
    with SqliteStore(job / "crawl.sqlite") as store:
        store._write_page(99, Page(id="", text="A version.", **known), {})
        for ending in ("jsonl", "csv", "parquet"):
            write_table(tmp_path / f"p.{ending}", page_rows(store), PAGES)
    lines = (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()
    first = [json.loads(line) for line in lines]
    with (tmp_path / "p.csv").open(encoding="utf-8", newline="") as file:
        second = list(csv.DictReader(file))
    third = parquet.read_table(tmp_path / "p.parquet").to_pylist()
    assert list(first[0]) == list(second[0]) == list(third[0]) == list(EXPORTED_FIELDS)
    assert first[-1].items() >= known.items()
    assert second[-1].items() >= {**known, "depth": "3"}.items()
    assert third[-1].items() >= known.items()


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "csv"])
def test_compression_goes_by_the_ending(store: SqliteStore, tmp_path: Path, ending: str) -> None:
    plain, gzipped, packed = (tmp_path / f"p.{ending}{end}" for end in ("", ".gz", ".zst"))
    for path in (plain, gzipped, packed):
        write_table(path, page_rows(store), PAGES)
    assert gzip.decompress(gzipped.read_bytes()) == plain.read_bytes()
    with zstandard.open(packed, "rb") as file:
        assert file.read() == plain.read_bytes()


# What is written to a cell, and what has to stand there.
CELLS = {
    "=1+1": "'=1+1",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "  =1": "'  =1",  # spreadsheets pass over blanks
    "\t=1": "'\t=1",
    "\r=1": "'\r=1",
    "\uff1d1": "'\uff1d1",  # full width, as in East Asian input
    "1=1": "1=1",
    "http://example.com/?a=-1": "http://example.com/?a=-1",
    'a "quoted", cell\nin two lines': 'a "quoted", cell\nin two lines',
    "": "",
}


@pytest.mark.parametrize("text", CELLS)
def test_no_cell_of_a_csv_is_a_formula(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    write_table(path, [{"text": text, "number": -0.5}], {"text": "string", "number": "float64"})
    with path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1] == [CELLS[text], "-0.5"]


def test_rows_are_written_as_they_come_and_an_error_leaves_no_file(tmp_path: Path) -> None:
    def rows():
        yield {"text": "one"}
        raise OSError("the disk is full")

    for ending in ("jsonl", "csv", "parquet"):
        path = tmp_path / f"x.{ending}"
        path.write_text("before")
        with pytest.raises(OSError, match="the disk is full"):
            write_table(path, rows(), {"text": "string"})
        assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [
            (path.name, "before")
        ]
        path.unlink()


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'scrapy-dedup\[parquet\]'"):
        write_table(tmp_path / "x.parquet", [], PAGES)


def test_json_lines_keep_what_is_not_ascii(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write_table(path, page_rows(store), PAGES)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows == list(page_rows(store))
    assert "其他的內容" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("sign", "=+-@＝")
@pytest.mark.parametrize("before", ["\ufeff", "\u200b", "\xa0", "\u3000", " \u2060\u202e", "\x0b"])
def test_formulas_after_invisible_characters_are_escaped(before, sign):
    value = f"{before}{sign}1+1"
    assert guarded(value) == f"'{value}"
    assert guarded(f"{before}1+1") == f"{before}1+1"


def test_control_characters_in_csv_do_not_reach_a_terminal(tmp_path):
    path = tmp_path / "p.csv"
    write_table(path, [{"title": "a\x1b]0;b\x07\x9b\x7f\0\tc\nd\u202e"}], ["title"])
    assert path.read_bytes().decode() == 'title\r\n"a�]0;b����\tc\nd\u202e"\r\n'
