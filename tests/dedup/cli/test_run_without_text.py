"""`dedup run`: rows that have no text stay where nothing is dropped, and are counted."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

from dedup.cli import main
from tests.json_lines import read, write

TEXT = "Letters came by the evening post, and all of them came late."
ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": TEXT},
    {"id": 2, "text": None, "n": 5},
    {"id": 3, "text": TEXT.upper()},
    {"id": 4},
    {"id": 5, "text": ""},
    {"text": None},
]


def run(folder: Path, *options: str, name: str = "in.jsonl") -> int:
    return main(["run", str(folder / name), "-o", str(folder / "out.jsonl"), *options])


@pytest.mark.parametrize("options", [[], ["--keep", "longest"], ["--processes", "2"]])
def test_marked_rows_are_all_rows(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in.jsonl", ROWS)
    assert run(tmp_path, "--mark", *options) == 0
    found = read(tmp_path / "out.jsonl")
    assert [{key: row[key] for key in row if key in ("id", "text", "n")} for row in found] == ROWS
    assert [row["group"] for row in found] == [1, 2, 1, 4, 5, 6]
    for row in (found[1], found[3], found[5]):
        assert (row["duplicate_of"], row["stage"], row["resemblance"]) == (None, None, None)
    said = capsys.readouterr().err
    assert "  without text  " in said
    assert "2 unique, 1 duplicates, 3 without text" in said


def test_rows_without_text_are_left_out_and_told_with_their_reasons(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": 7, "text": 5}]
    source = write(tmp_path / "in.jsonl", rows)
    source.write_text(source.read_text() + "no JSON\n")
    assert run(tmp_path, "--broken", str(tmp_path / "broken.jsonl")) == 0
    assert [row["id"] for row in read(tmp_path / "out.jsonl")] == [1, 5]
    told = read(tmp_path / "broken.jsonl")
    assert [row["place"] for row in told] == ["line 2", "line 4", "line 6", "line 7", "line 8"]
    assert told[0]["reason"] == "`text` is empty (null)"
    assert json.loads(told[0]["row"]) == ROWS[1]
    assert told[3]["reason"] == "expected a string in `text`, found int"


def test_tables_keep_rows_without_text(tmp_path: Path) -> None:
    table = pyarrow.table({"id": [1, 2, 3], "text": [TEXT, None, TEXT.upper()], "n": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    assert main(["run", str(tmp_path / "in.parquet"), "--mark", "-o", str(out)]) == 0
    found = parquet.read_table(out)
    assert found.drop_columns(["duplicate_of", "resemblance", "stage", "group"]).equals(table)
    assert found["group"].to_pylist() == [1, 2, 1]


def test_an_item_of_an_array_without_text_stays(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(ROWS, indent=1))
    assert run(tmp_path, "--mark", "--keep", "lowest:id", name="in.json") == 0
    assert [row["group"] for row in read(tmp_path / "out.jsonl")] == [1, 2, 1, 4, 5, 6]


LIMITS = {
    "strict": (
        ["--strict"],
        "in.jsonl, line 2: `text` is empty (null); --strict allows no such row",
    ),
    "none": (["--max-broken", "0"], "line 2: `text` is empty (null); --strict allows no such row"),
    "three": (["--max-broken", "3"], "line 7: invalid JSON"),
    "by preference": (["--max-broken", "3", "--keep", "longest"], "allows 3 such rows"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_too_many_rows_that_are_no_documents_are_an_error(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, wanted = LIMITS[name]
    source = write(tmp_path / "in.jsonl", ROWS)
    source.write_text(source.read_text() + "no JSON\n")
    assert run(tmp_path, "--mark", "--broken", str(tmp_path / "b.jsonl"), *options) == 2
    assert wanted in capsys.readouterr().err.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("options", [["--max-broken", "4"], ["--max-broken", "1000"]])
def test_as_many_as_are_allowed_are_none(tmp_path: Path, options: list[str]) -> None:
    source = write(tmp_path / "in.jsonl", ROWS)
    source.write_text(source.read_text() + "no JSON\n")
    assert run(tmp_path, *options) == 0


@pytest.mark.parametrize("given", ["-1", "many", "1.5", ""])
def test_a_limit_is_a_whole_number(
    tmp_path: Path, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in.jsonl", ROWS)
    assert run(tmp_path, f"--max-broken={given}") == 2
    assert "--max" in capsys.readouterr().err


def test_strict_accepts_a_collection_of_documents(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", [ROWS[0], ROWS[4]])
    assert run(tmp_path, "--strict") == 0


def test_names_are_no_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "a:date:b.jsonl", ROWS)
    assert run(tmp_path, name="a:date:b.jsonl") == 0
    assert "a:date:b.jsonl, line 2" in capsys.readouterr().err
