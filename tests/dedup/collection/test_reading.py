"""Rows of text files: arrays of JSON, tables with open quotes, and other encodings."""

import bz2
import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.collection import Broken, Columns, Source, json_rows, read_rows, reading
from dedup.collection.documents import object_of
from dedup.collection.formats import format_of
from dedup.collection.rows import JsonRow, TableRow
from dedup.collection.sites import with_markup

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=6)


def rows_of(path: Path, content: bytes, columns: Columns | None = None) -> list[Any]:
    """The rows, those of JSON as objects, and what is broken."""
    path.write_bytes(content)
    found = list(read_rows(Source(path, path.name, format_of(path), 0), columns or Columns()))
    return [object_of(row.line) if isinstance(row, JsonRow) else row for row in found]


@given(rows=ROWS, indent=st.sampled_from([None, 0, 2, "\t"]), at_once=st.integers(1, 40))
def test_an_array_has_the_rows_that_json_reads(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], indent: Any, at_once: int
) -> None:
    """However it is indented, and wherever the parts end that are read."""
    path = tmp_path_factory.getbasetemp() / "array.json"
    content = json.dumps(rows, indent=indent, ensure_ascii=False).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rows, "_AT_ONCE", at_once)
        assert rows_of(path, content) == rows


@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=6),
    at_once=st.integers(1, 20),
    ends=st.booleans(),
)
def test_lines_are_those_of_the_file_wherever_the_parts_end_that_are_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], at_once: int, ends: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    content = b"{}\n" + b"\n".join(lines) + b"\n" * ends
    path.write_bytes(content)
    expected = [
        (f"line {number}", None if len(line) > 8 else line)
        for number, line in enumerate(content.split(b"\n"), start=1)
        if len(line) > 8 or line.strip()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_rows, "_AT_ONCE", at_once)
        patch.setattr(json_rows, "MAX_ROW_BYTES", 8)
        rows = list(read_rows(Source(path, "lines.jsonl", "jsonl", 0), Columns()))
    assert [(row.place, row.line if isinstance(row, JsonRow) else None) for row in rows] == expected


@pytest.mark.parametrize("block", [7, 11, 64])
def test_markup_is_looked_for_wherever_the_parts_end_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", block)
    for name, has_markup in (("markup", True), ("text", False)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"id": "x" * 20, name: "<p>"}) + "\n", encoding="utf-8")
        source = Source(path, name, "jsonl", 0)
        assert with_markup([source], Columns(html="markup")) == [source] * has_markup


def test_an_item_is_a_line_with_its_values_as_they_came(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[\r\n  {\r\n\t"n": 1.10,\n  "text": "a  b" }, {"n":2e0}]\n\n')
    found = list(read_rows(Source(path, "x", "jsonl", 0), Columns()))
    assert [(row.place, row.line) for row in found if isinstance(row, JsonRow)] == [
        ("item 1, line 2", b'{ "n": 1.10, "text": "a  b" }'),
        ("item 2, line 4", b'{"n":2e0}'),
    ]


# An array, how many rows are read, and what is said of the last one.
BROKEN = {
    "cut in an item": (b'[{"a": 1}, {"a": "x', 1, "item 2, line 1", "the array is cut off"),
    "cut between items": (b'[{"a": 1},\n', 1, "item 1, line 2", "the array is cut off"),
    "a text with a line break": (b'[{"a": "x\ny"}]', 0, "item 1, line 1", "line break"),
    "more behind it": (b'[{"a": 1}]\n{"a": 2}', 1, "item 1, line 2", "the array ends before it"),
    "a bracket too many": (b'[{"a": 1}}, {"a": 2}]', 1, "item 2, line 1", "invalid JSON"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_in_an_array_is_a_broken_row(tmp_path: Path, name: str) -> None:
    content, count, place, why = BROKEN[name]
    *rows, last = rows_of(tmp_path / "x.json", content)
    assert rows == [{"a": 1}] * count
    assert isinstance(last, Broken)
    assert last.place == place
    assert why in last.reason


def test_items_that_are_no_objects_are_read_as_lines_are(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[{}, 5, "x, y", [1, {"a": "]"}], null ]')
    found = list(read_rows(Source(path, "x", "jsonl", 0), Columns()))
    lines = [row.line for row in found if isinstance(row, JsonRow)]
    assert lines == [b"{}", b"5", b'"x, y"', b'[1, {"a": "]"}]', b"null"]


def test_an_array_takes_memory_for_one_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.write(b"[")
        for _ in range(2_000):
            file.write(b'{"text": "' + b"a" * 10_000 + b'"},\n')
        file.write(b"{}]")
    source = Source(path, "x", "jsonl", 0)
    tracemalloc.start()
    assert sum(1 for _ in read_rows(source, Columns())) == 2_001
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    monkeypatch.setattr(json_rows, "MAX_ROW_BYTES", 2**16)
    path.write_bytes(b'[{"text": "' + b"a" * 2**21 + b'"}, {}]')
    (only,) = read_rows(source, Columns())
    assert isinstance(only, Broken)
    assert "the rest of the array is not read" in only.reason


TABLES = st.lists(st.lists(st.text(max_size=6), min_size=2, max_size=2), min_size=1, max_size=8)


@given(table=TABLES, ending=st.sampled_from(["csv", "tsv"]))
def test_a_table_has_the_rows_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]], ending: str
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter="\t" if ending == "tsv" else ",", quoting=csv.QUOTE_ALL)
    writer.writerows([["id", "text"], *table])
    path = tmp_path_factory.getbasetemp() / f"table.{ending}"
    content = file.getvalue().encode("utf-8", "replace")
    found = rows_of(path, content)
    expected = [[cell.encode("utf-8", "replace").decode() for cell in row] for row in table]
    assert [list(row.columns.values()) for row in found] == expected


@given(cells=st.lists(st.sampled_from(["x", "a b", '""', "y"]), max_size=20), at=st.integers(0, 20))
def test_an_open_quote_costs_one_line_wherever_it_is(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str], at: int
) -> None:
    lines = [f"{number},{cell}" for number, cell in enumerate(cells)]
    at = min(at, len(lines))
    path = tmp_path_factory.getbasetemp() / "open.csv"
    content = "\n".join(["id,text", *lines[:at], '9,"open', *lines[at:]]).encode()
    found = rows_of(path, content)
    assert [row.place for row in found] == [f"line {n + 2}" for n in range(len(lines) + 1)]
    assert [n for n, row in enumerate(found) if isinstance(row, Broken)] == [at]
    sound = [row for row in found if isinstance(row, TableRow)]
    assert [int(row.columns["id"]) for row in sound] == list(range(len(lines)))


def test_a_row_of_many_lines_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedup.collection.delimited.MAX_ROW_BYTES", 1_000)
    content = b'id,text\n1,"open\n' + b"2,two\n" * 1_000
    first, *others = rows_of(tmp_path / "x.csv", content)
    assert first.reason == "the quote opened in line 2 is not closed within 0 MiB"
    assert [row.columns["text"] for row in others] == ["two"] * 1_000


@pytest.mark.parametrize("ending", ["jsonl", "csv", "json"])
@pytest.mark.parametrize("encoding", ["gb18030", "latin-1", "utf-16", "shift_jis"])
def test_another_encoding_is_read_if_it_is_named(
    tmp_path: Path, ending: str, encoding: str
) -> None:
    text = "März" if encoding == "latin-1" else "表示，中文"
    content = {
        "jsonl": f'{{"text": "{text}"}}\n',
        "csv": f"text\r\n{text}\r\n",
        "json": f'[{{"text":\n "{text}"}}]',
    }[ending].encode(encoding)
    columns = Columns(encoding=encoding)
    for name, stored in ((f"x.{ending}", content), (f"x.{ending}.bz2", bz2.compress(content))):
        (row,) = rows_of(tmp_path / name, stored, columns)
        assert dict(getattr(row, "columns", row)) == {"text": text}


def test_bytes_not_in_the_encoding_stay_different(tmp_path: Path) -> None:
    content = b'{"text": "a\xff"}\n{"text": "a\x80"}\n'
    first, second = rows_of(tmp_path / "x.jsonl", content, Columns(encoding="gb18030"))
    assert first != second
    with pytest.raises(OSError, match=r"x\.jsonl: not utf-16"):
        rows_of(tmp_path / "x.jsonl", b"\xff\xfea", Columns(encoding="utf-16"))
