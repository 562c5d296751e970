"""`dedup export`: files and folders go to addresses that fsspec knows as they go to paths."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dedup.cli import main

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def export(job: Path, *options: object) -> int:
    return main(["export", str(job), *map(str, options)])


def refusal(job: Path, capsys: pytest.CaptureFixture[str], *options: object) -> str:
    assert export(job, *options) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.splitlines()[-1]


FILES = {
    "pages": ["-o", "{}/p.csv"],
    "parquet": ["-o", "{}/p.parquet"],
    "duplicates": ["-d", "{}/d.jsonl"],
    "failed": ["--failed", "{}/f.csv"],
    "pieces": ["--pieces", "50", "-o", "{}/pieces.jsonl"],
    "all": ["-o", "{}/p.jsonl", "-d", "{}/d.csv", "--failed", "{}/f.jsonl"],
    "partitions": ["-o", "{}/p.parquet", "--partition", "host"],
    "dataset": ["--dataset", "{}/set"],
}


@pytest.mark.parametrize("options", FILES.values(), ids=FILES)
def test_what_is_written_elsewhere_is_what_is_written_here(
    memory: fsspec.AbstractFileSystem, job: Path, options: list[str]
) -> None:
    here = job / "here"
    assert export(job, *(option.format(here) for option in options)) == 0
    assert export(job, *(option.format("memory://there") for option in options)) == 0
    wanted = {f"/there/{path.relative_to(here)}" for path in here.rglob("*") if path.is_file()}
    assert {*memory.find("/there")} == wanted
    for path in wanted:
        assert memory.cat_file(path) == (here / path.removeprefix("/there/")).read_bytes()


@pytest.mark.parametrize("name", ["p.warc.gz", "p.wacz"])
def test_archives_are_sent(memory: fsspec.AbstractFileSystem, job: Path, name: str) -> None:
    assert export(job, "-o", f"memory://there/{name}") == 0
    assert memory.size(f"/there/{name}") > 1_000


def test_addresses_of_this_machine_are_paths(job: Path) -> None:
    assert export(job, "-o", f"file://{job}/p.jsonl", "--dataset", f"file://{job}/set") == 0
    assert (job / "p.jsonl").is_file()
    assert (job / "set" / "README.md").is_file()


def test_a_file_is_replaced_if_asked_and_a_folder_never(
    memory: fsspec.AbstractFileSystem, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = ["-o", "memory://there/p.csv"], ["--dataset", "memory://there/set"]
    for options in (file, folder):
        assert export(job, *options) == 0
        assert "already exists" in refusal(job, capsys, *options)
    assert export(job, *file, "--overwrite") == 0
    said = refusal(job, capsys, *folder, "--overwrite")
    assert said.endswith("'memory://there/set' already exists; remove it, or name another folder")


def test_two_outputs_are_two_files(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = "memory://there/p.csv"
    assert "must be two files" in refusal(job, capsys, "-o", same, "-d", same)


def test_missing_packages_are_told_in_a_sentence(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    said = refusal(job, capsys, "-o", "s3://bucket/p.csv")
    assert said == "dedup: 's3://bucket/p.csv' cannot be opened: Install s3fs to access S3"
    assert "Protocol not known: nothing" in refusal(job, capsys, "-o", "nothing://b/p.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    said = refusal(job, capsys, "--dataset", "s3://bucket/set")
    assert said == (
        "dedup: 's3://bucket/set' needs a package that is not installed; install it: pip install"
        " 'scrapy-dedup[remote]'"
    )
    assert not [path for path in job.iterdir() if "sqlite" not in path.name]


@pytest.mark.parametrize("options", [["--dataset"], ["--partition", "host", "-o"]])
def test_nothing_stays_of_a_folder_that_cannot_be_sent(
    memory: fsspec.AbstractFileSystem,
    job: Path,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put, sent = type(memory).put_file, []

    def fail_later(self: object, *names: str) -> None:
        sent.append(names[1])
        if len(sent) == 2:
            raise OSError("the line is dead")
        put(self, *names)

    monkeypatch.setattr(type(memory), "put_file", fail_later)
    said = refusal(job, capsys, *options, "memory://there/x.parquet")
    assert said == "dedup: memory://there/x.parquet: the line is dead"
    assert memory.find("/there") == []
    assert "README" not in sent[0]  # the card is the last, and tells that all is there
