"""What commands print: progress, --quiet, --json, and completions for shells."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from dedup.cli import COMMANDS, main, progress
from dedup.scrapy.extensions.terminal import TerminalConsole
from tests.json_lines import write
from tests.released_job import FOLDER, unpack


@pytest.fixture
def job(tmp_path: Path) -> Path:
    unpack(max(FOLDER.glob("*.sqlite.zst")), tmp_path / "job")
    return tmp_path / "job"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write(
        tmp_path / "rows.jsonl", [{"id": 1, "text": "A note."}, {"id": 2, "text": "A NOTE."}]
    )


@pytest.mark.parametrize(
    ("terminal", "term", "shown"),
    [
        (False, "xterm", ["pages: 10%, 10 pages, 0/s", "pages: 30%, 30 pages, 0/s"]),
        (True, "dumb", ["pages: 10%, 10 pages, 0/s", "pages: 30%, 30 pages, 0/s"]),
    ],
)
def test_progress_is_a_line_a_minute_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str, shown: list[str]
) -> None:
    monkeypatch.setenv("TERM", term)
    told = io.StringIO()
    monkeypatch.setattr(progress, "ERRORS", Console(file=told, force_terminal=terminal, width=80))
    moments = iter([0.0, 61.0, 90.0, 125.0])
    with progress.showing_progress(
        "pages", 100, progress.counting("pages"), clock=lambda: next(moments)
    ) as show:
        for done in (10, 20, 30):
            show(done)
    assert told.getvalue().splitlines() == shown


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    told = io.StringIO()
    monkeypatch.setattr(progress, "ERRORS", Console(file=told, force_terminal=True, width=80))
    with progress.showing_progress("pages", 4, progress.counting("pages")) as show:
        show(3)
    assert "75%" in told.getvalue()
    assert told.getvalue().endswith("\x1b[2K")  # the bar is erased


def test_panel_needs_a_terminal_that_erases(monkeypatch: pytest.MonkeyPatch) -> None:
    for term, expected in (("xterm", True), ("dumb", False)):
        monkeypatch.setenv("TERM", term)
        assert TerminalConsole(force_terminal=True).can_show_panel == expected


@pytest.mark.parametrize(
    "command",
    [
        "run {rows} -o {rows}.out",
        "export {job} -o {job}/pages.csv",
        "export {job} --pieces 100",
        "report {job}",
        "retry {job}",
        "changes {job} -o {job}/changes.md",
        "groups {job} -o {job}/groups.csv",
    ],
)
def test_quiet_commands_print_errors_only(
    capsys: pytest.CaptureFixture[str], job: Path, rows: Path, command: str
) -> None:
    arguments = command.replace(".out", ".out.jsonl").format(job=job, rows=rows).split()
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([arguments[0], str(job / "none"), *arguments[2:], "--quiet"]) == 2
    assert capsys.readouterr().err.startswith("dedup: ")
    assert main([*arguments, *(["--overwrite"] if "-o" in arguments else [])]) == 0
    assert capsys.readouterr().err != ""


def test_counts_of_a_run_as_json(capsys: pytest.CaptureFixture[str], rows: Path) -> None:
    assert main(["run", str(rows), "--json"]) == 0
    printed, told = capsys.readouterr()
    counts = json.loads(printed)
    assert counts.pop("seconds") >= 0
    assert counts == {
        "rows": 2,
        "unique": 1,
        "duplicates": {"text": 1},
        "without_text": 0,
        "broken": 0,
        "passages": None,
    }
    assert told == "no file was written: -o OUT writes the rows that stay\n"
    assert main(["run", str(rows), "--json", "-o", "-"]) == 2
    assert "--json writes to standard output" in capsys.readouterr().err


def test_every_command_that_writes_can_be_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = set()
    for name in COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            main([name, "--help"])
        quiet |= {name} if "--quiet" in capsys.readouterr().out else set()
    assert set(COMMANDS) - quiet == {"stats", "seen", "serve", "why", "pair", "mcp"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dedup exp", {"export"}),
        ("dedup export --pieces-", {"--pieces-tokens", "--pieces-without-near", "--pieces-since"}),
        ("dedup export cra", {"crawls/"}),
        ("dedup stats crawls --by ", {"host", "stage", "pattern"}),
    ],
)
def test_shells_complete(tmp_path: Path, line: str, expected: set[str]) -> None:
    (tmp_path / "crawls").mkdir()
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "completions"),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = [sys.executable, "-m", "dedup.cli"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **asked}, check=True, timeout=60)
    found = (tmp_path / "completions").read_text().split("\n")
    assert {each.strip() for each in found} == expected
