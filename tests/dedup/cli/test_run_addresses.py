"""`dedup run`: files of other machines, which fsspec reads and writes, or nothing does."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from dedup.cli import main
from tests.json_lines import read, write

TEXT = "Letters came by the evening post, and all of them came late."
ROWS = [{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT.upper()}, {"id": 3, "text": "A note."}]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryFileSystem]:
    """A file system elsewhere, with a folder of a collection."""
    system = fsspec.filesystem("memory")
    write(tmp_path / "in.jsonl", ROWS)
    system.put_file(str(tmp_path / "in.jsonl"), "/rows/a.jsonl")
    system.pipe_file("/rows/b.csv", b"id,text\r\n4,Another text\r\n")
    system.pipe_file("/rows/notes.txt", b"no collection")
    yield system
    system.store.clear()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["run", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.splitlines()[-1]


READ = {
    "a file": (["memory://rows/a.jsonl"], [1, 3]),
    "a folder": (["memory://rows"], [1, 3, "4"]),
    "a glob": (["memory://rows/*.jsonl"], [1, 3]),
    "two": (["memory://rows/b.csv", "memory://rows/a.jsonl"], ["4", 1, 3]),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("options", [[], ["--keep", "newest:id"]])
def test_files_elsewhere_are_read(
    memory: MemoryFileSystem, tmp_path: Path, name: str, options: list[str]
) -> None:
    inputs, wanted = READ[name]
    out = tmp_path / "out.jsonl"
    if options and 1 in wanted:
        wanted = [2 if each == 1 else each for each in wanted]
    assert main(["run", *inputs, *options, "-o", str(out)]) == 0
    assert [row["id"] for row in read(out)] == wanted


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_files_elsewhere_are_written_as_here(
    memory: MemoryFileSystem, tmp_path: Path, ending: str
) -> None:
    source, here = tmp_path / "in.jsonl", tmp_path / f"out{ending}"
    there = f"memory://new/out{ending}"
    arguments = ["run", str(source), "-d", "memory://new/d.jsonl", "-o"]
    assert main([*arguments, there]) == 0
    assert main([*arguments, str(here), "--overwrite"]) == 0
    if ending != ".jsonl.gz":  # which has the time
        assert memory.cat_file(f"/new/out{ending}") == here.read_bytes()
    again = tmp_path / "again.jsonl"
    assert main(["run", there, "-o", str(again)]) == 0
    assert [int(row["id"]) for row in read(again)] == [1, 3]


def test_a_job_and_what_is_known_may_be_elsewhere(memory: MemoryFileSystem, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ["run", "memory://rows/a.jsonl", "--job", str(tmp_path / "job"), "-o", str(out)]
    for _ in range(2):
        known = ["--against", "memory://rows/b.csv"]
        assert main([*arguments, *known, "--overwrite"]) == 0
        assert [row["id"] for row in read(out)] == [1, 3]
    memory.pipe_file("/rows/a.jsonl", b'{"text": "new"}\n')
    assert main([*arguments, *known, "--overwrite"]) == 2


def test_no_file_elsewhere_is_lost(
    memory: MemoryFileSystem, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there, source = "memory://rows/a.jsonl", tmp_path / "in.jsonl"
    before = memory.cat_file("/rows/a.jsonl")
    assert "already exists; --overwrite" in refusal(capsys, source, "-o", there)
    said = refusal(capsys, there, "-o", there, "--overwrite")
    assert "-o must not be the same file as IN" in said
    said = refusal(capsys, "memory://rows", "-o", "memory:///rows/a.jsonl", "--overwrite")
    assert "-o must not be the same file as IN" in said
    new = "memory://x.jsonl"
    assert "-o and -d must be two files" in refusal(capsys, source, "-o", new, "-d", new)
    assert "must name each file once" in refusal(capsys, there, there)
    assert "memory://rows/none.jsonl: file not found" in refusal(capsys, "memory://rows/none.jsonl")
    write(source, [{"body": "x"}])
    assert "expected a field" in refusal(capsys, source, "-o", there, "--overwrite")
    assert memory.cat_file("/rows/a.jsonl") == before


class Failing(MemoryFileSystem):
    """A file system that takes no files, with an error of its own."""

    protocol = ("failing",)

    def put_file(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no credentials,\n  none at all " + "x" * 1_000)


def test_what_cannot_be_sent_leaves_no_output_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    source = write(tmp_path / "in.jsonl", ROWS)
    said = refusal(
        capsys,
        source,
        "-o",
        "failing://x.jsonl",
        "-d",
        tmp_path / "d.jsonl",
        "--broken",
        "failing://b.jsonl",
    )
    assert said == "dedup: failing://b.jsonl: no credentials, none at all …"
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_an_address_of_this_machine_is_a_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "in.jsonl", ROWS)
    assert main(["run", f"file://{source}", "-o", f"file://{tmp_path}/out.jsonl"]) == 0
    assert len(read(tmp_path / "out.jsonl")) == 2
    said = refusal(capsys, source, "-o", f"file://{source}", "--overwrite")
    assert "-o must not be the same file as IN" in said


UNKNOWN = [
    ["{address}", "-o", "out.jsonl"],
    ["in.jsonl", "-o", "{address}"],
    ["in.jsonl", "-d", "{address}"],
    ["in.jsonl", "--broken", "{address}"],
    ["in.jsonl", "--clusters", "{address}"],
    ["in.jsonl", "-o", "out.jsonl", "--against", "{address}"],
]
# What is told of an address by what is missing.
MISSING = {
    "s3": ("s3fs", "Install s3fs"),
    "gs": ("gcsfs", "install gcsfs"),
    "nowhere": (None, "Protocol not known: nowhere"),
    "hdfs": ("fsspec", "install it: pip install 'scrapy-dedup[remote]'"),
}


@pytest.mark.parametrize("arguments", UNKNOWN, ids=" ".join)
@pytest.mark.parametrize("scheme", MISSING)
def test_an_address_that_nothing_knows_is_one_sentence_and_makes_no_folder(
    arguments: list[str],
    scheme: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, wanted = MISSING[scheme]
    if module is not None:
        for name in [each for each in sys.modules if each.split(".")[0] == module]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in.jsonl", ROWS)
    address = f"{scheme}://bucket/x.jsonl"
    said = refusal(capsys, *(each.format(address=address) for each in arguments))
    assert wanted in said
    assert address in said
    assert "--engine spark" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_job_is_a_folder_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", ROWS)
    said = refusal(capsys, source, "--job", "s3://bucket/job")
    assert "--job must be a path on this machine, got 's3://bucket/job'" in said
