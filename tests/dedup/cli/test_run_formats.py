"""`dedup run`: several files, globs, folders, pipes; JSON Lines, CSV, Parquet, WARC, in and out."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dedup.cli import main
from tests.warc_records import HTML, http_response, warc_record

ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "One text.", "stars": 3, "tags": ["a", "b"]},
    {"id": 2, "text": "ONE  text.", "stars": 5, "tags": []},
    {"id": 3, "text": "Another, with “marks”,\nand lines.", "stars": None, "tags": None},
]
KEPT = [ROWS[0], ROWS[2]]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if ".csv" in path.name:
        return list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    if path.suffix == ".parquet":
        from pyarrow import parquet

        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    return [json.loads(line) for line in data.decode().splitlines()]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet", "ndjson"])
def test_columns_values_and_order_are_kept(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / f"out.{ending}"
    source.write_bytes(lines(ROWS))
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert read(out) == KEPT


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
def test_csv_keeps_each_cell(tmp_path: Path, ending: str) -> None:
    source, out = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    rows = [{"id": "007", "text": "=1+1", "x": "-5"}, {"id": "8", "text": 'a "q", b\nc', "x": ""}]
    source.write_bytes(as_csv(rows))
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert read(out) == rows
    if ending == "csv":
        assert out.read_bytes() == source.read_bytes()


def test_json_lines_become_csv_with_all_columns(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    source.write_bytes(lines([*ROWS, {"id": 4, "text": "x", "late": "column"}]))
    assert main(["run", str(source), "-o", str(out)]) == 0
    found = read(out)
    assert list(found[0]) == ["id", "text", "stars", "tags", "late"]
    assert found[0] == {
        "id": "1",
        "text": "One text.",
        "stars": "3",
        "tags": '["a", "b"]',
        "late": "",
    }
    assert found[2]["late"] == "column"


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2, 3], pyarrow.int32()),
            "text": pyarrow.array(["One text.", "ONE text.", "Another."], pyarrow.large_string()),
            "day": pyarrow.array([1, 2, 3], pyarrow.timestamp("ns", "UTC")),
            "point": [{"x": 1, "y": None}, {"x": 2, "y": 0.5}, None],
        }
    )
    source, out, dropped = (tmp_path / f"{name}.parquet" for name in ("in", "out", "dropped"))
    parquet.write_table(table, source)
    assert main(["run", str(source), "-o", str(out), "-d", str(dropped)]) == 0
    assert parquet.read_table(out).equals(table.take([0, 2]))
    assert parquet.read_table(out).schema.equals(table.schema)
    assert parquet.read_table(dropped).select(["id", "duplicate_of", "stage"]).to_pylist() == [
        {"id": 2, "duplicate_of": 1, "stage": "text"}
    ]
    assert main(["run", str(source), "-o", str(tmp_path / "out.jsonl")]) == 0
    assert read(tmp_path / "out.jsonl")[0]["point"] == {"x": 1, "y": None}


def test_columns_of_several_types_become_text_in_parquet(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    mixed = [{"id": 1, "text": "a", "x": 1}, {"id": "b", "text": "b", "x": [1]}]
    source.write_bytes(lines(mixed))
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert read(out) == [{"id": "1", "text": "a", "x": "1"}, {"id": "b", "text": "b", "x": "[1]"}]


def test_lines_are_kept_byte_for_byte(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    odd = (
        b'{ "text":"\\ud800 caf\\u00e9", "n": 1.00000000000000000001, "id":12345678901234567890 }\n'
    )
    source.write_bytes(b"\xef\xbb\xbf" + odd)
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert out.read_bytes() == odd


def test_byte_order_mark_alone_gives_no_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\xef\xbb\xbf")
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert out.read_bytes() == b""
    assert "broken" not in capsys.readouterr().err


def test_parquet_with_invalid_column_names_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow
    from pyarrow import parquet

    source = tmp_path / "in.parquet"
    parquet.write_table(pyarrow.table({"text": ["a"], "name": ["b"]}), source, store_schema=False)
    source.write_bytes(source.read_bytes().replace(b"name", b"na\x9be"))
    assert main(["run", str(source), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "in.parquet: the file is damaged or not a Parquet file" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["day", "id"])
def test_invalid_time_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str
) -> None:
    import pyarrow
    from pyarrow import parquet

    source = tmp_path / "in.parquet"
    times = pyarrow.array([2**62], pyarrow.timestamp("us"))
    parquet.write_table(pyarrow.table({"text": ["a"], column: times}), source)
    assert main(["run", str(source), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "date value out of range)" in capsys.readouterr().err


def test_several_files_globs_and_folders_are_one_collection(tmp_path: Path) -> None:
    folder = tmp_path / "folder" / "deep"
    folder.mkdir(parents=True)
    (folder / "b.jsonl").write_bytes(lines([{"id": "b", "text": "two"}]))
    (folder.parent / "a.csv").write_bytes(as_csv([{"id": "a", "text": "one"}]))
    (folder.parent / "notes.txt").write_text("none of them")
    (tmp_path / "x1.jsonl").write_bytes(lines([{"id": "x1", "text": "ONE"}]))
    (tmp_path / "x2.jsonl").write_bytes(lines([{"id": "x2", "text": "three"}]))
    out = tmp_path / "out.jsonl"
    assert main(["run", str(folder.parent), str(tmp_path / "x*.jsonl"), "-o", str(out)]) == 0
    assert [row["id"] for row in read(out)] == ["a", "b", "x2"]


def piped(data: bytes, *arguments: str) -> bytes:
    command = [sys.executable, "-c", "import sys; from dedup.cli import main; sys.exit(main())"]
    done = subprocess.run([*command, "run", *arguments], input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def parquet_bytes() -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), file)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [lines(ROWS), gzip.compress(lines(ROWS)), zstandard.compress(lines(ROWS)), parquet_bytes()],
    ids=["plain", "gzip", "zstd", "parquet"],
)
def test_standard_input_and_output(data: bytes) -> None:
    assert [json.loads(line) for line in piped(data, "-", "-o", "-").splitlines()] == KEPT


def test_csv_in_a_pipe_stays_csv() -> None:
    rows = [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]
    assert piped(as_csv(rows), "-", "-o", "-") == as_csv(rows)


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    path, out = tmp_path / "pipe", tmp_path / "out.jsonl"
    os.mkfifo(path)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())",
            path,
        ],
        stdin=subprocess.PIPE,
    ) as writer:
        assert writer.stdin is not None
        writer.stdin.write(lines(ROWS))
        writer.stdin.close()
        assert main(["run", str(path), "-o", str(out)]) == 0
    assert read(out) == KEPT


def test_columns_can_have_other_names(tmp_path: Path) -> None:
    source, dropped = tmp_path / "in.jsonl", tmp_path / "d.jsonl"
    rows = [
        {"key": 1, "body": "Sold out", "name": "Lamp", "at": "http://a.example/1"},
        {"key": 2, "body": "Sold out", "name": "Lamp", "at": "http://b.example/2"},
        {"key": 3, "body": "Sold out", "name": "Chair", "at": "http://c.example/3"},
        {"key": 4, "page": "<main><p>Sold out</main>", "name": "Chair"},
    ]
    source.write_bytes(lines(rows))
    columns = ["--text", "body", "--id", "key", "--title", "name", "--url", "at", "--html", "page"]
    assert main(["run", str(source), "-d", str(dropped), *columns]) == 0
    found = read(dropped)
    assert [(row["id"], row["duplicate_of"]) for row in found] == [(2, 1), (4, 3)]
    assert found[0]["duplicate_of_url"] == "http://a.example/1"


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_an_empty_text_beside_markup_is_none(tmp_path: Path, ending: str) -> None:
    """A cell of CSV cannot say otherwise that there is none."""
    source, table, dropped = tmp_path / "in.jsonl", tmp_path / f"x{ending}", tmp_path / "d.jsonl"
    rows = [
        {"id": "1", "text": "", "html": "<p>Sold out"},
        {"id": "2", "text": "Sold out", "html": ""},
        {"id": "3", "text": "", "html": ""},
    ]
    source.write_bytes(lines(rows))
    assert main(["run", str(source), "--mark", "-o", str(table)]) == 0
    assert main(["run", str(table), "-d", str(dropped)]) == 0
    assert [(row["id"], row["duplicate_of"]) for row in read(dropped)] == [("2", "1")]


def response(uri: str, text: str) -> bytes:
    body = gzip.compress(f"<title>T</title><p>{text}".encode())
    server = ("X-Server: theirs", "Content-Encoding: gzip", f"Content-Length: {len(body)}")
    return warc_record(uri, http_response(body, HTML, *server), headers=("X-Own: kept",))


@pytest.mark.parametrize("ending", ["warc", "warc.gz"])
def test_archives_keep_their_records(tmp_path: Path, ending: str) -> None:
    from warcio.archiveiterator import ArchiveIterator

    source, out = tmp_path / "in.warc.gz", tmp_path / f"out.{ending}"
    texts = {"http://a.example/": "one", "http://b.example/": "one", "http://c.example/": "two"}
    source.write_bytes(b"".join(gzip.compress(response(*each)) for each in texts.items()))
    assert main(["run", str(source), "-o", str(out)]) == 0
    with out.open("rb") as file:
        kept = {}
        for each in ArchiveIterator(file, check_digests="raise"):
            if each.rec_type == "response":
                assert each.rec_headers.get_header("X-Own") == "kept"
                assert each.http_headers.get_header("X-Server") == "theirs"
                kept[each.rec_headers.get_header("WARC-Target-URI")] = each.content_stream().read()
    assert kept == {
        "http://a.example/": b"<title>T</title><p>one",
        "http://c.example/": b"<title>T</title><p>two",
    }


def test_rows_become_an_archive_of_texts(tmp_path: Path) -> None:
    source, out, again = (tmp_path / name for name in ("in.jsonl", "out.warc.gz", "again.jsonl"))
    source.write_bytes(lines(ROWS))
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert main(["run", str(out), "-o", str(again)]) == 0
    assert [row["text"] for row in read(again)] == [row["text"] for row in KEPT]


def test_other_endings_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines(ROWS))
    for option, name in (("-o", "x.txt"), ("-d", "x.warc"), ("--broken", "x.csv")):
        assert main(["run", str(source), option, str(tmp_path / name)]) == 2
        assert "must" in capsys.readouterr().err


def test_the_closing_table_counts_by_stage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(lines(ROWS) + b"broken\n")
    assert main(["run", str(source)]) == 0
    table = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["rows", "4", "100.0"] in table
    assert ["unique", "2", "50.0"] in table
    assert ["duplicates:", "text", "1", "25.0"] in table
    assert ["broken", "rows", "1", "25.0"] in table


def test_marks_that_name_rows_of_another_file_are_text(tmp_path: Path) -> None:
    old, new, out = (tmp_path / name for name in ("old.parquet", "new.parquet", "out.parquet"))
    for path, text in ((old, "A note."), (new, "Another one.")):
        rows = [{"id": 7, "text": "A note."}, {"id": 8, "text": text}]
        (tmp_path / "rows.jsonl").write_bytes(lines(rows))
        assert main(["run", str(tmp_path / "rows.jsonl"), "-o", str(path)]) == 0
    assert main(["run", str(new), "--against", str(old), "--mark", "-o", str(out)]) == 0
    marks = [(row["id"], row["duplicate_of"], row["group"]) for row in read(out)]
    assert marks == [(7, "7", "7"), (8, None, "8")]
