"""`dedup` without arguments."""

import re

import pytest

from dedup.cli import COMMANDS, main


def test_without_arguments_it_says_what_to_do_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert "dedup crawl https://" in shown
    named = re.findall(r"^ +dedup ([a-z]+)", shown, re.MULTILINE)
    assert set(named) <= set(COMMANDS)
    assert named == ["demo", "crawl", "run"]
