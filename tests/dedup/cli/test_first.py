"""`dedup` without arguments."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from dedup.cli import COMMANDS, main

_DEMO = "crawls/demo, crawls/a"


def test_without_arguments_it_says_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert "dedup crawl https://" in shown
    named = re.findall(r"^ +dedup ([a-z]+)", shown, re.MULTILINE)
    assert set(named) <= set(COMMANDS)
    assert named == ["demo", "crawl", "run"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("crwal https://example.com/", "unknown command 'crwal'; did you mean dedup crawl?"),
        ("xyz", "unknown command 'xyz'; dedup --help lists all"),
        ("stats crawls/dmo", f"job not found. Check the name of the job; there are {_DEMO}"),
        ("why demo http://example.com/", f"; there are {_DEMO}"),
        ("report crawls", "; there are crawls/a, crawls/demo"),
        ("stats x", "; there are crawls/"),
    ],
)
def test_mistake_names_what_may_have_been_meant(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "demo"):
        (tmp_path / "crawls" / name).mkdir(parents=True)
        (tmp_path / "crawls" / name / "crawl.sqlite").touch()
    with suppress(SystemExit):
        assert main(command.split()) == 2
    assert said in capsys.readouterr().err


def test_without_any_job_it_is_said_how_to_make_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # jobs of the folder are named
    assert main(["stats", str(tmp_path / "crawls" / "demo")]) == 2
    assert "; dedup crawl URL makes one" in capsys.readouterr().err


def test_run_without_output_says_that_nothing_was_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "A note."}\n')
    assert main(["run", str(tmp_path / "in.jsonl")]) == 0
    assert "no file was written: -o OUT writes" in capsys.readouterr().err
