"""`dedup run`: what goes wrong at first use is told with its remedy, and no file is lost."""

import csv
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from dedup.cli import main
from tests.json_lines import write

# A file, and what is said of it.
HINTS = {
    "semicolons": ("id;text\n1;a text\n", "the header is one column, 'id;text'; --delimiter ';'"),
    "tabs": ("id\ttext\n1\ta text\n", "--delimiter '\\t' parts it"),
    "bars": ("id|text\n1|a text\n", "--delimiter '|' parts it"),
    "UTF-16": ("id,text\n1,a text\n".encode("utf-16"), "it is UTF-16; --encoding utf-16 reads it"),
}


@pytest.mark.parametrize("name", HINTS)
def test_a_table_that_is_read_otherwise_is_told(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, wanted = HINTS[name]
    source = tmp_path / "in.csv"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["run", str(source)]) == 2
    assert wanted in capsys.readouterr().err


def test_an_encoding_that_a_file_does_not_have_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": "x"}])
    assert main(["run", str(source), "--encoding", "utf-16"]) == 2
    assert "in.jsonl: not utf-16 (" in capsys.readouterr().err


def test_standard_output_is_written_on(tmp_path: Path) -> None:
    """A file that is appended to keeps what it has."""
    source, out = write(tmp_path / "in.jsonl", [{"text": "x"}]), tmp_path / "out.jsonl"
    out.write_text("before\n")
    with out.open("a") as file:
        command = [sys.executable, "-m", "dedup.cli", "run", str(source), "-o", "-"]
        subprocess.run(command, stdout=file, check=True, capture_output=False)
    assert out.read_text() == 'before\n{"text": "x"}\n'


@pytest.mark.parametrize("option", ["-d", "--clusters"])
def test_tables_without_rows_have_columns(tmp_path: Path, option: str) -> None:
    empty, one = write(tmp_path / "0.jsonl", []), write(tmp_path / "1.jsonl", [{"text": "x"}] * 2)
    headers = []
    for source in (empty, one):
        for ending in ("csv", "parquet"):
            out = tmp_path / f"{source.stem}.{ending}"
            assert main(["run", str(source), option, str(out)]) == 0
            if ending == "csv":
                headers.append(next(csv.reader(out.read_text().splitlines())))
            else:
                headers.append(parquet.read_table(out).column_names)
    assert "duplicate_of" in headers[0]
    assert headers == [headers[0]] * 4


def test_a_file_in_place_of_a_folder_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", [{"text": "x"}])
    assert main(["run", str(source), "-o", str(source / "out.jsonl")]) == 2
    assert f"{source} is a file, not a folder" in capsys.readouterr().err
