"""`dedup run --job`: goes on after an interruption, and can be asked."""

import json
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.store import STORE_NAME, SqliteStore

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe") for b in "bcdfghjklmnpqrst"]


def rows(count: int) -> list[dict[str, Any]]:
    """Families of three, near duplicates of each other, and every tenth row broken."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        family = random.Random(number // 3)
        words = family.choices(WORDS, k=90)
        words[number % 3] = f"word{number}"
        found.append({"id": number, "g": number % 4, "text": " ".join(words)})
        if number % 10 == 9:
            found[-1] = {"id": number, "g": 0}
    random.Random(1).shuffle(found)
    return found


def write(path: Path, found: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


CODE = """
import sys
import dedup.collection.jobs
from dedup import Deduplicator, Document
from dedup.cli import main
from dedup.store import STORE_NAME, SqliteStore

dedup.collection.jobs._GROUP_UNITS = 200  # so that a kill finds a run in the middle
sys.exit(main())
"""
COMMAND = [sys.executable, "-c", CODE, "run"]


def size_of(folder: Path) -> int:
    """How many bytes a job has stored; SQLite may remove its journal meanwhile."""
    size = 0
    for path in folder.glob("crawl.sqlite*"):
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--within", "g", "--keep", "longest"],
        ["--against", "base.jsonl"],
        ["--passages", "30", "--contains", "base.jsonl"],
    ],
    ids=" ".join,
)
def test_killed_runs_go_on_to_the_same_output(tmp_path: Path, options: list[str]) -> None:
    source = write(tmp_path / "in.jsonl", rows(4_000))
    write(tmp_path / "base.jsonl", rows(60))
    arguments = [str(source), *options, "--mark", "--processes", "1"]
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    subprocess.run(
        [*COMMAND, *arguments, "-o", str(whole)], cwd=tmp_path, check=True, capture_output=True
    )
    store = tmp_path / "job" / "crawl.sqlite"
    command = [*COMMAND, *arguments, "-o", str(out), "--job", "job"]
    kills, size = 0, 0
    for _ in range(3):
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
            while run.poll() is None:  # until it has stored some more
                now = size_of(store.parent)
                if now > size + 200_000:
                    size = now
                    break
                time.sleep(0.005)
            is_running = run.poll() is None
            kills += is_running
            run.send_signal(signal.SIGKILL)
    assert kills >= 2
    assert not out.exists()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert out.read_bytes() == whole.read_bytes()


def test_a_finished_job_gives_the_same_once_more(tmp_path: Path) -> None:
    source, job = write(tmp_path / "in.jsonl", rows(300)), tmp_path / "job"
    outputs = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for out in outputs:
        assert main(["run", str(source), "--job", str(job), "--mark", "-o", str(out)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_another_collection_or_other_rules_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, job = write(tmp_path / "in.jsonl", rows(30)), tmp_path / "job"
    assert main(["run", str(source), "--job", str(job)]) == 0
    assert main(["run", str(source), "--job", str(job), "--threshold", "0.9"]) == 2
    assert "the job was started with different threshold" in capsys.readouterr().err
    for content in (
        source.read_bytes() + b'{"text": "one more"}\n',
        source.read_bytes().replace(b"a", b"o", 1),  # as many bytes
    ):
        source.write_bytes(content)
        assert main(["run", str(source), "--job", str(job)]) == 2
        assert "the job was started with different files" in capsys.readouterr().err


def test_another_baseline_of_the_same_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, job = write(tmp_path / "in.jsonl", rows(30)), tmp_path / "job"
    old = write(tmp_path / "old.jsonl", rows(5))
    command = ["run", str(source), "--job", str(job), "--against", str(old)]
    assert main(command) == 0
    assert main(command) == 0
    write(old, rows(6))
    assert main(command) == 2
    assert "the job was started with different against" in capsys.readouterr().err


def test_a_job_against_jobs_goes_on_only_with_what_they_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [tmp_path / "one", tmp_path / "two"]
    for number, job in enumerate(jobs):
        old = write(tmp_path / "old.jsonl", rows(20)[number::2])
        assert main(["run", str(old), "--job", str(job)]) == 0
    source, out = write(tmp_path / "in.jsonl", rows(60)), tmp_path / "out.jsonl"
    against = [each for job in jobs for each in ("--against", str(job))]
    command = ["run", str(source), *against, "--mark", "-o", str(out), "--job", str(tmp_path / "j")]
    assert main(command) == 0
    first = out.read_bytes()
    assert main([*command, "--overwrite"]) == 0
    assert out.read_bytes() == first
    with SqliteStore(jobs[0] / STORE_NAME) as store:
        Deduplicator(store=store).process(Document(id="new", text="A text of its own."))
    assert main([*command, "--overwrite"]) == 2
    assert "the job was started with different pages" in capsys.readouterr().err


def test_a_crawl_is_not_taken_for_a_collection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dedup.store import SqliteStore

    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.add_skipped("http://a.example/", "http_404", is_fetched=True)
    store.close()
    source = write(tmp_path / "in.jsonl", rows(3))
    assert main(["run", str(source), "--job", str(tmp_path)]) == 2
    assert "the folder holds a crawl's job" in capsys.readouterr().err


TEXT = " ".join(f"Letter {number} came by the evening post." for number in range(40))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    found = [
        {"id": 1, "text": TEXT, "url": "http://a.example/1", "g": "x"},
        {"id": 2, "text": TEXT + " Amen.", "g": "x"},
        {"id": 3, "text": TEXT + " Indeed.", "g": "y"},
        {"id": "four", "text": TEXT + " Indeed yes.", "g": "y"},
    ]
    folder = tmp_path / "job"
    source = write(tmp_path / "in.jsonl", found)
    assert main(["run", str(source), "--job", str(folder), "--within", "g"]) == 0
    return folder


def test_why_of_a_job(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["why", str(job), "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fates"][0]["outcome"] == "duplicate"
    assert found["fates"][0]["original_url"] == "http://a.example/1"
    assert main(["why", str(job), "four", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    matches = [stage["match"] for stage in found["stages"] if stage["match"]]
    assert [match["original"] for match in matches] == [3]
    assert found["fates"][0]["original_url"] == "3"  # which has no URL


def test_a_group_is_judged_alone_when_asked_again(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["why", str(job), "3"]) == 0
    said = capsys.readouterr().out
    assert "stored, as page 3" in said
    assert max(map(len, said.splitlines())) < 200  # in a pipe nothing is filled up with spaces
    assert "The crawl decided otherwise" not in said


def test_a_job_compares_pairs_and_counts(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["pair", str(job), "http://a.example/1", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["is_duplicate"]
    assert main(["stats", str(job), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"]["unique"] == 2
    assert main(["stats", str(job)]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[1].split() == ["rows", "4", "0.01"]
    assert "URLs" not in said
    assert main(["stats", str(job), str(job)]) == 0
    assert main(["report", str(job)]) == 0
    assert (job / "report.html").stat().st_size > 10_000


def test_the_threshold_is_known_to_who_asks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT.replace("Letter 1", "Card 1")}]
    source, folder = write(tmp_path / "in.jsonl", found), tmp_path / "job"
    assert main(["run", str(source), "--job", str(folder), "--threshold", "0.5"]) == 0
    assert main(["why", str(folder), "2"]) == 0
    assert "The crawl decided otherwise" not in capsys.readouterr().out


def test_missing_row_is_reported_as_a_row(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ("17", "http://nowhere.example/"):
        assert main(["why", str(job), asked]) == 1
        said = capsys.readouterr().out
        assert "not found: no row of the collection has this id or URL" in said
        assert "fetched" not in said
