"""`dedup crawl --keep`: visits that follow each other, each in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dedup.cli import keeping, main
from dedup.cli.keeping import interval, keep, pause_after

_VISIT = """
import os, signal, sys
path = "visits"
with open(path, "a") as file:
    file.write("x")
number = os.path.getsize(path)
print("visit", number, os.environ["DEDUP_VISIT"])
if number == 3:
    signal.signal(signal.SIGTERM, HANDLER)
    os.kill(os.getppid(), signal.SIGTERM)
    while True:
        signal.pause()
os.kill(os.getppid(), signal.SIGHUP)  # the next visit begins at once
sys.stdout.flush()
if number == 2:
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(1)
"""


@pytest.mark.parametrize(
    ("given", "seconds"), [("90s", 90), ("30min", 1800), ("1h", 3600), ("1.5d", 129_600)]
)
def test_intervals_have_a_unit(given: str, seconds: float) -> None:
    assert interval(given) == seconds


@pytest.mark.parametrize("given", ["", "1", "0.5s", "1 h", "-1h", "400d", "1w", "٣h"])
def test_other_intervals_are_refused(given: str) -> None:
    with pytest.raises(ValueError, match="--keep must be a time such as 90s, 30min, 1h or 1d"):
        interval(given)


@pytest.mark.parametrize(
    ("n_failed", "hours"), [(0, 1), (1, 1), (2, 2), (4, 8), (6, 24), (10_000, 24)]
)
def test_pauses_grow_after_the_second_failure_in_a_row(n_failed: int, hours: float) -> None:
    pauses = [pause_after(3_600, n_failed) / 3_600 for _ in range(100)]
    assert 0.9 * hours <= min(pauses) < max(pauses) <= 1.1 * hours


@pytest.mark.slow
@pytest.mark.parametrize(
    ("handler", "status"),
    [
        ("lambda *_: sys.exit(0)", 0),
        ("lambda *_: sys.exit(130)", 130),
        ("signal.SIG_DFL", 0),  # it does not listen yet
    ],
)
def test_failed_and_killed_visits_are_followed_by_others_until_asked_to_stop(
    handler: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["python", "-c", _VISIT.replace("HANDLER", handler)]
    monkeypatch.setattr(sys, "orig_argv", command)
    log = tmp_path / "log"
    assert keep(3_600, log) == status
    lines = log.read_text().splitlines()
    assert [line.split(";")[0] for line in lines] == [
        "visit 1 1",
        "keep: exit status 1",
        "visit 2 1",
        "keep: exit status -9",
        "visit 3 1",
    ]


@pytest.mark.slow
def test_a_crawl_that_is_not_started_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", "raise SystemExit(2)"])
    assert keep(3_600, None) == 2


def test_a_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_LOG_BYTES", 1_000)
    with keeping._writing(tmp_path / "log") as write:
        for number in range(1_000):
            write(f"line {number}")
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert {*sizes} == {"log", "log.1"}
    assert max(sizes.values()) <= 1_000
    assert (tmp_path / "log").read_text().endswith("line 999\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--log", "x"], "--log goes with --keep"),
        (["--keep", "1h", "-o", "x.jsonl"], "-o with --keep needs --overwrite"),
        (["--keep", "soon"], "--keep must be a time such as"),
        (["-s", "@none"], "-s @none cannot be read"),
        (["-s", "@bad"], "-s must be NAME=VALUE or @FILE with such lines, got 'no setting'"),
    ],
)
def test_wrong_arguments_are_refused_before_a_crawl(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text("# settings\nDEDUP_HISTORY_DAYS=30\nno setting\n")
    assert main(["crawl", "https://a.example/", *arguments]) == 2
    assert message in capsys.readouterr().err
