"""`dedup run`: which columns hold texts, and how they are read."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from tests.json_lines import read, write

NESTED: list[dict[str, Any]] = [
    {"meta": {"key": 1, "link": "http://a.example/1"}, "body": {"main": "One text.", "n": [1]}},
    {"meta": {"key": 2, "link": None}, "body": {"main": "ONE  text.", "n": []}},
    {"meta": {"key": 3, "link": None}, "body": {"main": "Another.", "n": None}},
]
PATHS = ["--text", "body.main", "--id", "meta.key", "--url", "meta.link"]


def run(source: Path, *options: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What stays, and what is dropped."""
    out, dropped = source.with_name("out.jsonl"), source.with_name("dropped.jsonl")
    command = ["run", str(source), "-o", str(out), "-d", str(dropped), "--overwrite", *options]
    assert main(command) == 0
    return read(out), read(dropped)


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_a_path_names_a_nested_field(tmp_path: Path, ending: str) -> None:
    source = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
        parquet.write_table(pyarrow.Table.from_pylist(NESTED), source)
    elif ending == "json":
        source.write_text(json.dumps(NESTED, indent=1))
    else:
        write(source, NESTED)
    kept, dropped = run(source, *PATHS)
    assert kept == [NESTED[0], NESTED[2]]
    assert [(row["id"], row["duplicate_of"]) for row in dropped] == [(2, 1)]
    assert dropped[0]["duplicate_of_url"] == "http://a.example/1"
    kept, _ = run(source, *PATHS, "--keep", "newest:meta.key")
    assert kept == NESTED[1:]
    assert run(source, *PATHS, "--within", "meta.key")[0] == NESTED
    assert run(source, *PATHS, "--compare", "body.n")[0] == NESTED


def test_a_column_of_that_name_comes_before_a_path(tmp_path: Path) -> None:
    rows = [{"id": 1, "a.b": "x", "a": {"b": "y"}}, {"id": 2, "a.b": "x", "a": {"b": "z"}}]
    assert run(write(tmp_path / "in.jsonl", rows), "--text", "a.b")[0] == rows[:1]


def test_a_path_to_nothing_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", NESTED)
    assert main(["run", str(source), "--text", "body.main", "--id", "meta.no"]) == 2
    assert "no row has column `meta.no`" in capsys.readouterr().err


def test_pages_of_a_nested_field_are_learned_from(tmp_path: Path) -> None:
    """As those of a column: what their host repeats is left out of their texts."""
    menu = "".join(f"<li>Entry {n} of the menu" for n in range(30))
    pages = [
        {"id": n, "url": f"http://a.example/{n}", "page": {"html": f"<ul>{menu}</ul><p>Item {n}."}}
        for n in range(30)
    ]
    nested = run(write(tmp_path / "in.jsonl", pages), "--html", "page.html")[1]
    flat = [{**page, "html": page["page"]["html"]} for page in pages]  # type: ignore[index]
    assert run(write(tmp_path / "in.jsonl", flat))[1] == nested


@pytest.mark.parametrize(
    ("name", "delimiter", "options"),
    [
        ("x.tsv", "\t", []),
        ("x.tsv.bz2", "\t", []),
        ("x.csv", ";", ["--delimiter", ";"]),
        ("x.csv", "\t", ["--delimiter", "\\t"]),
        ("x.tsv", "|", ["--delimiter", "|"]),
    ],
)
def test_cells_are_parted_as_the_ending_or_the_option_says(
    tmp_path: Path, name: str, delimiter: str, options: list[str]
) -> None:
    rows = [["id", "text"], ["1", "One, text."], ["2", "ONE, text."], ["3", "Three"]]
    content = "".join(delimiter.join(row) + "\r\n" for row in rows).encode()
    source = tmp_path / name
    source.write_bytes(bz2.compress(content) if name.endswith("bz2") else content)
    assert [row["id"] for row in run(source, *options)[0]] == ["1", "3"]


def test_tsv_is_written_as_it_came(tmp_path: Path) -> None:
    source, out = tmp_path / "in.tsv", tmp_path / "out.tsv"
    source.write_bytes(b"id\ttext\r\n1\t=x\r\n2\tb, c\r\n")
    assert main(["run", str(source), "-o", str(out)]) == 0
    assert out.read_bytes() == source.read_bytes()


def test_binary_columns_are_texts_in_the_named_encoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    texts = [each.encode("gb18030") for each in ("中文", "中文 ", "法律")]
    table = pyarrow.table({"id": [1, 2, 3, 4], "text": [*texts, b"\xff\xff"]})
    parquet.write_table(table, source)
    broken = tmp_path / "broken.jsonl"
    command = ["run", str(source), "-o", str(out), "--broken", str(broken)]
    assert main([*command, "--encoding", "gb18030"]) == 0
    assert parquet.read_table(out).equals(table.take([0, 2]))
    (row,) = read(broken)
    assert row["reason"].startswith("`text` is not gb18030 (")
    assert main([*command, "--overwrite"]) == 2
    assert "found bytes; --encoding reads texts in it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--delimiter", ",,"], "--delimiter must be one character"),
        (["--delimiter", '"'], "--delimiter must be one character"),
        (["--encoding", "latin-99"], "--encoding must be a text encoding that Python knows"),
        (["--encoding", "rot13"], "--encoding must be a text encoding that Python knows"),
    ],
)
def test_an_option_that_makes_no_sense_is_one_sentence(
    tmp_path: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", NESTED)
    assert main(["run", str(source), *options]) == 2
    assert sentence in capsys.readouterr().err


def test_a_job_goes_on_only_as_it_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, job = tmp_path / "in.csv", tmp_path / "job"
    source.write_text("id,text\n1,x\n")
    command = ["run", str(source), "--job", str(job)]
    assert main(command) == 0
    assert main([*command, "--encoding", "latin-1"]) == 2
    assert "the job was started with different encoding" in capsys.readouterr().err
