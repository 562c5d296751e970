"""`dedup run`, called as from the command line."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dedup.cli import main
from tests.json_lines import read

STORY = " ".join(f"On day {day} the ferry left at {day % 12} o'clock." for day in range(30))
ROWS: list[dict[str, Any]] = [
    {"id": "one", "text": STORY},
    {"id": "two", "text": STORY.upper(), "url": "http://example.com/two"},
    {"id": "three", "html": f"<title>T</title><main><p>{STORY}</main>"},
    {"id": 4, "text": "A short note."},
    {"url": "http://example.com/five", "text": "Another short note."},
]


def write(path: Path, lines: list[str]) -> Path:
    text = "".join(line + "\n" for line in lines).encode()
    compress = {".gz": gzip.compress, ".zst": zstandard.compress}.get(path.suffix, bytes)
    path.write_bytes(compress(text))
    return path


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_run_splits_a_collection(tmp_path: Path, ending: str) -> None:
    source = write(tmp_path / f"in.{ending}", [json.dumps(row) for row in ROWS])
    unique, dropped = tmp_path / "unique.jsonl", tmp_path / "dropped.jsonl"
    assert main(["run", str(source), "-o", str(unique), "-d", str(dropped)]) == 0
    assert read(unique) == [ROWS[0], ROWS[3], ROWS[4]]
    assert [(row["id"], row["duplicate_of"]) for row in read(dropped)] == [
        ("two", "one"),
        ("three", "one"),
    ]


def test_duplicate_record_has_the_documented_fields(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [json.dumps(row) for row in ROWS[:2]])
    dropped = tmp_path / "dropped.jsonl"
    assert main(["run", str(source), "-d", str(dropped)]) == 0
    assert read(dropped) == [
        {
            "id": "two",
            "url": "http://example.com/two",
            "duplicate_of": "one",
            "duplicate_of_url": None,
            "stage": "text",
            "distance": None,
            "resemblance": 1.0,
            "first_seen": None,
        }
    ]


def test_broken_lines_are_named_counted_and_passed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = ["{", "[1]", '{"id": 1}', "", json.dumps(ROWS[0]), "[" * 100_000]
    source = write(tmp_path / "in.jsonl", broken)
    unique = tmp_path / "unique.jsonl"
    assert main(["run", str(source), "-o", str(unique)]) == 0
    assert read(unique) == [ROWS[0]]
    errors = " ".join(capsys.readouterr().err.split())
    assert "line 2: expected a JSON object, found list" in errors
    assert "line 3: expected a field `text` or `html`" in errors
    assert "1 unique, 0 duplicates, 1 without text, 3 broken rows" in errors


def test_missing_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "none.jsonl")]) == 2
    error = capsys.readouterr().err
    assert "none.jsonl" in error
    assert "Traceback" not in error


def test_it_starts_without_what_texts_do_not_need() -> None:
    needless = ("dedup.html", "multiprocessing", "concurrent.futures", "filelock")
    code = f"import sys, dedup.cli.run; print([n for n in {needless} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
    assert done.stdout == b"[]\n"
