"""docs/collections.md: each command is run, and does what is written there."""

import argparse
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest

from dedup.cli import main
from dedup.cli.run import add_arguments

pytestmark = pytest.mark.slow

DOC = (Path(__file__).parents[1] / "docs" / "collections.md").read_text(encoding="utf-8")
TEXT = " ".join(f"Letter {number} came by the evening post." for number in range(40))
NEWS = [
    {"id": 1, "language": "en", "date": "2024-05-01", "text": TEXT},
    {"id": 2, "language": "fr", "date": "2024-05-03", "text": TEXT.upper()},
    {"id": 3, "language": "en", "date": "2024-05-02", "text": TEXT + " One came on its own, late."},
    {"id": 4, "language": "en", "date": "2024-05-04", "text": "A note."},
    {"id": 5, "language": "en", "date": "2024-05-05", "text": "Another note."},
]
PAGES = "id,link,markup\r\n1,http://a.example/,<p>Sold out\r\n2,http://b.example/,<b>Sold out\r\n"
PRODUCTS = "sku,name,link,description\r\n1,Lamp,http://a.example/,Sold out\r\n2,Chair,,Sold out\r\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOC, re.DOTALL)


def run_commands(path: Path) -> None:
    """Run all commands in a folder, one after the other: those without a pipe, right here."""
    lines = [json.dumps(row) + "\n" for row in NEWS]
    (path / "news.jsonl").write_text("".join(lines))
    (path / "old.jsonl").write_text(json.dumps({"id": "old", "text": "A NOTE."}) + "\n")
    (path / "mixed.jsonl").write_text(lines[0] + "broken\n")
    (path / "products.csv").write_bytes(PRODUCTS.encode())
    (path / "pages.csv").write_bytes(PAGES.encode())
    nested = [{"meta": {"key": row["id"]}, "body": {"main": row["text"]}} for row in NEWS]
    (path / "nested.json").write_text(json.dumps(nested, indent=2))
    (path / "latin.csv").write_bytes("id;text\n1;März, im\n2;MÄRZ, im\n".encode("latin-1"))
    code = "import sys; from dedup.cli import main; sys.exit(main())"
    program = f"dedup() {{ '{sys.executable}' -c '{code}' \"$@\"; }}\n"
    commands = [
        line[2:] for block in blocks("console") for line in block.splitlines() if line[:2] == "$ "
    ]
    runs = [line for line in commands if not line.startswith("python ")]
    assert len(runs) > 15
    for line in runs:
        if "--engine spark" in line and not has_spark():
            continue
        if re.search(r"[|>]|--engine spark", line):
            shell = ["bash", "-euc", program + line]
            subprocess.run(shell, cwd=path, check=True, stderr=subprocess.DEVNULL)
            continue
        out, errors = io.StringIO(), io.StringIO()
        with chdir(path), redirect_stdout(out), redirect_stderr(errors):
            status = main(shlex.split(line)[1:])
        assert status == 0, (line, errors.getvalue())
        if line == runs[0]:
            (path / "said.txt").write_text(errors.getvalue())
        if line.startswith("dedup why"):
            (path / "why.txt").write_text(out.getvalue())


def has_spark() -> bool:
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    return has_java and find_spec("pyspark") is not None


def ids(path: Path) -> list[object]:
    files = sorted(path.glob("part-*")) if path.is_dir() else [path]
    lines = [line for file in files for line in file.read_text().splitlines()]
    return [json.loads(line)["id"] for line in lines]


# A file that a command of the document writes, and the rows in it.
WRITTEN = {
    "unique.jsonl": [1, 4, 5],
    "unique-pages.jsonl": ["1"],
    "unique-latin.jsonl": ["1"],
    "all.jsonl": [1, 4, 5],
    "piped.jsonl": [1, 4, 5],
    "strict.jsonl": [1, 3, 4, 5],
    "exact.jsonl": [1, 3, 4, 5],
    "by-language.jsonl": [1, 2, 4, 5],
    "new.jsonl": [1, 5],
    "newest-only.jsonl": [5],
    "longest.jsonl": [3, 4, 5],
    "newest.jsonl": [2, 4, 5],
    "best.jsonl": [3, 4, 5],
    "clusters.jsonl": [1, 2, 3, 4, 5],
    "tolerated.jsonl": [1],
    "strictly.jsonl": [1, 4, 5],
    "marked.jsonl": [1, 2, 3, 4, 5],
    "without-repeats.jsonl": [1, 4, 5],
    "with-passages.jsonl": [1, 2, 3, 4, 5],
    "decontaminated.jsonl": [1, 5],
    "two.jsonl": [1, 4, 5],
    "unique-again.jsonl": [1, 4, 5],
    "sound.jsonl": [1],
    "on-spark": [1, 4, 5],
    "on-spark-duplicates": [2, 3],
}


def test_each_command_does_what_it_says(tmp_path: Path, quick_spark: None) -> None:
    """One test: what tests share is made by each process that has one of them."""
    run_commands(tmp_path)
    written = {
        name: found
        for name, found in WRITTEN.items()
        if has_spark() or not name.startswith("on-spark")
    }
    assert {name: ids(tmp_path / name) for name in written} == written
    check_first_output(tmp_path)
    assert (tmp_path / "unique-products.csv").read_bytes() == PRODUCTS.encode()
    assert len((tmp_path / "unique-nested.jsonl").read_text().splitlines()) == 3
    assert json.loads((tmp_path / "broken.jsonl").read_text())["place"] == "line 2"
    assert "duplicate" in (tmp_path / "why.txt").read_text()
    assert (tmp_path / "duplicates.parquet").exists()
    if find_spec("pandas") is not None:
        (example,) = blocks("python")
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == blocks("text")[0]


def check_first_output(folder: Path) -> None:
    shown = blocks("console")[0].split("\n", 1)[1].splitlines()
    said = (folder / "said.txt").read_text().splitlines()
    assert [line.rstrip() for line in said[:-1]] == shown[:-1]
    assert said[-1].split(";")[0] == shown[-1].split(";")[0]
    record = json.loads((folder / "duplicates.jsonl").read_text().splitlines()[0])
    assert record == json.loads(blocks("json")[0])


def test_every_option_is_in_an_example() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    options = parser.format_help().split("options:")[1]
    names = set(re.findall(r"^  (--?[\w-]+)", options, re.MULTILINE))
    examples = "\n".join(blocks("console"))
    assert not {name for name in names if f"{name} " not in examples}
