"""`dedup export --only-allowed`, and what `dedup stats` says of declarations."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from dedup.cli import main
from dedup.document import Document, Match
from dedup.files import open_binary
from dedup.preferences.declarations import Declaration, of_robots_file, to_json
from dedup.store import Page, open_store

OWN = {
    "a": [Declaration("meta", "robots", "noai, noindex"), Declaration("header", "X", "1")],
    "b": [Declaration("header", "Content-Usage", "train-ai=y")],
    "c": [],
}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    with open_store(tmp_path) as store:
        for name, declared in OWN.items():
            url = f"http://example.com/{name}"
            page = Page("", f"Text {name}.", url=url, preferences=to_json(declared))
            number = store.add(page, {})
            store.add_duplicate(Document("", "", url=f"{url}2"), Match(number, "body"))
        rules = [("Content-Usage", "train-ai=n"), ("Content-Usage", "/c train-ai=y")]
        store.learned.preferences.note_host(
            "http://example.com", "robots.txt", to_json(of_robots_file(rules))
        )
    return tmp_path


def export(job: Path, *options: str) -> int:
    return main(["export", str(job), *options, "--overwrite"])


def names(path: Path) -> list[str]:
    with open_binary(path) as file:
        return [json.loads(line)["url"].rpartition("/")[2] for line in file]


def test_refused_pages_and_their_duplicates_are_left_out_and_counted(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(job, "--only-allowed", "train") == 0
    assert names(job / "pages.jsonl") == ["c"]
    assert names(job / "duplicates.jsonl") == ["c2"]
    assert capsys.readouterr().err.startswith(
        "--only-allowed train: 2 of 3 pages left out: robots.txt Content-Usage: train-ai=n (2),"
        " meta robots: noai (1); for 0 nothing is declared\n"
    )
    assert export(job, "--only-allowed", "search", "--url", "/[ac]") == 0
    assert names(job / "pages.jsonl") == ["c"]
    assert "1 of 2 pages left out" in capsys.readouterr().err
    assert export(job, "--only-allowed", "input") == 0
    assert names(job / "pages.jsonl") == ["a", "b", "c"]


def test_declarations_that_cannot_be_read_are_counted(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(job) as store:
        declared = [Declaration("header", "Content-Signal", "never")]
        page = Page("", "Text d.", url="http://b.example/d", preferences=to_json(declared))
        store.add(page, {})
    assert export(job, "--only-allowed", "train") == 0
    told = capsys.readouterr().err.splitlines()[0]
    assert told.endswith("for 0 nothing is declared; for 1 a declaration is not readable")


def test_archives_leave_them_out_too(job: Path) -> None:
    path = job / "x.warc"
    assert export(job, "--only-allowed=train", "-o", str(path)) == 0
    lines = path.read_bytes().split(b"\r\n")
    targets = {line.rpartition(b"/")[2] for line in lines if line.startswith(b"WARC-Target-URI")}
    assert targets == {b"c", b"c2"}


def test_unknown_use_is_a_sentence(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        export(job, "--only-allowed", "print")
    assert "invalid choice: 'print'" in capsys.readouterr().err


def test_changes_since_a_time_are_refused(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--pieces=100", "--only-allowed=train", "--pieces-since=2026-01-01"
    assert export(job, *options) == 2
    assert "what was declared at a time is not known" in " ".join(capsys.readouterr().err.split())


def test_changes_since_a_file_delete_what_is_refused_now(job: Path) -> None:
    before, now = str(job / "before.jsonl"), job / "now.jsonl"
    assert export(job, "--pieces=100", "-o", before) == 0
    options = "--pieces=100", "--only-allowed=train", "--pieces-since", before
    assert export(job, *options, "-o", str(now)) == 0
    rows = [json.loads(line) for line in now.read_text(encoding="utf-8").splitlines()]
    assert [row["change"] for row in rows] == ["delete", "delete"]


@pytest.mark.parametrize("value", ["[" * 100_000, "{}", '[["a"]]'])
@pytest.mark.parametrize("table", ["preferences", "host_preferences"])
@pytest.mark.parametrize("command", ["export --only-allowed=train", "stats"])
def test_damaged_declarations_are_a_sentence(
    command: str, table: str, value: str, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = sqlite3.connect(job / "crawl.sqlite")
    connection.execute(f"UPDATE {table} SET value = ?", (value,))
    connection.commit()
    connection.close()
    name, *options = command.split()
    assert main([name, str(job), *options]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "declare" in told
    assert "damaged" in told


def test_the_table_of_stats_names_refusals(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(job)]) == 0
    table = capsys.readouterr().out
    assert "uses refused by pages: meta robots: noai (1), meta robots: noindex (1)\n" in table
    assert "uses refused by hosts: robots.txt Content-Usage: train-ai=n (1)\n" in table
