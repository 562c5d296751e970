"""Both engines find the same passages, and the same rows of evaluation sets."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java", allow_module_level=True)

from dedup.cli import main
from tests.json_lines import write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_session"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

CHOOSE = random.Random(5)
WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pé") for b in "bcdfghjklmnpqrst"]
BLOCKS = [" ".join(CHOOSE.choices(WORDS, k=30)).capitalize() + ". " for _ in range(40)]
BLOCKS += ["".join(chr(0x4E00 + CHOOSE.randrange(3_000)) for _ in range(30)) for _ in range(20)]


def rows() -> list[dict[str, Any]]:
    """Rows of a few blocks of many, so that some repeat each other in part, or as a whole."""
    found: list[dict[str, Any]] = []
    for number in range(60):
        blocks = BLOCKS[:40] if number % 3 else BLOCKS[40:]
        text = "".join(CHOOSE.choices(blocks, k=CHOOSE.randrange(1, 6)))
        found.append({"id": number if number % 2 else f"r{number}", "n": 1.5, "text": text})
    found[7] = {"id": 7, "html": f"<p>{BLOCKS[0]}</p>"}
    found[11] = {"id": 11}
    return found


def parquet_of(path: Path, found: list[dict[str, Any]]) -> Path:
    import pyarrow.parquet

    named = [{**row, "id": str(row["id"])} for row in found if "text" in row]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(named), path)
    return path


def lines(path: Path) -> list[bytes]:
    files = sorted(path.glob("part-*")) if path.is_dir() else [path]
    return [line for file in files for line in file.read_bytes().splitlines()]


def values(path: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet

    names = ["id", "n", "text", "stage", "passages"]
    found: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return [{name: row.get(name) for name in names} for row in found]


@pytest.mark.parametrize(("ending", "options"), [("jsonl", ["--mark"]), ("parquet", [])])
def test_both_engines_write_the_same(tmp_path: Path, options: list[str], ending: str) -> None:
    evaluation = write(tmp_path / "eval.jsonl", [{"id": "q", "text": BLOCKS[3]}, {"text": "a"}])
    if ending == "jsonl":
        source = write(tmp_path / "in.jsonl", rows())
    else:
        source = parquet_of(tmp_path / "in.parquet", rows())
    here, there = tmp_path / f"here.{ending}", tmp_path / "there"
    dropped = tmp_path / "here-d.jsonl", tmp_path / "there-d"
    arguments = ["run", str(source), "--passages", "20", "--contains", str(evaluation), *options]
    assert main([*arguments, "-o", str(here), "-d", str(dropped[0])]) == 0
    engine = ["--engine", "spark", "--master", "local[2]"]
    assert main([*arguments, "-o", str(there), "-d", str(dropped[1]), *engine]) == 0
    if ending == "jsonl":
        assert lines(there) == lines(here)
    else:
        assert values(there) == values(here)
    assert lines(dropped[1]) == lines(dropped[0])
    stages = b"".join(lines(dropped[0]))
    assert b'"passages"' in stages
    assert b'"contains"' in stages
