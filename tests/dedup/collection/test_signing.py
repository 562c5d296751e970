"""Signatures in several processes: the same verdicts, in bounded memory."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dedup.cli import main
from dedup.collection import Columns
from dedup.collection.rules import Rules
from dedup.collection.signing import SigningProcesses, Work, usable_processes

pytestmark = pytest.mark.slow

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe") for b in "bcdfghjklmnpqrst"]


def rows(count: int) -> list[Any]:
    """Texts, Chinese ones, markup, short ones, near duplicates, and rows that are broken."""
    choose = random.Random(5)
    found: list[Any] = []
    for number in range(count):
        words = choose.choices(WORDS, k=choose.choice([3, 60, 90, 200]))
        kind = number % 8
        row: dict[str, Any] = {"id": number, "g": number % 3, "text": " ".join(words)}
        if kind == 1 and found:
            text = choose.choice([each for each in found if "text" in each])["text"]
            row["text"] = text.replace("k", "K", 3) + choose.choice(["", " x", " end"])
        elif kind == 2:
            row["text"] = "".join(choose.choices("的一是在不了有和人这中大为上个国", k=300))
        elif kind == 3:
            del row["text"]
            row |= {
                "html": f"<main><p>{' '.join(words)}</main>",
                "url": f"http://a.example/{number}",
            }
        elif kind == 4:
            row = {"id": number}
        found.append(row)
    return found


@pytest.mark.parametrize(
    "options", [[], ["--keep", "longest"], ["--within", "g"]], ids=["first", "longest", "within"]
)
def test_processes_change_no_verdict(tmp_path: Path, options: list[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows(1_500)))
    outputs = []
    for processes in (1, 2, 3):
        out, dropped = tmp_path / f"o{processes}.jsonl", tmp_path / f"d{processes}.jsonl"
        command = ["run", str(source), "--mark", "-o", str(out), "-d", str(dropped), *options]
        assert main([*command, "--processes", str(processes)]) == 0
        outputs.append((out.read_bytes(), dropped.read_bytes()))
    assert len(set(outputs)) == 1
    assert outputs[0][1]


def test_dead_process_is_reported_in_one_sentence(tmp_path: Path) -> None:
    """As it does when the system has no memory left."""
    workers = SigningProcesses(Work(columns=Columns(), rules=Rules()), 2)
    assert workers._pool is not None
    try:
        results = workers.sign([(0, [])])
        next(results)
        for process in list(workers._pool._processes.values()):
            process.kill()
        with pytest.raises(OSError, match="a signing process ended"):
            list(workers.sign([(number, []) for number in range(50)]))
    finally:
        workers.close()


def test_there_is_at_least_one_process() -> None:
    assert usable_processes() >= 1


def test_memory_is_bounded_by_the_longest_row(tmp_path: Path) -> None:
    """16 MB of words took 820 MB; 90 MB is what a run takes without them."""
    source = tmp_path / "in.jsonl"
    words = " ".join(f"word{number % 5000} foo{number}" for number in range(850_000))
    with source.open("w") as file:
        for number in range(3):
            file.write(json.dumps({"id": number, "text": words + " end" * number}) + "\n")
    code = (
        "import sys; from pathlib import Path; from dedup.cli import main;"
        "status = main(['run', sys.argv[1], '--processes', '1']);"
        "told = Path('/proc/self/status').read_text();"  # ru_maxrss would be the test's own
        "print(int(told.partition('VmHWM:')[2].split()[0]) // 1024); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source)], capture_output=True, text=True, check=True
    )
    assert "1 unique, 2 duplicates" in done.stderr
    assert int(done.stdout) < 600
