"""Values that a format cannot hold are told, and bytes are not lost."""

import base64
import csv
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from tests.json_lines import read, write

pyarrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

IMAGE = b"\xff\x00"
TABLE = pyarrow.table(
    {
        "text": ["One.", "Two.", "Three."],
        "image": [IMAGE, b"plain", None],
        "inner": [{"list": [IMAGE, b"x"]}, {"list": []}, None],
        "n": [1, 2, 3],
    }
)


def run(source: Path, ending: str, *options: str) -> Path:
    out = source.with_name(f"out.{ending}")
    assert main(["run", str(source), "-o", str(out), *options]) == 0
    return out


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.parquet"
    parquet.write_table(TABLE, path)
    return path


def test_bytes_in_json_lines_are_base64_and_told(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third = read(run(source, "jsonl"))
    assert base64.b64decode(first["image"]) == IMAGE
    assert base64.b64decode(first["inner"]["list"][0]) == IMAGE
    assert first["inner"]["list"][1] == "x"
    assert (second["image"], third["image"], third["inner"]) == ("plain", None, None)
    said = capsys.readouterr().err
    assert "out.jsonl: 1 values in `image` are bytes that are not UTF-8, written as base64" in said
    assert "1 values in `inner`" in said


def test_bytes_in_csv_are_base64_and_told(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with run(source, "csv").open(newline="") as file:
        first, second, _ = csv.DictReader(file)
    assert base64.b64decode(first["image"]) == IMAGE
    assert (second["image"], second["n"]) == ("plain", "2")
    assert "out.csv: 1 values in `image`" in capsys.readouterr().err


def test_parquet_keeps_bytes_and_says_nothing(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parquet.read_table(run(source, "parquet")).equals(TABLE)
    assert "base64" not in capsys.readouterr().err


def test_texts_that_parquet_cannot_hold_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": "half \ud800"}, {"text": "sound"}])
    assert parquet.read_table(run(source, "parquet"))["text"].to_pylist() == ["half ?", "sound"]
    assert "out.parquet: 1 texts have bytes that are not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("options", [[], ["--mark", "--keep", "longest"]])
def test_views_are_read_as_what_they_show(tmp_path: Path, ending: str, options: list[str]) -> None:
    """Also within structs and lists."""
    view = pyarrow.string_view()
    columns = {
        "text": pyarrow.array(["One.", "ONE.", "Two."], view),
        "bytes": pyarrow.array([b"x", None, b"y"], pyarrow.binary_view()),
        "inner": pyarrow.array([{"a": ["x"]}] * 3, pyarrow.struct({"a": pyarrow.list_(view)})),
    }
    source = tmp_path / "in.parquet"
    parquet.write_table(pyarrow.table(columns), source)
    out = run(source, ending, *options)
    rows = parquet.read_table(out).to_pylist() if ending == "parquet" else None
    if ending == "jsonl":
        rows = read(out)
    if rows is not None:
        assert [row["text"] for row in rows] == (
            ["One.", "ONE.", "Two."] if options else ["One.", "Two."]
        )
        assert rows[0]["inner"] == {"a": ["x"]}


def test_columns_of_one_name_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.parquet"
    columns = [pyarrow.array(["One."])] * 3
    parquet.write_table(pyarrow.Table.from_arrays(columns, names=["text", "x", "x"]), source)
    assert main(["run", str(source)]) == 2
    assert "column names must be unique, got ['text', 'x', 'x']" in capsys.readouterr().err
